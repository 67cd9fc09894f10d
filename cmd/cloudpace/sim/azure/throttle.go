package azure

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// throttled words a refusal for a quota that is used up. The differences are
// Azure's.
func (q *request) throttled(why sim.Refusal) problem {
	quota := why.Quota
	if quota == nil {
		quota = &sim.Quota{Burst: 1}
	}
	wait := max(why.Wait, why.RetryAfter)
	switch {
	case quota.Layer == tenantLayer:
		return q.gateThrottle("TenantRequestsThrottled", wait)
	case quota.Layer != "":
		return q.gateThrottle("SubscriptionRequestsThrottled", wait)
	case q.class() == querying:
		return q.graphThrottle()
	}
	switch q.service() {
	case "compute":
		return q.computeThrottle(quota)
	case "storage":
		return problem{
			status: http.StatusTooManyRequests, code: "TooManyRequests",
			message: "The request is being throttled as the limit has been reached for operation type - " + quota.Name + ". For more information, see - https://aka.ms/srpthrottlinglimits",
		}
	case "network":
		return problem{status: http.StatusTooManyRequests, code: "TooManyRequests", message: "The request is being throttled.", details: []any{}}
	}
	return q.countThrottle(quota, wait)
}

// gateThrottle is Resource Manager's own.
func (q *request) gateThrottle(code string, wait time.Duration) problem {
	scope := "subscription '" + name(q.subscription) + "'"
	if q.subscription == "" {
		scope = "tenant '" + Tenant + "'"
	}
	return problem{
		status: http.StatusTooManyRequests, code: code,
		message: fmt.Sprintf("Number of requests for %s and operation '%s%s' exceeded the backend storage limit. Please try again after '%d' seconds.", scope, q.method, q.shape(), whole(wait)),
	}
}

// shape is a path without its names, as Resource Manager shows operations.
func (q *request) shape() string {
	var b strings.Builder
	for i, s := range strings.Split(strings.Trim(strings.ToUpper(q.raw), "/"), "/") {
		if i%2 == 0 || strings.Contains(s, ".") {
			b.WriteString("/" + name(s))
		}
	}
	return b.String()
}

// countThrottle is what Resource Manager says for providers that let it count.
func (q *request) countThrottle(quota *sim.Quota, wait time.Duration) problem {
	window := time.Duration(quota.Window * float64(time.Second))
	return problem{
		status: http.StatusTooManyRequests, code: "ResourceRequestsThrottled",
		message: fmt.Sprintf("Number of requests for action '%s' exceeded the limit of '%g' for time interval '%s'. Please try again after '%d' seconds.", q.action(), quota.Burst, clock(max(window, time.Second)), whole(wait)),
	}
}

// computeThrottle is Microsoft.Compute's: a code that means something else as
// well, with what it means here in the details.
func (q *request) computeThrottle(quota *sim.Quota) problem {
	now := time.Now().UTC()
	group, err := json.Marshal(object{
		"operationGroup": quota.Name, "startTime": now.Add(-3 * time.Minute).Format(time.RFC3339Nano), "endTime": now.Format(time.RFC3339Nano),
		"allowedRequestCount": quota.Burst, "measuredRequestCount": quota.Burst + 1,
	})
	if err != nil {
		panic(err) // of values that are made above
	}
	return problem{
		status: http.StatusTooManyRequests, code: "OperationNotAllowed",
		message: "The server rejected the request because too many requests have been received for this subscription.",
		details: []any{object{"code": "TooManyRequests", "target": quota.Name, "message": string(group)}},
		more:    object{"innererror": object{"internalErrorCode": "TooManyRequestsReceived"}},
	}
}

// graphThrottle is Resource Graph's.
func (q *request) graphThrottle() problem {
	return problem{
		status: http.StatusTooManyRequests, code: "RateLimiting", message: q.support(),
		details: []any{object{"code": "RateLimiting", "message": "Client application has been throttled and should not attempt to repeat the request until an amount of time has elapsed. Please see https://aka.ms/resourcegraph-throttling for help."}},
	}
}

// support is the message of all of Resource Graph's errors.
func (q *request) support() string {
	return "Please provide below info when asking for support: timestamp = " + stamp() + ", correlationId = " + example(0xdd) + "."
}

// clock writes a time as hours, minutes and seconds.
func clock(d time.Duration) string {
	s := whole(d)
	return fmt.Sprintf("%02d:%02d:%02d", s/3600, s/60%60, s%60)
}
