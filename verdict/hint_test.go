package verdict

import (
	"math"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const (
	none = time.Duration(-1)
	most = time.Duration(math.MaxInt64)
)

func checkHint(t *testing.T, name string, err *ResponseError, want time.Duration) {
	t.Helper()
	d, ok := RetryAfter(err)
	if want == none && (ok || d != 0) || want != none && (!ok || d != want) {
		t.Errorf("%s: %v, %v, want %v", name, d, ok, want)
	}
}

// Cases A01, A04, A05, A06, A09, A11, A15, C10: one header, each with its own unit.
func TestS2_7_Headers(t *testing.T) {
	const date = "Sun, 06 Nov 1994 08:49:07 GMT" // the response's own
	for _, c := range []struct {
		key, value string
		want       time.Duration
	}{
		{"Retry-After", "5", 5 * time.Second},
		{"Retry-After", "0", 0},
		{"Retry-After", " 7 ", 7 * time.Second},
		{"Retry-After", "\t7", 7 * time.Second},
		{"Retry-After", "05", 5 * time.Second},
		{"Retry-After", "61", 61 * time.Second},
		{"Retry-After", "372", 372 * time.Second},
		{"Retry-After", "1.5", 1500 * time.Millisecond},
		{"Retry-After", "0.4", 400 * time.Millisecond},
		{"Retry-After", "0.0", 0},
		{"Retry-After", "2.999999999", 2999999999},
		{"Retry-After", "0.0000000001", 1},          // rounded up
		{"Retry-After", "1.0000000000", 1000000000}, // nothing to round
		{"Retry-After", "9223372036", 9223372036 * time.Second},
		{"Retry-After", "9223372036.854775807", most},
		{"Retry-After", "9223372036.9", most},
		{"Retry-After", "9223372037", most},
		{"Retry-After", "9223372036854775807", most},
		{"Retry-After", "18446744073709551616", most},
		{"Retry-After", "99999999999999999999", most},
		{"Retry-After", strings.Repeat("9", 5000), most},
		{"Retry-After", "Fri, 31 Dec 9999 23:59:59 GMT", most},
		{"Retry-After", "Sun, 06 Nov 1994 08:49:37 GMT", 30 * time.Second},
		{"Retry-After", "Sunday, 06-Nov-94 08:49:37 GMT", 30 * time.Second},
		{"Retry-After", "Sun Nov  6 08:49:37 1994", 30 * time.Second},
		{"Retry-After", "Sun, 06 Nov 1994 08:49:60 GMT", 53 * time.Second},
		{"Retry-After", "Sun, 06 Nov 1994 08:49:07 GMT", 0},
		{"Retry-After", "Sun, 06 Nov 1994 08:49:06 GMT", none}, // past
		{"Retry-After", "10, 20", 20 * time.Second},
		{"Retry-After", "20 ,10", 20 * time.Second},
		{"Retry-After", "10, Sun, 06 Nov 1994 08:49:37 GMT", 30 * time.Second},
		{"Retry-After", "Sunday, 06-Nov-94 08:49:37 GMT, 40", 40 * time.Second},
		{"Retry-After", "Sun, 06 Nov 1994 08:00:00 GMT, 3", 3 * time.Second},
		{"Retry-After", "10, x", none},
		{"Retry-After", "10, -20", none},
		{"Retry-After", "10,", none},
		{"Retry-After", ",10", none},
		{"Retry-After", ",", none},
		{"Retry-After", "Sun, 10", none},
		{"Retry-After", "", none},
		{"Retry-After", "   ", none},
		{"Retry-After", "-5", none},
		{"Retry-After", "+3", none},
		{"Retry-After", "-0", none},
		{"Retry-After", "1.", none},
		{"Retry-After", ".5", none},
		{"Retry-After", ".", none},
		{"Retry-After", "1.5.5", none},
		{"Retry-After", "1,5", 5 * time.Second}, // a list, not a German fraction
		{"Retry-After", "1e3", none},
		{"Retry-After", "1e10000", none},
		{"Retry-After", "0x10", none},
		{"Retry-After", "1_000", none},
		{"Retry-After", "5s", none},
		{"Retry-After", "5,", none},
		{"Retry-After", "1 000", none},
		{"Retry-After", "٣", none},
		{"Retry-After", "NaN", none},
		{"Retry-After", "inf", none},
		{"Retry-After", "Infinity", none},
		{"Retry-After", "1000abc", none},
		{"Retry-After", "Wed, 99 Foo 2026 99:99:99 GMT", none},
		{"Retry-After", "Sun, 06 Nov 1994 08:49:37 UTC", none},
		{"Retry-After", "Sun, 06 Nov 1994 08:49:37 +0000", none},
		{"Retry-After", "1994-11-06T08:49:37Z", none},

		{"retry-after-ms", "5", 5 * time.Millisecond},
		{"retry-after-ms", "1.5", 1500 * time.Microsecond},
		{"retry-after-ms", "0.0000001", 1},
		{"retry-after-ms", "9223372036854.775807", most},
		{"retry-after-ms", "9223372036855", most},
		{"retry-after-ms", "Sun, 06 Nov 1994 08:49:37 GMT", none},
		{"x-ms-retry-after-ms", "250", 250 * time.Millisecond},
		{"x-amz-retry-after", "1500", 1500 * time.Millisecond},
		{"x-amz-retry-after", "0", 0},
		{"x-amz-retry-after", "10000", 10 * time.Second},
		{"x-amz-retry-after", "-1", none},
		{"x-amz-retry-after", "abc", none},
		{"x-amz-retry-after", "100, 200", 200 * time.Millisecond},

		{"x-ms-user-quota-resets-after", "00:00:05", 5 * time.Second},
		{"x-ms-user-quota-resets-after", "01:02:03", time.Hour + 2*time.Minute + 3*time.Second},
		{"x-ms-user-quota-resets-after", "1.00:00:00", 24 * time.Hour},
		{"x-ms-user-quota-resets-after", "2.03:04:05.5", 51*time.Hour + 4*time.Minute + 5500*time.Millisecond},
		{"x-ms-user-quota-resets-after", "00:00:00.2500000", 250 * time.Millisecond},
		{"x-ms-user-quota-resets-after", "00:00:00", 0},
		{"x-ms-user-quota-resets-after", "10675199.02:48:05.4775807", most},
		{"x-ms-user-quota-resets-after", "106751.23:47:16.854775807", most},
		{"x-ms-user-quota-resets-after", "106751.23:47:16", 106751*24*time.Hour + 23*time.Hour + 47*time.Minute + 16*time.Second},
		{"x-ms-user-quota-resets-after", "106751.23:47:17", most},
		{"x-ms-user-quota-resets-after", "24:00:00", none},
		{"x-ms-user-quota-resets-after", "00:60:00", none},
		{"x-ms-user-quota-resets-after", "00:00:60", none},
		{"x-ms-user-quota-resets-after", "-00:00:05", none},
		{"x-ms-user-quota-resets-after", "0:0:5", none},
		{"x-ms-user-quota-resets-after", "00:05", none},
		{"x-ms-user-quota-resets-after", "5", none},
		{"x-ms-user-quota-resets-after", "00:00:05.", none},
		{"x-ms-user-quota-resets-after", ".00:00:05", none},

		{"grpc-retry-pushback-ms", "2000", 2 * time.Second},
		{"grpc-retry-pushback-ms", "05", 5 * time.Millisecond},
		{"grpc-retry-pushback-ms", "0", 0},
		{"grpc-retry-pushback-ms", "99999999999999999999", most},
		{"grpc-retry-pushback-ms", "-1", none},
		{"grpc-retry-pushback-ms", "abc", none},
	} {
		h := http.Header{"Date": {date}}
		h.Set(c.key, c.value)
		checkHint(t, c.key+": "+head(c.value, 40), &ResponseError{StatusCode: 429, Header: h}, c.want)
		// Trailers and records have keys as they were sent.
		raw := http.Header{"date": {date}, strings.ToLower(c.key): {c.value}}
		checkHint(t, "raw "+c.key+": "+head(c.value, 40), &ResponseError{StatusCode: 429, Header: raw}, c.want)
	}
}

func TestS2_7_Order(t *testing.T) {
	all := [][2]string{
		{"Retry-After-Ms", "1"},
		{"X-Ms-Retry-After-Ms", "2"},
		{"X-Amz-Retry-After", "3"},
		{"Retry-After", "4"},
		{"X-Ms-User-Quota-Resets-After", "00:00:05"},
	}
	want := []time.Duration{time.Millisecond, 2 * time.Millisecond, 3 * time.Millisecond, 4 * time.Second, 5 * time.Second}
	const body = `{"error":{"code":"OperationNotAllowed","details":[
		{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"6s"},
		{"code":"TooManyRequests","message":"{\"endTime\":\"2030-01-01T00:00:08Z\"}"}]}}`
	for i := range all {
		h := http.Header{"Date": {"Tue, 01 Jan 2030 00:00:00 GMT"}, "Grpc-Retry-Pushback-Ms": {"7000"}}
		for _, kv := range all[i:] {
			h.Set(kv[0], kv[1])
		}
		checkHint(t, "from "+all[i][0], &ResponseError{StatusCode: 429, Header: h, Body: []byte(body)}, want[i])
		h.Set(all[i][0], "-1") // unusable: the next source
		next := 6 * time.Second
		if i+1 < len(all) {
			next = want[i+1]
		}
		checkHint(t, "after "+all[i][0], &ResponseError{StatusCode: 429, Header: h, Body: []byte(body)}, next)
	}
	h := http.Header{"Date": {"Tue, 01 Jan 2030 00:00:00 GMT"}, "Grpc-Retry-Pushback-Ms": {"7000"}}
	noInfo := strings.Replace(body, "RetryInfo", "Help", 1)
	checkHint(t, "pushback", &ResponseError{StatusCode: 429, Header: h, Body: []byte(noInfo)}, 7*time.Second)
	h.Del("Grpc-Retry-Pushback-Ms")
	checkHint(t, "end time", &ResponseError{StatusCode: 429, Header: h, Body: []byte(noInfo)}, 8*time.Second)
	// The hint of zero is one.
	checkHint(t, "zero first", &ResponseError{StatusCode: 429, Header: http.Header{"Retry-After-Ms": {"0"}, "Retry-After": {"9"}}}, 0)
}

// Case A11: several lines.
func TestS2_7_SeveralLines(t *testing.T) {
	for _, c := range []struct {
		lines []string
		want  time.Duration
	}{
		{[]string{"10", "20"}, 20 * time.Second},
		{[]string{"20", "10"}, 20 * time.Second},
		{[]string{"x", "10"}, 10 * time.Second},
		{[]string{"10", "20, x"}, 10 * time.Second},
		{[]string{"10, 30", "20"}, 30 * time.Second},
		{[]string{"Sun, 06 Nov 1994 08:49:37 GMT", "2"}, 2 * time.Second}, // past beside valid
		{[]string{"x", "y"}, none},
		{[]string{}, none},
	} {
		checkHint(t, strings.Join(c.lines, " | "), &ResponseError{StatusCode: 429, Header: http.Header{"Retry-After": c.lines}}, c.want)
	}
	checkHint(t, "two spellings", &ResponseError{StatusCode: 429, Header: http.Header{"Retry-After": {"1"}, "retry-after": {"2"}}}, 2*time.Second)
}

func TestS2_7_DateWithoutTheServersClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := time.Now().Add(90 * time.Second).UTC().Format(http.TimeFormat)
		checkHint(t, "own clock", &ResponseError{StatusCode: 503, Header: http.Header{"Retry-After": {in}}}, 90*time.Second)
		checkHint(t, "a Date that cannot be read", &ResponseError{StatusCode: 503, Header: http.Header{"Retry-After": {in}, "Date": {"today"}}}, 90*time.Second)
		ahead := time.Now().Add(80 * time.Second).UTC().Format(http.TimeFormat)
		checkHint(t, "the server's clock", &ResponseError{StatusCode: 503, Header: http.Header{"Retry-After": {in}, "Date": {ahead}}}, 10*time.Second)
	})
}

func TestS2_7_UserQuota(t *testing.T) {
	for _, c := range []struct {
		name      string
		status    int
		remaining []string
		want      time.Duration
	}{
		{"nothing left", 200, []string{"0"}, 5 * time.Second},
		{"unstated", 200, nil, 5 * time.Second},
		{"unreadable is unstated", 200, []string{"many"}, 5 * time.Second},
		{"some left", 200, []string{"7"}, none},
		{"some left, 503", 503, []string{"7"}, none},
		{"429 whatever is left", 429, []string{"7"}, 5 * time.Second},
	} {
		h := http.Header{"X-Ms-User-Quota-Resets-After": {"00:00:05"}, "X-Ms-User-Quota-Remaining": c.remaining}
		checkHint(t, c.name, &ResponseError{StatusCode: c.status, Header: h}, c.want)
	}
}

// Case D05.
func TestS2_7_RetryInfo(t *testing.T) {
	for _, c := range []struct {
		delay string
		want  time.Duration
	}{
		{`"53.5s"`, 53500 * time.Millisecond},
		{`"53s"`, 53 * time.Second},
		{`"53.000000001s"`, 53000000001},
		{`"0s"`, none},
		{`"-1s"`, none},
		{`"abc"`, none},
		{`"53"`, none},
		{`"53 s"`, none},
		{`"s"`, none},
		{`53`, none},
		{`null`, none},
		{`"99999999999999999999s"`, most},
		{`{"seconds":53,"nanos":500000000}`, 53500 * time.Millisecond},
		{`{"seconds":"53"}`, 53 * time.Second},
		{`{"seconds":-53}`, none},
		{`{"seconds":"-53"}`, none},
		{`{"nanos":500}`, 500},
		{`{"seconds":1e300}`, most},
		{`{"seconds":9223372036,"nanos":999999999}`, most},
		{`{}`, none},
	} {
		const detail = `[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":`
		rest := `{"error":{"status":"RESOURCE_EXHAUSTED","details":` + detail + c.delay + `}]}}`
		checkHint(t, "REST "+c.delay, &ResponseError{Provider: "gcp", StatusCode: 429, Body: []byte(rest)}, c.want)
		status := `{"code":8,"details":` + detail + c.delay + `}]}`
		checkHint(t, "gRPC "+c.delay, &ResponseError{Provider: "gcp", Code: "RESOURCE_EXHAUSTED", Body: []byte(status)}, c.want)
	}
}

// Case A19: the opposite of the HTTP rule.
func TestS2_7_PushbackForbids(t *testing.T) {
	for _, c := range []struct {
		value    string
		noRepeat bool
		want     time.Duration
	}{
		{"-1", true, none}, {"abc", true, none}, {"", true, none}, {"1.5", true, none}, {"+5", true, none},
		{"05", false, 5 * time.Millisecond}, {"2000", false, 2 * time.Second},
	} {
		err := &ResponseError{Provider: "gcp", Code: "UNAVAILABLE", Header: http.Header{"grpc-retry-pushback-ms": {c.value}}}
		r := Examine("", err)
		if r.NoRepeat != c.noRepeat || r.Kind != Throttled {
			t.Errorf("%q: %+v", c.value, r)
		}
		checkHint(t, c.value, err, c.want)
	}
	// It forbids also where another source names a time.
	r := Examine("", &ResponseError{Provider: "gcp", Code: "UNAVAILABLE", Header: http.Header{"grpc-retry-pushback-ms": {"-1"}},
		Body: []byte(`{"code":14,"details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"3s"}]}`)})
	if !r.NoRepeat || r.Hint != 3*time.Second {
		t.Errorf("%+v", r)
	}
}

// The end of Compute's throttling window, measured by the server's clock.
func TestS2_7_EndTimeInTheBody(t *testing.T) {
	body := func(end string) []byte {
		return []byte(`{"error":{"code":"OperationNotAllowed","message":"too many requests","details":[{"code":"TooManyRequests","target":"HighCostGet30Min",
			"message":"{\"operationGroup\":\"HighCostGet30Min\",\"startTime\":\"2018-06-29T19:54:21.0914017+00:00\",\"endTime\":\"` + end + `\",\"allowedRequestCount\":800,\"measuredRequestCount\":1238}"}]}}`)
	}
	for _, c := range []struct {
		end  string
		want time.Duration
	}{
		{"2018-06-29T20:14:21.0914017+00:00", 14*time.Minute + 21*time.Second + 91401700},
		{"2018-06-29T21:00:10+01:00", 10 * time.Second},
		{"2018-06-29T19:59:59Z", none},
		{"9999-01-01T00:00:00Z", most},
		{"soon", none},
	} {
		err := &ResponseError{Provider: "azure", StatusCode: 409, Header: http.Header{"Date": {"Fri, 29 Jun 2018 20:00:00 GMT"}}, Body: body(c.end)}
		checkHint(t, c.end, err, c.want)
		if r := Examine("", err); r.Kind != Throttled || !r.Unprocessed {
			t.Errorf("%s: %+v", c.end, r)
		}
	}
	// Words of a message are not read.
	checkHint(t, "message", &ResponseError{Provider: "azure", StatusCode: 429,
		Body: []byte(`{"error":{"code":"ResourceRequestsThrottled","message":"Please try again after '372' seconds."}}`)}, none)
}

// A hint on a 2xx or 3xx changes nothing about it.
func TestS2_7_HintOnASuccess(t *testing.T) {
	for _, status := range []int{200, 202, 301, 307} {
		r := Examine("azure", &ResponseError{StatusCode: status, Header: http.Header{"Retry-After": {"10"}}})
		if r.Kind != OK || !r.HasHint || r.Hint != 10*time.Second || r.Unprocessed {
			t.Errorf("%d: %+v", status, r)
		}
	}
}

func TestParseHTTPDate(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct{ s, want string }{
		{"Sun, 06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37Z"},
		{"Mon, 06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37Z"}, // not the right weekday, but one
		{"Sunday, 06-Nov-94 08:49:37 GMT", "1994-11-06T08:49:37Z"},
		{"Sun Nov  6 08:49:37 1994", "1994-11-06T08:49:37Z"},
		{"Wed Nov 16 08:49:37 1994", "1994-11-16T08:49:37Z"},
		{"Wed Nov 06 08:49:37 1994", "1994-11-06T08:49:37Z"},
		{"Sat, 31 Dec 2016 23:59:60 GMT", "2017-01-01T00:00:00Z"},
		{"Thu, 29 Feb 2024 00:00:00 GMT", "2024-02-29T00:00:00Z"},
		// Two digits: more than 50 years ahead is a century ago.
		{"Sunday, 01-Mar-76 11:59:59 GMT", "2076-03-01T11:59:59Z"},
		{"Sunday, 01-Mar-76 12:00:00 GMT", "2076-03-01T12:00:00Z"},
		{"Monday, 01-Mar-76 12:00:01 GMT", "1976-03-01T12:00:01Z"},
		{"Monday, 01-Jan-00 00:00:00 GMT", "2000-01-01T00:00:00Z"},
		{"Monday, 29-Feb-96 00:00:00 GMT", "1996-02-29T00:00:00Z"},
		{"Fri, 30 Feb 2024 00:00:00 GMT", ""},
		{"Wed, 29 Feb 2023 00:00:00 GMT", ""},
		{"Sunday, 29-Feb-23 00:00:00 GMT", ""},
		{"Sun, 00 Nov 1994 08:49:37 GMT", ""},
		{"Sun, 06 Nov 1994 24:00:00 GMT", ""},
		{"Sun, 06 Nov 1994 08:60:00 GMT", ""},
		{"Sun, 06 Nov 1994 08:49:61 GMT", ""},
		{"Sun, 6 Nov 1994 08:49:37 GMT", ""},
		{"Sun, 06 Nov 94 08:49:37 GMT", ""},
		{"Sun, 06 Nov 1994 08:49:37", ""},
		{"Sun, 06 Nov 1994 08:49:37 gmt", ""},
		{"Sun, 06 Nov 1994 08:49:37 GMT ", ""},
		{"Sun, 06 Nov 1994 08:49:37 PST", ""},
		{"sun, 06 nov 1994 08:49:37 GMT", ""},
		{"Sun,06 Nov 1994 08:49:37 GMT", ""},
		{"Foo, 06 Nov 1994 08:49:37 GMT", ""},
		{"Sun, 06 Nov 1994 +8:49:37 GMT", ""},
		{"Sun, 06 Nov 1994 08-49-37 GMT", ""},
		{"Sun, 06-Nov-94 08:49:37 GMT", ""},
		{"Sunday, 06 Nov 1994 08:49:37 GMT", ""},
		{"Sun Nov 6 08:49:37 1994", ""},
		{"Sun Nov  6 08:49:37 1994 GMT", ""},
		{"", ""},
	} {
		got, ok := parseHTTPDate(c.s, now)
		if text := got.Format(time.RFC3339); ok != (c.want != "") || ok && text != c.want {
			t.Errorf("%q: %v, %v, want %q", c.s, text, ok, c.want)
		}
	}
}
