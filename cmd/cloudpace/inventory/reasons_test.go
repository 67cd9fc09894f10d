package inventory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/verdict"
)

func TestReasonOf(t *testing.T) {
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	// What an SDK makes of a page with a 200: it read the answer, and could not.
	page := &verdict.ResponseError{
		Provider: "aws", StatusCode: 200, Body: []byte("<html><title>Log in</title></html>"), Err: io.ErrUnexpectedEOF,
	}
	for _, c := range []struct {
		name string
		err  error
		want Reason
	}{
		{"throttled by code", code(503, "RequestLimitExceeded"), Throttled},
		{"throttled by status", code(429, ""), Throttled},
		{"denied (F03)", code(403, "AccessDeniedException"), AccessDenied},
		{"denied by EC2", code(403, "UnauthorizedOperation"), AccessDenied},
		{"denied with a code nobody knows", code(403, "Whatever"), AccessDenied},
		{"expired", code(400, "ExpiredTokenException"), CredentialsExpired},
		{"expired by S3", code(400, "ExpiredToken"), CredentialsExpired},
		{"not authenticated", code(401, ""), CredentialsExpired},
		{"refresh failed", errors.New("get identity: get credentials: failed to refresh cached credentials"), CredentialsExpired},
		{"refresh reached nobody", fmt.Errorf("get identity: get credentials: failed to refresh cached credentials: %w", refused), Unreachable},
		{"refresh throttled", fmt.Errorf("get identity: get credentials: failed to refresh cached credentials: %w", code(400, "ThrottlingException")), Throttled},
		{"refresh met a log-in page", fmt.Errorf("get identity: get credentials: %w", page), Protocol},
		{"clock wrong", code(403, "RequestTimeTooSkewed"), CredentialsExpired},
		{"clock ahead", code(400, "RequestInTheFuture"), CredentialsExpired},
		{"half a signature", code(400, "IncompleteSignature"), CredentialsExpired},
		{"a log-in page", page, Protocol},
		{"not implemented", code(501, ""), NotSupported},
		{"unknown operation", code(404, "UnknownOperationException"), NotSupported},
		{"a page instead of an error", code(500, ""), NotSupported},
		{"a 404 without a code", code(404, ""), NotSupported},
		{"a 404 with one", code(404, "NoSuchThing"), Protocol},
		{"an error of the service's own", code(500, "InternalError"), Unreachable},
		{"a gateway that got no answer", code(504, ""), Unreachable},
		{"connection refused (F09)", refused, Unreachable},
		{"no such host (F09)", &net.DNSError{Err: "no such host", Name: "x", IsNotFound: true}, ServiceNotInRegion},
		{"a resolver that does not answer", &net.DNSError{Err: "timeout", Name: "x", IsTimeout: true}, Unreachable},
		{"denied by a service control policy (F08)", denial("not authorized to perform: ec2:DescribeVpcs with an explicit deny in a service control policy"), DeniedByPolicy},
		{"denied by a resource control policy", denial("with an explicit deny in a resource control policy"), DeniedByPolicy},
		{"denied by a policy of one's own", denial("with an explicit deny in an identity-based policy"), AccessDenied},
		{"not subscribed", code(403, "OptInRequired"), APIDisabled},
		{"a quota of things", code(400, "LimitExceededException"), QuotaExhausted},
		{"capped", &CappedError{Limit: 1, Seen: 2}, Capped},
		{"stalled", &StalledError{}, Unreachable},
		{"stalled while throttled", &StalledError{Throttled: true}, Throttled},
		{"a region that is not enabled", &RegionDisabledError{Region: "me-south-1", Err: code(401, "AuthFailure")}, RegionDisabled},
		{"timed out", &net.OpError{Op: "dial", Err: context.DeadlineExceeded}, Unreachable},
		{"circuit open for throttling", &cloudpace.CircuitOpenError{Err: code(429, "")}, Throttled},
		{"circuit open for a dead host", &cloudpace.CircuitOpenError{Err: refused}, Unreachable},
		{"budget spent", &cloudpace.RetryBudgetExhaustedError{}, Throttled},
		{"interrupted", &StoppedError{context.Canceled}, Truncated},
		{"cancelled", fmt.Errorf("operation: %w", context.Canceled), Truncated},
		{"repeated token", &RepeatedTokenError{Pages: 3}, Truncated},
		{"a mistake of ours", errors.New("index out of range"), Protocol},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := ReasonOf("aws", fmt.Errorf("in us-east-1: %w", c.err)); got != c.want {
				t.Errorf("got %s, want %s (%+v)", got, c.want, verdict.Examine("aws", c.err))
			}
		})
	}
}

func denial(text string) error {
	return &verdict.ResponseError{Provider: "aws", StatusCode: 403, Code: "AccessDenied", Message: text}
}

// TestNoSuchHost: where a provider has one host for all regions, a name that is not
// found is not a service that is not there.
func TestNoSuchHost(t *testing.T) {
	err := &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "x", IsNotFound: true}}
	for provider, want := range map[string]Reason{"aws": ServiceNotInRegion, "azure": Unreachable, "gcp": Unreachable} {
		if got := ReasonOf(provider, err); got != want {
			t.Errorf("%s: %s, want %s", provider, got, want)
		}
	}
}

// TestReasonOfGoogle: the reasons that only that provider's answers have so far.
func TestReasonOfGoogle(t *testing.T) {
	answer := func(status int, body string) error {
		return &verdict.ResponseError{Provider: "gcp", StatusCode: status, Body: []byte(body)}
	}
	for name, c := range map[string]struct {
		err  error
		want Reason
	}{
		"api not enabled": {answer(403, `{"error":{"code":403,"message":"Cloud Asset API has not been used","status":"PERMISSION_DENIED","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"SERVICE_DISABLED","domain":"googleapis.com"}]}}`), APIDisabled},
		"the day's quota": {answer(403, `{"error":{"code":403,"message":"Daily Limit Exceeded","errors":[{"reason":"dailyLimitExceeded"}]}}`), QuotaExhausted},
		"a perimeter":     {answer(403, `{"error":{"code":403,"message":"Request is prohibited by organization's policy. vpcServiceControlsUniqueIdentifier: x","status":"PERMISSION_DENIED"}}`), DeniedByPolicy},
	} {
		if got := ReasonOf("gcp", c.err); got != c.want {
			t.Errorf("%s: %s, want %s (%+v)", name, got, c.want, verdict.Examine("gcp", c.err))
		}
	}
}
