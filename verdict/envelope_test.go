package verdict

import (
	"bytes"
	"compress/gzip"
	"errors"
	"net/http"
	"runtime"
	"strings"
	"testing"
)

var errTest = errors.New("test")

func gz(s string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(s))
	_ = z.Close()
	return b.String()
}

// S2.2, TABLES: where codes are found when nobody has read them before.
func TestS2_2_Envelopes(t *testing.T) {
	for _, c := range []struct {
		name, provider string
		header         http.Header
		body           string
		code, message  string
	}{
		{"query service", "aws", nil, `<?xml version="1.0"?><ErrorResponse xmlns="http://iam.amazonaws.com/doc/2010-05-08/"><Error><Type>Sender</Type><Code>Throttling</Code><Message>Rate exceeded</Message></Error><RequestId>1</RequestId></ErrorResponse>`, "Throttling", "Rate exceeded"},
		{"EC2", "aws", nil, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Response><Errors><Error><Code>RequestLimitExceeded</Code><Message>Request limit exceeded.</Message></Error></Errors><RequestID>1</RequestID></Response>", "RequestLimitExceeded", "Request limit exceeded."},
		{"S3", "aws", nil, `<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>`, "SlowDown", "Please reduce your request rate."},
		{"another charset", "aws", nil, `<?xml version="1.0" encoding="ISO-8859-1"?><Error><Code>SlowDown</Code></Error>`, "SlowDown", ""},
		{"a bare element", "aws", nil, `<Code>PriorRequestNotComplete</Code>`, "PriorRequestNotComplete", ""},
		{"batch result, the known code counts", "aws", nil, `<DeleteResult><Deleted><Key>a</Key></Deleted><Error><Key>b</Key><Code>AccessDenied</Code></Error><Error><Key>c</Key><Code>SlowDown</Code></Error></DeleteResult>`, "SlowDown", ""},
		{"JSON 1.1", "aws", nil, `{"__type":"com.amazonaws.ecs#ThrottlingException:http://internal.amazon.com/coral/com.amazonaws.ecs/","message":"Rate exceeded"}`, "ThrottlingException", "Rate exceeded"},
		{"JSON 1.0", "aws", nil, `{"__type":"com.amazon.coral.availability#ThrottlingException","Message":"slow"}`, "ThrottlingException", "slow"},
		{"REST-JSON header", "aws", http.Header{"X-Amzn-Errortype": {"TooManyRequestsException:http://internal.amazon.com/"}}, `{"Reason":"CallerRateLimitExceeded"}`, "TooManyRequestsException", ""},
		{"REST-JSON body", "aws", nil, `{"code":"TooManyRequestsException","message":"m"}`, "TooManyRequestsException", "m"},
		{"query-compatible", "aws", http.Header{"X-Amzn-Query-Error": {"RequestThrottled;Sender"}}, `{"__type":"com.amazonaws.sqs#SomethingElse"}`, "RequestThrottled", ""},
		{"query-compatible, the modern name is the known one", "aws", http.Header{"X-Amzn-Query-Error": {"AWS.SimpleQueueService.Odd;Sender"}}, `{"__type":"com.amazonaws.sqs#RequestThrottled"}`, "RequestThrottled", ""},
		{"query service in JSON", "aws", nil, `{"Error":{"Code":"Throttling","Message":"Rate exceeded","Type":"Sender"},"RequestId":"1"}`, "Throttling", "Rate exceeded"},
		{"gzip", "aws", nil, gz(`{"__type":"ThrottlingException"}`), "ThrottlingException", ""},
		{"gzip cut short", "aws", nil, gz(`{"__type":"ThrottlingException"}`)[:50], "ThrottlingException", ""},
		{"cut in the middle", "aws", nil, `{"__type":"ThrottlingException","message":"Rate excee`, "ThrottlingException", ""},
		{"longer than what is read", "aws", nil, `{"__type":"ThrottlingException","pad":"` + strings.Repeat("x", 1<<20) + `"}`, "ThrottlingException", ""},
		{"deep", "aws", nil, strings.Repeat(`{"a":`, 100) + `1`, "", ""},

		{"ARM", "azure", nil, `{"error":{"code":"TooManyRequests","message":"m"}}`, "TooManyRequests", "m"},
		{"without error", "azure", nil, `{"code":"TooManyRequests","message":"m"}`, "TooManyRequests", "m"},
		{"OData", "azure", nil, `{"odata.error":{"code":"TooManyRequests","message":{"lang":"en","value":"m"}}}`, "TooManyRequests", "m"},
		{"header only", "azure", http.Header{"X-Ms-Error-Code": {"SubscriptionRequestsThrottled"}}, ``, "SubscriptionRequestsThrottled", ""},
		{"storage", "azure", nil, "\xef\xbb\xbf<?xml version=\"1.0\"?><Error><Code>TooManyRequests</Code><Message>m</Message></Error>", "TooManyRequests", "m"},
		{"Compute's nested detail", "azure", nil, `{"error":{"code":"OperationNotAllowed","message":"The server rejected the request because too many requests have been received for this subscription.","details":[{"code":"TooManyRequests","target":"HighCostGet","message":"{}"}]}}`, "OperationNotAllowed", "The server rejected the request because too many requests have been received for this subscription."},
		{"nested twice", "azure", nil, `{"error":{"code":"OperationNotAllowed","details":[{"code":"X","details":[{"code":"TooManyRequests"}]}]}}`, "OperationNotAllowed", ""},

		{"REST reason", "gcp", nil, `{"error":{"code":403,"message":"m","errors":[{"domain":"usageLimits","reason":"rateLimitExceeded"}],"status":"PERMISSION_DENIED"}}`, "rateLimitExceeded", "m"},
		{"ErrorInfo", "gcp", nil, `{"error":{"code":403,"status":"PERMISSION_DENIED","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"RATE_LIMIT_EXCEEDED"}]}}`, "RATE_LIMIT_EXCEEDED", ""},
		{"REST status", "gcp", nil, `{"error":{"code":429,"message":"m","status":"RESOURCE_EXHAUSTED"}}`, "RESOURCE_EXHAUSTED", "m"},
		{"google.rpc.Status", "gcp", nil, `{"code":8,"message":"m","details":[]}`, "RESOURCE_EXHAUSTED", "m"},

		{"Databricks", "databricks", nil, `{"error_code":"REQUEST_LIMIT_EXCEEDED","message":"m"}`, "REQUEST_LIMIT_EXCEEDED", "m"},
	} {
		for _, provider := range []string{c.provider, ""} {
			r := Examine(provider, &ResponseError{StatusCode: 400, Header: c.header, Body: []byte(c.body)})
			if r.Code != c.code || r.Message != c.message {
				t.Errorf("%s (%q): code %q, message %q, want %q, %q", c.name, provider, r.Code, r.Message, c.code, c.message)
			}
			if want := Throttled; c.code != "" && r.Kind != want {
				t.Errorf("%s (%q): %v (%s)", c.name, provider, r.Kind, r.Reason)
			}
		}
	}
}

func TestDocumentForms(t *testing.T) {
	for _, c := range []struct {
		body string
		want form
	}{
		{"", empty}, {" \n", empty}, {"{}", jsonForm}, {"[]", jsonForm}, {"<Error/>", xmlForm}, {"<html>", html},
		{"  <!DOCTYPE HTML PUBLIC", html}, {"oops", plainText}, {`"oops"`, plainText},
		{"\x80\x01\x00\x02", binary}, {"\x00\x00\x00", binary}, {"\x0a\x03abc", binary}, // Thrift, protobuf
	} {
		if got := parseDocument(nil, []byte(c.body)).form; got != c.want {
			t.Errorf("%q: %v, want %v", c.body, got, c.want)
		}
	}
}

func TestPageWords(t *testing.T) {
	got := pageWords([]byte("<html><HEAD><style>p{}</STYLE><script>if (a<b) throttle()</script></head><body>Too&nbsp;<b>Many</b> Requests</body></html><"))
	if got != "Too&nbsp; Many Requests" {
		t.Errorf("%q", got)
	}
}

func TestXMLCodesOfDataAreNoErrors(t *testing.T) {
	r := Examine("aws", &ResponseError{StatusCode: 200, Body: []byte(`<Result><State><Code>SlowDown</Code></State></Result>`)})
	if r.Kind != OK || r.Code != "" {
		t.Errorf("%+v", r)
	}
}

// Bodies are outside data: none of them may cost more than a moment. Quadratic copying
// of 64 KiB is far above the bound.
func TestHostileBodiesAreCheap(t *testing.T) {
	for _, s := range []string{"<script>", "<style", "<html><script><", "<a>", "<Code>", "<Error>", "{\"a\":", "[", "[[],", "\"", "{\"error\":{\"details\":[{\"details\":[", "rate ", "<!--", "<![CDATA[", "&", "throttl ", "a@:", "?sig=", "://a:"} {
		for _, prefix := range []string{"", "<html>", "<Error>", `{"message":"`, `{"error":{"details":[`} {
			body := []byte(prefix + strings.Repeat(s, 4*maxBody/len(s)))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			Examine("", &ResponseError{StatusCode: 400, Body: body})
			runtime.ReadMemStats(&after)
			if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20 {
				t.Errorf("%s%s…: %d bytes allocated", prefix, s, n)
			}
		}
	}
}
