package verdict

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// The public cases, as far as one answer expresses them. Hints: hint_test.go.
func TestCases(t *testing.T) {
	type expect struct {
		kind        Kind
		hint        time.Duration
		unprocessed bool
		reason      string // a part of it
	}
	h := func(kv ...string) http.Header {
		header := http.Header{}
		for i := 0; i < len(kv); i += 2 {
			header.Add(kv[i], kv[i+1])
		}
		return header
	}
	for _, c := range []struct {
		id, provider string
		err          *ResponseError
		want         expect
	}{
		{"A03", "azure", &ResponseError{StatusCode: 429, Header: h("Retry-After", "61")}, expect{Throttled, 61 * time.Second, true, "status 429"}},
		{"A16", "aws", &ResponseError{StatusCode: 429, Header: h("Retry-After", "7", "x-amzn-ErrorType", "TooManyRequestsException")}, expect{Throttled, 7 * time.Second, true, "TooManyRequestsException"}},
		{"B01", "aws", &ResponseError{StatusCode: 502, Header: h("x-amzn-ErrorType", "EC2ThrottledException")}, expect{Throttled, none, true, "EC2ThrottledException"}},
		{"B02", "aws", &ResponseError{StatusCode: 400, Body: []byte("<Code>PriorRequestNotComplete</Code>")}, expect{Throttled, none, true, ""}},
		{"B05 iam", "aws", &ResponseError{StatusCode: 409, Code: "LimitExceededException", Message: "Cannot exceed quota for RolesPerAccount: 1000"}, expect{Fatal, none, false, "a quota, not a rate"}},
		{"B05 lex", "aws", &ResponseError{StatusCode: 429, Code: "LimitExceededException"}, expect{Throttled, none, true, "429"}},
		{"B05 kinesis", "aws", &ResponseError{StatusCode: 400, Code: "LimitExceededException", Message: "Rate exceeded for stream x under account 123456789012."}, expect{Throttled, none, true, "about a rate"}},
		{"B07", "aws", &ResponseError{StatusCode: 400, Code: "ClientException", Message: "Received throttling error when describing target group arn:..."}, expect{Throttled, none, false, "quotes a throttle"}},
		{"B07, another text", "aws", &ResponseError{StatusCode: 400, Code: "ClientException", Message: "Cluster not found"}, expect{Fatal, none, false, ""}},
		{"B07, another provider", "azure", &ResponseError{StatusCode: 400, Code: "ClientException", Message: "Received throttling error"}, expect{Fatal, none, false, ""}},
		{"B08", "aws", &ResponseError{StatusCode: 200, Body: []byte(`{"ProgressEvent":{"OperationStatus":"FAILED","ErrorCode":"Throttling","StatusMessage":"Rate exceeded"}}`)}, expect{Throttled, none, false, "Throttling"}},
		{"B08 generic", "aws", &ResponseError{StatusCode: 200, Body: []byte(`{"ProgressEvent":{"OperationStatus":"FAILED","ErrorCode":"GeneralServiceException","StatusMessage":"Rate exceeded (Service: X)"}}`)}, expect{Throttled, none, false, "quotes a throttle"}},
		{"B08 decoded", "aws", &ResponseError{StatusCode: 200, Code: "GeneralServiceException", Message: "Rate exceeded"}, expect{Throttled, none, false, ""}},
		{"B08, another failure", "aws", &ResponseError{StatusCode: 200, Body: []byte(`{"ProgressEvent":{"OperationStatus":"FAILED","ErrorCode":"NotFound","StatusMessage":"gone"}}`)}, expect{Fatal, none, false, "NotFound"}},
		{"B08, in progress", "aws", &ResponseError{StatusCode: 200, Body: []byte(`{"ProgressEvent":{"OperationStatus":"IN_PROGRESS","ErrorCode":"Throttling"}}`)}, expect{OK, none, false, ""}},
		{"B08, S3", "aws", &ResponseError{StatusCode: 200, Body: []byte(`<?xml version="1.0"?><Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>`)}, expect{Throttled, none, false, "SlowDown"}},
		{"B10", "aws", &ResponseError{StatusCode: 409, Code: "ConcurrentModification"}, expect{Transient, none, false, "conflict that passes"}},
		{"B10 entity", "aws", &ResponseError{StatusCode: 409, Code: "EntityTemporarilyUnmodifiable"}, expect{Transient, none, false, ""}},
		{"B11", "aws", &ResponseError{StatusCode: 400, Code: "ConcurrentModificationException"}, expect{Transient, none, false, ""}},
		{"B11 look-alike", "aws", &ResponseError{StatusCode: 400, Code: "ConstraintViolationException"}, expect{Fatal, none, false, ""}},
		{"B11 message", "aws", &ResponseError{StatusCode: 400, Code: "BadRequestException", Message: "Unable to complete operation due to concurrent modification. Please try again later."}, expect{Transient, none, false, ""}},
		{"B11 other message", "aws", &ResponseError{StatusCode: 400, Code: "BadRequestException", Message: "Invalid id"}, expect{Fatal, none, false, ""}},
		{"B19 HEAD", "aws", &ResponseError{StatusCode: 503}, expect{Throttled, none, false, "status 503"}},
		{"B19 HEAD, as S3's SDK words it", "aws", &ResponseError{StatusCode: 503, Code: "ServiceUnavailable", Message: "Service Unavailable"}, expect{Throttled, none, false, "status 503"}},
		{"B19 GET", "aws", &ResponseError{StatusCode: 503, Body: []byte("<Code>SlowDown</Code>")}, expect{Throttled, none, true, "SlowDown"}},
		{"Lambda", "aws", &ResponseError{StatusCode: 400, Code: "InvalidParameterValueException", Message: "Lambda was throttled by EC2: EC2 Error Code: RequestLimitExceeded. EC2 Error Message: Request limit exceeded."}, expect{Throttled, none, false, "quotes EC2"}},
		{"C02", "azure", &ResponseError{StatusCode: 409, Body: []byte(`{"error":{"code":"ConflictingConcurrentWriteNotAllowed"}}`)}, expect{Transient, none, false, ""}},
		{"C02 conflict", "azure", &ResponseError{StatusCode: 409, Body: []byte(`{"error":{"code":"Conflict","message":"... already exists"}}`)}, expect{Fatal, none, false, ""}},
		{"C02 412", "azure", &ResponseError{StatusCode: 412}, expect{Fatal, none, false, ""}},
		{"C03", "azure", &ResponseError{StatusCode: 400, Body: []byte(`{"error":"invalid_client","error_description":"AADSTS7000215 ..."}`)}, expect{Fatal, none, false, "invalid_client"}},
		{"C03 gzip", "azure", &ResponseError{StatusCode: 400, Body: []byte(gz(`{"error":"invalid_client"}`))}, expect{Fatal, none, false, "invalid_client"}},
		{"C08", "azure", &ResponseError{StatusCode: 429, Header: h("Retry-After", "1200", "x-ms-ratelimit-remaining-subscription-reads", "13412")}, expect{Throttled, 1200 * time.Second, true, ""}},
		{"C09", "azure", &ResponseError{StatusCode: 429}, expect{Throttled, none, true, ""}},
		{"C10", "azure", &ResponseError{StatusCode: 429, Header: h("Retry-After", "372"), Body: []byte(`{"error":{"code":"ResourceRequestsThrottled"}}`)}, expect{Throttled, 372 * time.Second, true, "ResourceRequestsThrottled"}},
		{"D01", "gcp", &ResponseError{StatusCode: 403, Body: []byte(`{"error":{"code":403,"errors":[{"domain":"usageLimits","reason":"rateLimitExceeded"}]}}`)}, expect{Throttled, none, true, "rate limit"}},
		{"D01 user", "gcp", &ResponseError{StatusCode: 403, Body: []byte(`{"error":{"code":403,"errors":[{"domain":"usageLimits","reason":"userRateLimitExceeded"}]}}`)}, expect{Throttled, none, true, "rate limit"}},
		{"D01 forbidden", "gcp", &ResponseError{StatusCode: 403, Body: []byte(`{"error":{"code":403,"message":"rate exceeded? no: forbidden","errors":[{"domain":"global","reason":"forbidden"}]}}`)}, expect{Fatal, none, false, "permission denied"}},
		{"D01 permissions", "gcp", &ResponseError{StatusCode: 403, Body: []byte(`{"error":{"code":403,"errors":[{"reason":"insufficientPermissions"}]}}`)}, expect{Fatal, none, false, "permission denied"}},
		{"D02", "gcp", &ResponseError{StatusCode: 403, Body: []byte(`{"error":{"message":"Quota exceeded for quota group 'ReadGroup' and limit 'Read requests per 100 seconds' ...","errors":[{"reason":"rateLimitExceeded"}]}}`)}, expect{Throttled, none, true, ""}},
		{"D02 per day", "gcp", &ResponseError{StatusCode: 403, Body: []byte(`{"error":{"message":"Quota exceeded for quota group 'ReadGroup' and limit 'Read requests per day' ...","errors":[{"reason":"rateLimitExceeded"}]}}`)}, expect{Fatal, none, false, "daily"}},
		{"D07", "gcp", &ResponseError{StatusCode: 403, Body: []byte(`{"error":{"code":403,"status":"PERMISSION_DENIED","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"SERVICE_DISABLED","metadata":{"consumer":"projects/42","service":"cloudasset.googleapis.com"}}]}}`)}, expect{Fatal, none, false, "the API cloudasset.googleapis.com is disabled in projects/42"}},
		{"D07 REST", "gcp", &ResponseError{StatusCode: 403, Body: []byte(`{"error":{"code":403,"errors":[{"domain":"usageLimits","reason":"accessNotConfigured"}]}}`)}, expect{Fatal, none, false, "the API is disabled"}},
		{"S13.4 quota", "gcp", &ResponseError{StatusCode: 403, Body: []byte(`{"error":{"code":403,"errors":[{"reason":"quotaExceeded"}]}}`)}, expect{Fatal, none, false, "a quota is used up"}},
		{"S13.4 daily", "gcp", &ResponseError{StatusCode: 403, Body: []byte(`{"error":{"code":403,"errors":[{"reason":"dailyLimitExceeded"}]}}`)}, expect{Fatal, none, false, "a daily quota is used up"}},
		{"S13.4 quotaExceeded with a 429 is a rate", "gcp", &ResponseError{StatusCode: 429, Body: []byte(`{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","errors":[{"reason":"quotaExceeded"}]}}`)}, expect{Throttled, none, true, "RESOURCE_EXHAUSTED"}},
		{"OperationNotAllowed with another detail", "azure", &ResponseError{StatusCode: 409, Body: []byte(`{"error":{"code":"OperationNotAllowed","details":[{"code":"QuotaExceeded"}]}}`)}, expect{Fatal, none, false, ""}},
		{"D08", "gcp", &ResponseError{Code: "UNAVAILABLE", Message: "transport is closing"}, expect{Transient, none, false, "made locally"}},
		{"H01", "databricks", &ResponseError{StatusCode: 429, Body: []byte(`{"error_code":"REQUEST_LIMIT_EXCEEDED"}`)}, expect{Throttled, none, true, "REQUEST_LIMIT_EXCEEDED"}},
		{"H01, the status was lost", "databricks", &ResponseError{Body: []byte(`{"error_code":"REQUEST_LIMIT_EXCEEDED"}`)}, expect{Throttled, none, true, "REQUEST_LIMIT_EXCEEDED"}},
	} {
		r := Examine(c.provider, c.err)
		if r.Kind != c.want.kind || r.Unprocessed != c.want.unprocessed || !strings.Contains(r.Reason, c.want.reason) {
			t.Errorf("%s: %+v, want %+v", c.id, r, c.want)
		}
		if hint := r.Hint; !r.HasHint && c.want.hint != none || r.HasHint && hint != c.want.hint {
			t.Errorf("%s: hint %v (%v), want %v", c.id, hint, r.HasHint, c.want.hint)
		}
	}
}

func TestD07_Consumer(t *testing.T) {
	r := Examine("gcp", &ResponseError{Code: "PERMISSION_DENIED", Body: []byte(`{"code":7,"details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"SERVICE_DISABLED","metadata":{"consumer":"projects/42"}}]}`)})
	if r.Consumer != "projects/42" || r.Code != "SERVICE_DISABLED" || r.Kind != Fatal {
		t.Errorf("%+v", r)
	}
}

// Case B12: never shown as a server's answer, with the real answer inside.
func TestB12_SDKRetryQuota(t *testing.T) {
	last := &ResponseError{Provider: "aws", StatusCode: 400, Code: "ThrottlingException", Header: http.Header{"Retry-After": {"2"}}}
	quota := errors.New("retry quota exceeded, 3 available, 5 requested")
	for name, err := range map[string]error{
		"chain": fmt.Errorf("operation error Config Service: DescribeOrganizationConfigRules, %w",
			fmt.Errorf("failed to get rate limit token, %w", fmt.Errorf("retry quota exceeded, 3 available, 5 requested: %w", fmt.Errorf("last service error: %w", last)))),
		"join":        fmt.Errorf("operation error: %w", errors.Join(last, fmt.Errorf("failed to get rate limit token, %w", quota))),
		"bare join":   errors.Join(last, quota),
		"after a 500": errors.Join(&ResponseError{StatusCode: 500}, quota),
		"alone":       quota,
	} {
		r := Examine("aws", err)
		if r.Kind != Throttled || r.Answered || r.Unprocessed || r.Own || r.Reason != "the SDK's own retry quota is used up" {
			t.Errorf("%s: %+v", name, r)
		}
		if strings.Contains(name, "n") && name != "alone" && (r.Code != "ThrottlingException" || r.Hint != 2*time.Second) {
			t.Errorf("%s: the provider's last word is lost: %+v", name, r)
		}
	}
	if retryQuota(errors.New("retry quota exceeded, some available, 5 requested")) || retryQuota(errors.New("retry quota exceeded")) {
		t.Error("other words pass for the SDK's")
	}
}
