package databricks

import (
	"cmp"
	"encoding/json"
	"math"
	"net/http"
	"strconv"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// problem is an answer that is an error.
type problem struct {
	status        int
	code, message string
}

// refused is a problem as the REST APIs put it.
func refused(p problem) *sim.Answer {
	body, err := json.Marshal(struct {
		Code    string `json:"error_code"`
		Message string `json:"message"`
	}{p.code, p.message})
	if err != nil {
		panic(err) // two strings
	}
	return &sim.Answer{Status: p.status, Header: http.Header{"Content-Type": {"application/json"}}, Body: body}
}

// fail words a problem for the API that is used: Thrift's clients find it in a
// header too.
func (q *request) fail(p problem) sim.Answer {
	a := *refused(p)
	if q.thrift != nil {
		a.Header.Set("X-Thriftserver-Error-Message", p.code+": "+p.message)
	}
	return a
}

// Refuse words a refusal.
func (f *Front) Refuse(c *sim.Call, why sim.Refusal) sim.Answer {
	q, ok := c.Native.(*request)
	if !ok {
		panic("sim: a call of another front")
	}
	p := usual(why.Why)
	a := q.fail(problem{cmp.Or(why.Status, p.status), cmp.Or(why.Code, p.code), cmp.Or(why.Message, p.message)})
	if why.RetryAfter > 0 {
		a.Header.Set("Retry-After", strconv.Itoa(int(math.Ceil(why.RetryAfter.Seconds()))))
	}
	return a
}

func usual(why sim.Why) problem {
	switch why {
	case sim.WhyThrottled:
		return problem{http.StatusTooManyRequests, "REQUEST_LIMIT_EXCEEDED", "The workspace has too many requests. Please try again later."}
	case sim.WhyInternal:
		return problem{http.StatusInternalServerError, "INTERNAL_ERROR", "An internal error occurred."}
	case sim.WhyUnavailable:
		return problem{http.StatusServiceUnavailable, "TEMPORARILY_UNAVAILABLE", "The service is temporarily unavailable."}
	case sim.WhyBadGateway:
		return problem{http.StatusBadGateway, "BAD_GATEWAY", "The upstream of the simulator does not answer."}
	case sim.WhyExpired:
		return problem{http.StatusForbidden, "PERMISSION_DENIED", "Invalid access token."}
	case sim.WhyDenied:
		return problem{http.StatusForbidden, "PERMISSION_DENIED", "You do not have permission to use the SQL warehouse."}
	case sim.WhyDeniedByPolicy, sim.WhyRegionDisabled:
		return problem{http.StatusForbidden, "PERMISSION_DENIED", "Source IP address is blocked by the access lists of the workspace."}
	}
	return problem{http.StatusBadRequest, "BAD_REQUEST", "The simulator was told to answer so."}
}

// Wrong is a well-formed body of another shape.
func (f *Front) Wrong(c *sim.Call) sim.Answer {
	q, ok := c.Native.(*request)
	if !ok {
		panic("sim: a call of another front")
	}
	if q.thrift == nil {
		return sim.Answer{Status: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(`["all is well",{"code":7}]`)}
	}
	w := q.thrift.begin(msgReply)
	w.text(7, "all is well")
	w.end()
	return sim.Answer{Status: http.StatusOK, Header: http.Header{"Content-Type": {"application/x-thrift"}}, Body: w.b}
}
