package azure

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// header is what every answer has.
func (f *Front) header(q *request) http.Header {
	id := fmt.Sprintf("00000000-0000-4000-8000-%012x", f.requests.Add(1)&0xffffffffffff)
	h := http.Header{
		"Content-Type": {"application/json; charset=utf-8"}, "Cache-Control": {"no-cache"}, "Pragma": {"no-cache"}, "Expires": {"-1"},
		"X-Ms-Request-Id": {id}, "X-Ms-Correlation-Request-Id": {id}, "X-Ms-Routing-Request-Id": {"SIMULATED:" + id},
	}
	if q.id != "" {
		h.Set("X-Ms-Client-Request-Id", q.id)
	}
	return h
}

// tellLeft adds the headers that say what the quotas have left.
func tellLeft(h http.Header, c *sim.Call) {
	for _, l := range c.Left {
		left := strconv.Itoa(max(0, int(l.Tokens+1e-6)))
		switch {
		case l.Name == graphQuota:
			h.Set("X-Ms-User-Quota-Remaining", left)
			h.Set("X-Ms-User-Quota-Resets-After", clock(l.Resets))
		case l.Layer != "":
			h.Set("X-Ms-Ratelimit-Remaining-"+l.Layer+"-"+plural[c.Class], left)
		case c.Service == "compute" && l.Name != "":
			h.Set("X-Ms-Ratelimit-Remaining-Resource", "Microsoft.Compute/"+l.Name+";"+left)
		case !strings.Contains(l.Name, "_") && l.Window > 0 && c.Service != "network":
			h.Set("X-Ms-Ratelimit-Remaining-Subscription-Resource-Requests", left)
		}
	}
}

var plural = map[string]string{reading: "reads", writing: "writes", deleting: "deletes"}
