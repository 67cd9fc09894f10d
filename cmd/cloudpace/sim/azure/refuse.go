package azure

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// problem is an answer that is an error.
type problem struct {
	status        int
	code, message string
	details       []any
	more          object // beside the code and the message
	header        http.Header
}

// principal is who everybody is.
const principal = "00000000-0000-0000-0000-0000000000aa"

func challenge(description string) http.Header {
	return http.Header{"Www-Authenticate": {`Bearer authorization_uri="https://login.windows.net/` + Tenant + `", error="invalid_token", error_description="` + description + `"`}}
}

var (
	missingToken = problem{
		status: http.StatusUnauthorized, code: "AuthenticationFailed", message: "Authentication failed. The 'Authorization' header is missing.",
		header: challenge("The authentication failed because of missing 'Authorization' header."),
	}
	badToken = problem{
		status: http.StatusUnauthorized, code: "InvalidAuthenticationToken", message: "The access token is invalid.", header: challenge("The access token is invalid."),
	}
	expiredToken = problem{
		status: http.StatusUnauthorized, code: "ExpiredAuthenticationToken",
		message: "The access token expiry UTC time '1/1/2026 1:00:00 AM' is earlier than current UTC time '1/1/2026 2:00:00 AM'.",
		header:  challenge("The access token has expired."),
	}
)

func readOnly(subscription string) problem {
	return problem{
		status: http.StatusConflict, code: "ReadOnlyDisabledSubscription",
		message: "The subscription '" + subscription + "' is disabled and therefore marked as read only. You cannot perform any write actions on this subscription until it is re-enabled.",
	}
}

// Refuse words a refusal as Resource Manager or the provider does.
func (f *Front) Refuse(c *sim.Call, why sim.Refusal) sim.Answer {
	q, ok := c.Native.(*request)
	if !ok {
		panic("sim: a call of another front")
	}
	p := q.problem(why)
	p.status, p.message = cmp.Or(why.Status, p.status), cmp.Or(why.Message, p.message)
	if why.Code != "" {
		p.code = why.Code
	}
	a := f.fail(q, p)
	hint := why.RetryAfter
	if hint == 0 && why.Why == sim.WhyThrottled && !q.silent(why.Quota) {
		hint = why.Wait
	}
	if hint == 0 && why.Code == lockConflict {
		hint = lockTime
	}
	if hint > 0 {
		a.Header.Set("Retry-After", strconv.Itoa(whole(hint)))
	}
	if why.Why == sim.WhyError && a.Status == http.StatusTooManyRequests && q.class() == querying {
		c.Left = []sim.Left{{Quota: &sim.Quota{Name: graphQuota}, Resets: graphWindow * time.Second}}
	}
	tellLeft(a.Header, c)
	return a
}

func whole(d time.Duration) int { return int(math.Ceil(d.Seconds())) }

// silent tells which throttles have no Retry-After: Microsoft.Network's, and
// Resource Graph's, which has a header of its own.
func (q *request) silent(quota *sim.Quota) bool {
	return quota != nil && quota.Layer == "" && (q.service() == "network" || q.class() == querying)
}

// problem gives the usual answer for a reason.
func (q *request) problem(why sim.Refusal) problem {
	const conflict, forbidden = http.StatusConflict, http.StatusForbidden
	switch why.Why {
	case sim.WhyThrottled:
		return q.throttled(why)
	case sim.WhyInternal:
		return problem{status: 500, code: "InternalServerError", message: "Encountered internal server error. Diagnostic information: timestamp '" + stamp() + "'."}
	case sim.WhyUnavailable:
		return problem{status: 503, code: "ServiceUnavailable", message: "The service is unavailable. Please try again later."}
	case sim.WhyBadGateway:
		return problem{status: http.StatusBadGateway, code: "BadGateway", message: "The upstream of the simulator does not answer."}
	case sim.WhyExpired:
		return expiredToken
	case sim.WhyDenied:
		return problem{status: forbidden, code: "AuthorizationFailed", message: fmt.Sprintf("The client '%s' with object id '%[1]s' does not have authorization to perform action '%s' over scope '%s' or the scope is invalid. If access was recently granted, please refresh your credentials.", principal, q.action(), q.scope())}
	case sim.WhyDeniedByPolicy:
		return problem{status: forbidden, code: "RequestDisallowedByPolicy", message: "Resource '" + name(q.raw) + "' was disallowed by policy."}
	case sim.WhyRegionDisabled:
		return readOnly(cmp.Or(q.subscription, example(1)))
	}
	switch why.Code {
	case lockConflict, "RetryableError", "AnotherOperationInProgress":
		return q.locked(why.Code)
	case "MissingSubscriptionRegistration":
		text := "The subscription is not registered to use namespace '" + name(q.namespace) + "'. See https://aka.ms/rps-not-found for how to register subscriptions."
		return problem{status: conflict, message: text, details: []any{object{"code": why.Code, "target": name(q.namespace), "message": text}}}
	case "ConflictingConcurrentWriteNotAllowed":
		return problem{status: conflict, message: "The request was not processed because of a conflicting concurrent write. Please retry."}
	}
	if status, ok := usually[why.Code]; ok {
		return q.like(why, status)
	}
	return problem{status: http.StatusBadRequest, code: "BadRequest", message: "The simulator was told to answer so."}
}

// usually has the status of codes that are asked for by name.
var usually = map[string]int{
	"TooManyRequests": 429, "RateLimiting": 429, "SubscriptionRequestsThrottled": 429, "TenantRequestsThrottled": 429,
	"ResourceRequestsThrottled": 429, "ResourceCollectionRequestsThrottled": 429, "OperationNotAllowed": 429,
	"SubscriptionNotFound": 404, "ResourceNotFound": 404, "ResourceGroupNotFound": 404, "AuthorizationFailed": 403, "InvalidAuthenticationTokenTenant": 401,
	"InternalServerError": 500, "ServiceUnavailable": 503, "GatewayTimeout": 504,
}

// like words a code in the form that it has when a quota is used up, where it is
// one of those.
func (q *request) like(why sim.Refusal, status int) problem {
	if status != http.StatusTooManyRequests {
		return problem{status: status, message: "The simulator was told to answer so."}
	}
	wait := max(why.RetryAfter, time.Second)
	switch why.Code {
	case "RateLimiting":
		return q.graphThrottle()
	case "OperationNotAllowed":
		return q.computeThrottle(&sim.Quota{Name: "HighCostGet3Min", Burst: 900})
	case "TooManyRequests":
		return problem{status: status, message: "The request is being throttled."}
	case "SubscriptionRequestsThrottled", "TenantRequestsThrottled":
		return q.gateThrottle(why.Code, wait)
	}
	return q.countThrottle(&sim.Quota{Burst: 50, Window: 300}, wait)
}

// lockConflict is what Microsoft.Network says, with the status of a throttle, when
// something else is at work on a thing.
const (
	lockConflict = "RetryableErrorDueToAnotherOperation"
	lockTime     = 14 * time.Second
)

// locked words it: as the error itself, or in the details of another one.
func (q *request) locked(code string) problem {
	text := fmt.Sprintf("Operation PutSubnetOperation (%s) is updating resource %s. The call can be retried in %d seconds.", example(0xcc), name(q.raw), whole(lockTime))
	switch code {
	case "RetryableError":
		return problem{status: http.StatusTooManyRequests, message: "A retryable error occurred.", details: []any{object{"code": lockConflict, "message": text}}}
	case lockConflict:
		return problem{status: http.StatusTooManyRequests, message: text, details: []any{}}
	}
	return problem{status: http.StatusConflict, message: "Another operation on this or dependent resource is in progress.", details: []any{}}
}

// action is what a role would have to allow.
func (q *request) action() string {
	what := map[string]string{reading: "read", deleting: "delete", querying: "read"}[q.class()]
	return name(cmp.Or(q.namespace, "Microsoft.Resources")+"/"+strings.Join(q.types, "/")) + "/" + cmp.Or(what, "write")
}

func (q *request) scope() string {
	if q.subscription != "" {
		return "/subscriptions/" + name(q.subscription)
	}
	return name(q.raw)
}

// stamp is the time as texts for support have it.
func stamp() string { return time.Now().UTC().Format("2006-01-02T15:04:05.0000000Z") }

// fail writes an error in the form that all providers share.
func (f *Front) fail(q *request, p problem) sim.Answer {
	o := object{"code": p.code, "message": p.message}
	if p.details != nil {
		o["details"] = p.details
	}
	for key, value := range p.more {
		o[key] = value
	}
	text, err := json.Marshal(object{"error": o})
	if err != nil {
		panic(err) // of texts that this package makes
	}
	h := f.header(q)
	for key, values := range p.header {
		h[key] = values
	}
	h.Set("X-Ms-Failure-Cause", "service")
	return sim.Answer{Status: p.status, Header: h, Body: text}
}

// Wrong is a well-formed body of another shape: what a proxy might say.
func (f *Front) Wrong(c *sim.Call) sim.Answer {
	q, ok := c.Native.(*request)
	if !ok {
		panic("sim: a call of another front")
	}
	return sim.Answer{Status: http.StatusOK, Header: f.header(q), Body: []byte(`["all is well",{"code":7}]`)}
}
