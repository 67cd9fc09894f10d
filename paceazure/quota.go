package paceazure

import (
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/verdict"
)

// A success tells what is left of the quotas that it was counted in, and is
// believed before a 429 says it (S11.5). What cannot be read says nothing: then the
// bucket's rate and the next throttle see to it.
const (
	// Resource Manager refills a subscription's reads by 25 a second
	// (learn.microsoft.com, "Understand how Azure Resource Manager throttles
	// requests"), so after one second those that are under way are paid for.
	fewReads   = 25
	readsPause = time.Second

	// No refill is published for Compute's policies. The tightest (HighCostGet3Min)
	// brings about one a second.
	fewOfPolicy = 10
	policyPause = 5 * time.Second
)

// told hands on what an answer says is left of the quota that the call's bucket stands for:
// Resource Graph's alone, for the others are of a whole subscription or of one policy of
// several.
func told(call *cloudpace.Call, scope cloudpace.Scope, h http.Header) {
	if scope.Service != graph {
		return
	}
	if left, ok := least(h["X-Ms-User-Quota-Remaining"]); ok {
		call.Left(int(min(left, math.MaxInt32)))
	}
}

// believe pauses what an answer's headers say is nearly used up.
func believe(call *cloudpace.Call, scope cloudpace.Scope, h http.Header) {
	switch {
	case scope.Service == graph:
		if left, ok := least(h["X-Ms-User-Quota-Remaining"]); ok && left == 0 {
			call.Pause(userReset(h["X-Ms-User-Quota-Resets-After"]))
		}
		return
	case scope.Account == "":
		return
	}
	for _, lines := range [][]string{
		h["X-Ms-Ratelimit-Remaining-Subscription-Reads"],
		h["X-Ms-Ratelimit-Remaining-Subscription-Global-Reads"],
	} {
		if left, ok := least(lines); ok && left < fewReads {
			call.PauseAccount(readsPause)
			break
		}
	}
	if left, ok := leastOfPolicies(h["X-Ms-Ratelimit-Remaining-Resource"], scope.Service); ok && left < fewOfPolicy {
		call.Pause(policyPause)
	}
}

// userReset reads when a caller's quota is full again, as verdict reads it.
func userReset(lines []string) time.Duration {
	d, _ := verdict.RetryAfter(&verdict.ResponseError{
		Provider: provider, StatusCode: http.StatusOK, Header: http.Header{"X-Ms-User-Quota-Resets-After": lines},
	})
	return d
}

// least reads a number that may be said several times.
func least(lines []string) (left int64, ok bool) {
	left = math.MaxInt64
	for _, line := range lines {
		if n, readable := count(line); readable {
			left, ok = min(left, n), true
		}
	}
	return left, ok
}

// leastOfPolicies reads Compute's "Microsoft.Compute/HighCostGet3Min;139", several
// in a line or a line each, and gives the lowest number for a namespace.
func leastOfPolicies(lines []string, namespace string) (left int64, ok bool) {
	left = math.MaxInt64
	for _, line := range lines {
		for entry := range strings.SplitSeq(line, ",") {
			policy, number, found := strings.Cut(entry, ";")
			if !found || !policyOf(strings.TrimSpace(policy), namespace) {
				continue
			}
			if n, readable := count(number); readable {
				left, ok = min(left, n), true
			}
		}
	}
	return left, ok
}

func policyOf(policy, namespace string) bool {
	const vendor = "microsoft."
	rp, name, ok := strings.Cut(policy, "/")
	return ok && name != "" && len(rp) > len(vendor) &&
		strings.EqualFold(rp[:len(vendor)], vendor) && strings.EqualFold(rp[len(vendor):], namespace)
}

// count reads digits. A number too large is the largest.
func count(s string) (int64, bool) {
	s = strings.Trim(s, " \t")
	if s == "" {
		return 0, false
	}
	n := int64(0)
	for i := range len(s) {
		d := int64(s[i]) - '0'
		switch {
		case d < 0 || d > 9:
			return 0, false
		case n > (math.MaxInt64-d)/10:
			n = math.MaxInt64
		default:
			n = n*10 + d
		}
	}
	return n, true
}
