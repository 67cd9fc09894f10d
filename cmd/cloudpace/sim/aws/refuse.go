package aws

import (
	"cmp"
	"fmt"
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

// Refuse words a refusal as the service does.
func (f Front) Refuse(c *sim.Call, why sim.Refusal) sim.Answer {
	q, ok := c.Native.(*request)
	if !ok {
		panic("sim: a call of another front")
	}
	p := q.service.problem(why.Why, q)
	p = problem{cmp.Or(why.Status, p.status), cmp.Or(why.Code, p.code), cmp.Or(why.Message, p.message)}
	a := q.fail(p)
	// Lambda's model has a hint, in whole seconds. No other of the services here
	// documents one.
	hint := why.RetryAfter
	if hint == 0 && q.service.name == "lambda" {
		hint = why.Wait
	}
	if hint > 0 {
		a.Header.Set("Retry-After", strconv.Itoa(int(math.Ceil(hint.Seconds()))))
	}
	return a
}

// problem gives a service's own answer for a reason. The differences are AWS's.
func (s *service) problem(why sim.Why, q *request) problem {
	ec2, isJSON, s3 := s.protocol == ec2Query, !s.xml(), s.name == "s3"
	isRest := s.protocol == restJSON
	pick := func(forEC2, forS3, forQuery, forJSON problem) problem {
		switch {
		case ec2:
			return forEC2
		case s3:
			return forS3
		case isJSON:
			if !isRest && forJSON.status == http.StatusForbidden {
				forJSON.status = http.StatusBadRequest // what JSON services say to all that is the client's
			}
			return forJSON
		}
		return forQuery
	}
	const (
		bad, forbidden = http.StatusBadRequest, http.StatusForbidden
		invalidToken   = "The security token included in the request is invalid"
		expired        = "The security token included in the request is expired"
		rate           = "Rate exceeded"
	)
	action := actionPrefix(s.name) + ":" + q.name
	who := fmt.Sprintf("User: arn:aws:sts::%s:assumed-role/Simulated/sim is not authorized to perform: %s", cmp.Or(q.account, "111122223333"), action)
	no := who + " because no identity-based policy allows the " + action + " action"
	never := who + " with an explicit deny in a service control policy"
	switch why {
	case sim.WhyThrottled:
		if s.throttled.code != "" {
			return s.throttled
		}
		return pick(
			problem{http.StatusServiceUnavailable, "RequestLimitExceeded", "Request limit exceeded."}, s.throttled,
			problem{bad, "Throttling", rate}, problem{bad, "ThrottlingException", rate},
		)
	case sim.WhyInternal:
		return pick(
			problem{500, "InternalError", "An internal error has occurred"}, problem{500, "InternalError", "We encountered an internal error. Please try again."},
			problem{500, "InternalFailure", "The request processing has failed because of an unknown error."}, problem{500, "InternalFailure", "The request processing has failed because of an unknown error."},
		)
	case sim.WhyUnavailable:
		return pick(
			problem{503, "Unavailable", "The service is unavailable. Please try again shortly."}, problem{503, "ServiceUnavailable", "Service is unable to handle request."},
			problem{503, "ServiceUnavailable", "The request has failed due to a temporary failure of the server."}, problem{503, "ServiceUnavailableException", "The request has failed due to a temporary failure of the server."},
		)
	case sim.WhyBadGateway:
		return problem{http.StatusBadGateway, "BadGateway", "The upstream of the simulator does not answer."}
	case sim.WhyExpired:
		return pick(
			problem{bad, "RequestExpired", "Request has expired."}, problem{bad, "ExpiredToken", "The provided token has expired."},
			problem{forbidden, "ExpiredToken", expired}, problem{forbidden, "ExpiredTokenException", expired},
		)
	case sim.WhyDenied:
		return pick(
			problem{forbidden, "UnauthorizedOperation", "You are not authorized to perform this operation. " + no}, problem{forbidden, "AccessDenied", no},
			problem{forbidden, denied(s.name), no}, problem{forbidden, "AccessDeniedException", no},
		)
	case sim.WhyDeniedByPolicy:
		return pick(
			problem{forbidden, "UnauthorizedOperation", "You are not authorized to perform this operation. " + never}, problem{forbidden, "AccessDenied", never},
			problem{forbidden, denied(s.name), never}, problem{forbidden, "AccessDeniedException", never},
		)
	case sim.WhyRegionDisabled:
		return pick(
			problem{http.StatusUnauthorized, "AuthFailure", "AWS was not able to validate the provided access credentials"}, problem{bad, "InvalidToken", "The provided token is malformed or otherwise invalid."},
			problem{forbidden, "InvalidClientTokenId", invalidToken}, problem{forbidden, "UnrecognizedClientException", invalidToken},
		)
	}
	return problem{bad, "InternalFailure", "The simulator was told to answer so."}
}

// unknownKey is what is said to a key that nobody has.
func (s *service) unknownKey() problem {
	if s.name == "s3" {
		return problem{http.StatusForbidden, "InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist in our records."}
	}
	return s.problem(sim.WhyRegionDisabled, &request{service: s})
}

func denied(service string) string {
	if service == "sns" {
		return "AuthorizationError"
	}
	return "AccessDenied"
}

// actionPrefix is what IAM calls a service.
func actionPrefix(service string) string {
	switch service {
	case "elbv2", "elb":
		return "elasticloadbalancing"
	case "resourcegroupstaggingapi":
		return "tag"
	}
	return service
}

// Wrong is a well-formed body of another shape: what a proxy, or an API of
// another name, might say.
func (f Front) Wrong(c *sim.Call) sim.Answer {
	q, ok := c.Native.(*request)
	if !ok {
		panic("sim: a call of another front")
	}
	h := http.Header{}
	if q.service.xml() {
		h.Set("Content-Type", "text/xml;charset=UTF-8")
		return sim.Answer{Status: http.StatusOK, Header: h, Body: []byte(`<?xml version="1.0" encoding="UTF-8"?><status><code>7</code><text>all is well</text></status>`)}
	}
	h.Set("Content-Type", q.service.contentType())
	if q.service.protocol == rpcCBOR {
		h.Set("Smithy-Protocol", "rpc-v2-cbor")
		return sim.Answer{Status: http.StatusOK, Header: h, Body: appendCBOR(nil, list{"", []any{"all is well", fields("code", 7)}})}
	}
	return sim.Answer{Status: http.StatusOK, Header: h, Body: []byte(`["all is well",{"code":7}]`)}
}
