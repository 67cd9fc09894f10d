package databricks

import (
	"cmp"
	"errors"
	"hash/maphash"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// Front is a workspace: its sessions, the statements that are open, and how often
// each text ran.
type Front struct {
	sessions   store[session]
	operations store[operation]
	executed   tally
	ids        atomic.Uint64
	first      atomic.Int64 // when the first request came, in nanoseconds
}

// New makes one.
func New() *Front { return &Front{executed: tally{seed: maphash.MakeSeed()}} }

// Provider is "databricks".
func (*Front) Provider() string { return "databricks" }

// Kinds has none: a workspace has no estate here.
func (*Front) Kinds() []sim.Kind { return nil }

// Regions has none.
func (*Front) Regions() []string { return nil }

// CheckAccount knows no accounts.
func (*Front) CheckAccount(string) error { return errors.New("none") }

// Quotas has one for the whole workspace. No figures are published for these
// APIs, so it is a generous one.
func (*Front) Quotas() []sim.Quota {
	return []sim.Quota{{Burst: 10_000, Rate: 10_000, Source: "assumed: nothing is published"}}
}

// Executions tells how often each text ran, by either API. Of texts longer than
// 4,096 bytes these are told; after the first 262,144 texts, more are counted as
// "(others)".
func (f *Front) Executions() map[string]int { return f.executed.all() }

// Reset forgets everything, and the warehouse is as cold as at first.
func (f *Front) Reset() {
	f.sessions.clear()
	f.operations.clear()
	f.executed.clear()
	f.ids.Store(0)
	f.first.Store(0)
}

func (f *Front) newID(s sim.Setting) guid { return newID(s.Seed, f.ids.Add(1)) }

// request is what a front's call has as its own.
type request struct {
	warehouse string
	thrift    *message // or
	rest      *call
}

// longest bounds a body. The API takes statements of 16 MiB.
const longest = 17 << 20

// Identify reads what is asked.
func (f *Front) Identify(r *http.Request, s sim.Setting) (*sim.Call, *sim.Answer) {
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	c := &sim.Call{Account: cmp.Or(host, "*"), Region: "*", Service: "sqlexec", Operation: "(unknown)"}
	body, whole := sim.Peek(r, longest-1)
	if !whole {
		return c, refused(problem{http.StatusBadRequest, "BAD_REQUEST", "The body could not be read, or is too long."})
	}
	if warehouse, ok := thriftPath(r.URL.Path); ok {
		return identifyThrift(c, r, body, warehouse)
	}
	q, no := parseCall(r.Method, r.URL.Path, body)
	if q == nil {
		return c, refused(no)
	}
	c.Operation, c.Class, c.Native = q.operation, "rest", &request{warehouse: q.WarehouseID, rest: q}
	c.Item = cmp.Or(q.id, strings.TrimSpace(q.Statement))
	if q.verb == getChunk {
		c.Page = q.chunk + 1
	}
	if no.status != 0 && !s.Upstream {
		return c, refused(no)
	}
	return c, nil
}

func identifyThrift(c *sim.Call, r *http.Request, body []byte, warehouse string) (*sim.Call, *sim.Answer) {
	c.Service, c.Class = "sql", "thrift"
	if r.Method != http.MethodPost {
		return c, refused(problem{http.StatusMethodNotAllowed, "BAD_REQUEST", "Thrift calls are sent with POST."})
	}
	m, ok := parseMessage(body)
	if !ok {
		return c, refused(problem{http.StatusBadRequest, "BAD_REQUEST", "The body is not a call in Thrift's binary protocol."})
	}
	c.Operation, c.Native = m.name, &request{warehouse: warehouse, thrift: m}
	switch {
	case m.name == "ExecuteStatement":
		c.Item = strings.TrimSpace(m.statement)
	case m.operation != guid{}:
		c.Item = m.operation.String()
	}
	return c, nil
}

// thriftPath gives the warehouse's or cluster's id in the paths that drivers use.
func thriftPath(path string) (string, bool) {
	path = strings.TrimSuffix(path, "/")
	for _, prefix := range []string{"/sql/1.0/warehouses/", "/sql/1.0/endpoints/"} {
		if id, ok := strings.CutPrefix(path, prefix); ok {
			return id, id != "" && !strings.Contains(id, "/")
		}
	}
	if rest, ok := strings.CutPrefix(path, "/sql/protocolv1/o/"); ok {
		org, cluster, _ := strings.Cut(rest, "/")
		return cluster, org != "" && cluster != "" && !strings.Contains(cluster, "/")
	}
	return "", false
}

// Answer carries out what is asked, once the warehouse is warm.
func (f *Front) Answer(c *sim.Call, s sim.Setting, e sim.Edit) sim.Answer {
	q, ok := c.Native.(*request)
	if !ok {
		panic("sim: a call of another front")
	}
	if f.cold(s) {
		a := q.fail(problem{http.StatusServiceUnavailable, "TEMPORARILY_UNAVAILABLE", "Warehouse " + cmp.Or(q.warehouse, "of the statement") + " has not been initialized: it is starting."})
		if s.Warehouse.RetryAfter != "" {
			a.Header.Set("Retry-After", s.Warehouse.RetryAfter)
		}
		return a
	}
	if q.thrift != nil {
		h := http.Header{"Content-Type": {"application/x-thrift"}}
		return sim.Answer{Status: http.StatusOK, Header: h, Body: f.thrift(q.thrift, s, e)}
	}
	return f.rest(q.rest, s, e)
}

// cold tells whether the warehouse is still starting. The first request starts it.
func (f *Front) cold(s sim.Setting) bool {
	if s.Warehouse.Cold == 0 {
		return false
	}
	now := time.Now()
	f.first.CompareAndSwap(0, now.UnixNano())
	return time.Duration(now.UnixNano()-f.first.Load()).Seconds()*s.Speed < s.Warehouse.Cold
}
