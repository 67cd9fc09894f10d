package verdict

import (
	"net/http"
	"strings"
	"testing"
)

// TABLES.md, code by code. The status is one that would decide otherwise.
func TestS2_3_TablesOfCodes(t *testing.T) {
	for _, c := range []struct {
		provider string
		want     Kind
		status   int
		codes    string
	}{
		{"aws", Throttled, 400, `Throttling ThrottlingException ThrottledException RequestThrottledException RequestThrottled
			TooManyRequestsException ProvisionedThroughputExceededException TransactionInProgressException RequestLimitExceeded
			BandwidthLimitExceeded SlowDown PriorRequestNotComplete EC2ThrottledException RateExceeded`},
		{"aws", Transient, 400, `RequestTimeout RequestTimeoutException InternalError InternalFailure InternalServerError
			InternalServiceError ServiceUnavailable IDPCommunicationError ConcurrentModification
			ConcurrentModificationException EntityTemporarilyUnmodifiable OperationAborted`},
		{"aws", Fatal, 400, `AccessDenied ValidationException NoSuchBucket LimitExceededException LimitExceeded InvalidParameterValueException ConstraintViolationException`},
		{"azure", Throttled, 409, `RateLimiting TooManyRequests SubscriptionRequestsThrottled TenantRequestsThrottled
			ResourceRequestsThrottled ResourceCollectionRequestsThrottled`},
		{"azure", Transient, 409, `RetryableErrorDueToAnotherOperation AnotherOperationInProgress ConflictingConcurrentWriteNotAllowed`},
		{"azure", Fatal, 409, `Conflict OperationNotAllowed QuotaExceeded StorageAccountAlreadyTaken`},
		{"gcp", Throttled, 0, `RESOURCE_EXHAUSTED UNAVAILABLE`},
		{"gcp", Transient, 0, `DEADLINE_EXCEEDED INTERNAL`},
		{"gcp", Fatal, 0, `UNKNOWN INVALID_ARGUMENT NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED DATA_LOSS UNAUTHENTICATED`},
		{"gcp", Canceled, 0, `CANCELLED`},
		{"gcp", Throttled, 403, `rateLimitExceeded userRateLimitExceeded RATE_LIMIT_EXCEEDED`},
		{"gcp", Fatal, 403, `quotaExceeded dailyLimitExceeded accessNotConfigured SERVICE_DISABLED forbidden insufficientPermissions PERMISSION_DENIED`},
		{"databricks", Throttled, 0, `REQUEST_LIMIT_EXCEEDED RESOURCE_EXHAUSTED`},
		{"databricks", Throttled, 400, `REQUEST_LIMIT_EXCEEDED RESOURCE_EXHAUSTED`},
		{"databricks", Transient, 429, `TEMPORARILY_UNAVAILABLE`},
		{"databricks", Fatal, 200, `ERROR_STATUS INVALID_HANDLE_STATUS`},
	} {
		for _, code := range strings.Fields(c.codes) {
			r := Examine(c.provider, &ResponseError{StatusCode: c.status, Code: code})
			if r.Kind != c.want || r.Code != code {
				t.Errorf("%s %d %s: %v with code %q (%s), want %v", c.provider, c.status, code, r.Kind, r.Code, r.Reason, c.want)
			}
		}
	}
}

func TestS2_6_LimitExceeded(t *testing.T) {
	for _, c := range []struct {
		status  int
		message string
		want    Kind
	}{
		{400, "Rate exceeded", Throttled},
		{400, "The request rate for this stream is too high", Throttled},
		{400, "RequestRate is above the maximum", Throttled},
		{400, "Rates above 5 are not allowed", Throttled},
		{400, "Hit the RateLimit of the account", Throttled},
		{400, "ratelimit reached", Throttled},
		{400, "Request was throttled", Throttled},
		{400, "Too many concurrent calls", Throttled},
		{400, "Only 10 calls per second are allowed", Throttled},
		{400, "Exceeded 5 TPS", Throttled},
		{400, "Exceeded 5tps.", Throttled},
		{429, "Cannot exceed quota for UsersPerAccount: 5000", Throttled},
		{429, "", Throttled},
		{409, "Cannot exceed quota for UsersPerAccount: 5000", Fatal},
		{409, "", Fatal},
		// The letters alone are not about a rate.
		{409, "You have generated all keys; see https://docs.aws.amazon.com/IAM", Fatal},
		{409, "Separate accounts and corporate rating operations reached their maximum", Fatal},
		// A 503 does not make a rate of it: the code has spoken.
		{503, "Cannot exceed quota for AccessKeysPerUser: 2", Fatal},
	} {
		for _, code := range []string{"LimitExceededException", "LimitExceeded"} {
			if r := Examine("aws", &ResponseError{StatusCode: c.status, Code: code, Message: c.message}); r.Kind != c.want {
				t.Errorf("%s %d %q: %v (%s), want %v", code, c.status, c.message, r.Kind, r.Reason, c.want)
			}
		}
	}
}

func TestS2_6_LockDressedAs429(t *testing.T) {
	r := Examine("azure", &ResponseError{StatusCode: 429, Header: http.Header{"Retry-After": {"10"}},
		Body: []byte(`{"error":{"code":"RetryableErrorDueToAnotherOperation","message":"Operation X is in progress"}}`)})
	if r.Kind != Transient || r.Code != "RetryableErrorDueToAnotherOperation" || r.Hint.Seconds() != 10 {
		t.Errorf("%+v", r)
	}
}

// S13.4, TABLES: RESOURCE_EXHAUSTED is fatal when a daily quota or the message size
// is exhausted.
func TestS13_4_ResourceExhausted(t *testing.T) {
	info := func(limit, unit string) string {
		return `{"code":8,"message":"Quota exceeded for quota metric 'List' and limit 'x'","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo",
			"reason":"RATE_LIMIT_EXCEEDED","domain":"googleapis.com","metadata":{"quota_limit":"` + limit + `","quota_unit":"` + unit + `","consumer":"projects/123","quota_metric":"cloudasset.googleapis.com/list"}}]}`
	}
	for _, c := range []struct {
		name, message, body string
		want                Kind
	}{
		{"bare", "", "", Throttled},
		{"per minute", "", info("ListPerMinutePerProject", "1/min/{project}"), Throttled},
		{"per 100 seconds", "Quota exceeded for 'Read requests per 100 seconds'", "", Throttled},
		{"per day, by the limit's name", "", info("ListPerDayPerProject", ""), Fatal},
		{"per day, by the unit", "", info("List", "1/d/{project}"), Fatal},
		{"per day, in the message", "Quota exceeded for quota metric 'Queries' and limit 'Queries per day' of service", "", Fatal},
		{"per day, QuotaFailure", "", `{"code":8,"details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"subject":"project:x","description":"Daily limit for writes is used up"}]}]}`, Fatal},
		{"size, received", "grpc: received message larger than max (5000000 vs. 4194304)", "", Fatal},
		{"size, sent", "trying to send message larger than max (5000000 vs. 4194304)", "", Fatal},
		{"size, Java", "gRPC message exceeds maximum size 4194304: 5000000", "", Fatal},
	} {
		r := Examine("", &ResponseError{Provider: "gcp", Code: "RESOURCE_EXHAUSTED", Message: c.message, Body: []byte(c.body)})
		if r.Kind != c.want || !r.Answered {
			t.Errorf("%s: %v (%s), want %v", c.name, r.Kind, r.Reason, c.want)
		}
	}
	r := Examine("gcp", &ResponseError{Body: []byte(info("ListPerMinute", ""))})
	if r.Kind != Throttled || r.Consumer != "projects/123" || r.Code != "RATE_LIMIT_EXCEEDED" {
		t.Errorf("numeric code in the body: %+v", r)
	}
}

func TestS13_4_Unavailable(t *testing.T) {
	for _, c := range []struct {
		name string
		err  *ResponseError
		want Kind
	}{
		{"sent by the server", &ResponseError{Code: "UNAVAILABLE", Message: "The service is currently unavailable."}, Throttled},
		{"made locally", &ResponseError{Code: "UNAVAILABLE", Message: "The service is currently unavailable.", Err: Local(errTest)}, Transient},
		{"made locally, by its words", &ResponseError{Code: "UNAVAILABLE", Message: "connection error: desc = \"transport: Error while dialing: dial tcp 10.0.0.1:443\""}, Transient},
		{"the words came with trailers", &ResponseError{Code: "UNAVAILABLE", Message: "transport is closing", Header: http.Header{"server": {"ESF"}}}, Throttled},
		{"REST", &ResponseError{StatusCode: 503, Body: []byte(`{"error":{"code":503,"status":"UNAVAILABLE"}}`)}, Throttled},
		{"a list around it", &ResponseError{StatusCode: 503, Body: []byte(`[{"error":{"code":503,"status":"UNAVAILABLE"}}]`)}, Throttled},
		{"INTERNAL over REST", &ResponseError{StatusCode: 500, Body: []byte(`{"error":{"code":500,"status":"INTERNAL"}}`)}, Transient},
	} {
		if r := Examine("gcp", c.err); r.Kind != c.want {
			t.Errorf("%s: %v (%s), want %v", c.name, r.Kind, r.Reason, c.want)
		}
	}
}

func TestS14_Databricks503(t *testing.T) {
	for _, c := range []struct {
		name string
		err  *ResponseError
		want Kind
	}{
		{"without a hint", &ResponseError{StatusCode: 503}, Transient},
		{"with one", &ResponseError{StatusCode: 503, Header: http.Header{"Retry-After": {"2"}}}, Throttled},
		{"with one of zero", &ResponseError{StatusCode: 503, Header: http.Header{"Retry-After": {"0"}}}, Throttled},
		{"with one that cannot be read", &ResponseError{StatusCode: 503, Header: http.Header{"Retry-After": {"soon"}}}, Transient},
		{"cold warehouse", &ResponseError{StatusCode: 400, Header: http.Header{"X-Thriftserver-Error-Message": {"Cluster 123 has not been initialized"}}}, Transient},
		{"429", &ResponseError{StatusCode: 429}, Throttled},
		{"502", &ResponseError{StatusCode: 502}, Transient},
		{"504", &ResponseError{StatusCode: 504}, Transient},
		{"a Thrift answer", &ResponseError{StatusCode: 200, Code: "ERROR_STATUS", Message: "the query was throttled"}, Fatal},
	} {
		if r := Examine("databricks", c.err); r.Kind != c.want {
			t.Errorf("%s: %v (%s), want %v", c.name, r.Kind, r.Reason, c.want)
		}
	}
	if got := Classify(&ResponseError{StatusCode: 503, Provider: "azure"}); got != Throttled {
		t.Errorf("Azure's 503: %v", got)
	}
}

// Databricks' codes are names of statuses too, and reach us where a proxy has lost the
// number. They decide before any words, those of a starting warehouse included.
func TestS2_2_DatabricksStatusBeforeWords(t *testing.T) {
	for status, codes := range map[int]string{
		400: "INVALID_PARAMETER_VALUE", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED",
		404: "NOT_FOUND ENDPOINT_NOT_FOUND RESOURCE_DOES_NOT_EXIST", 409: "ALREADY_EXISTS RESOURCE_ALREADY_EXISTS RESOURCE_CONFLICT", 501: "NOT_IMPLEMENTED",
	} {
		for code := range strings.FieldsSeq(codes) {
			for _, message := range []string{"Invalid value for throttlingPolicy", "Rate exceeded", "The catalog has not been initialized"} {
				for _, status := range []int{0, status} {
					r := Examine("databricks", &ResponseError{StatusCode: status, Body: []byte(`{"error_code":"` + code + `","message":"` + message + `"}`)})
					if r.Kind != Fatal || r.Code != code || !r.Answered {
						t.Errorf("%d %s %q: %+v", status, code, message, r)
					}
				}
			}
		}
	}
	for _, c := range []struct {
		name string
		err  *ResponseError
		want Kind
	}{
		{"a status says more than its name", &ResponseError{StatusCode: 429, Code: "PERMISSION_DENIED"}, Throttled},
		{"a code nobody knows", &ResponseError{Code: "SOMETHING_NEW", Message: "Rate exceeded"}, Throttled},
		{"a warehouse that starts, under such a code", &ResponseError{StatusCode: 400, Code: "SOMETHING_NEW", Message: "Cluster 1 has not been initialized"}, Transient},
		{"a warehouse that starts, without a status", &ResponseError{Message: "Cluster 1 has not been initialized"}, Transient},
	} {
		if r := Examine("databricks", c.err); r.Kind != c.want {
			t.Errorf("%s: %v (%s), want %v", c.name, r.Kind, r.Reason, c.want)
		}
	}
}

func TestUnknownProviderTableHasNoContradictions(t *testing.T) {
	for code := range unknown {
		kinds := map[Kind]bool{}
		for _, table := range folded {
			if r, ok := table[code]; ok {
				kinds[r.kind] = true
			}
		}
		if len(kinds) != 1 {
			t.Errorf("%s means %v", code, kinds)
		}
	}
	if _, ok := unknown["serviceunavailable"]; ok {
		t.Error("ServiceUnavailable means different things to AWS and Azure")
	}
}
