package databricks_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

const insert = "INSERT INTO t VALUES (1)"

// onExecute makes a fault strike executions, by whichever API.
func onExecute(f sim.Fault) func(*sim.Profile) {
	f.Operation = sim.Patterns{"ExecuteStatement", "POST /api/2.0/sql/statements"}
	return func(p *sim.Profile) { p.Faults = []sim.Fault{f} }
}

// TestFaults: every kind of fault is what it is meant to be, in both APIs, and
// tells truly whether the statement ran.
func TestFaults(t *testing.T) {
	const all = 1 << 20
	for _, c := range []struct {
		name   string
		fault  sim.Fault
		is     error // or
		status int
		says   string
		ran    int
	}{
		{"reset", sim.Fault{Kind: sim.Reset}, syscall.ECONNRESET, 0, "", 0},
		{"reset at 0", sim.Fault{Kind: sim.Reset, At: new(0)}, syscall.ECONNRESET, 0, "", 1},
		{"reset in the head", sim.Fault{Kind: sim.Reset, At: new(20)}, nil, 0, "connection broken", 1},
		{"reset in the body", sim.Fault{Kind: sim.Reset, At: new(130)}, syscall.ECONNRESET, 0, "", 1},
		{"reset after all", sim.Fault{Kind: sim.Reset, At: new(all)}, nil, 200, "", 1},
		{"close", sim.Fault{Kind: sim.Close}, io.EOF, 0, "", 0},
		{"close at 0", sim.Fault{Kind: sim.Close, At: new(0)}, io.EOF, 0, "", 1},
		{"close in the head", sim.Fault{Kind: sim.Close, At: new(20)}, nil, 0, "connection broken", 1},
		{"close in the body", sim.Fault{Kind: sim.Close, At: new(130)}, io.ErrUnexpectedEOF, 0, "", 1},
		{"hang", sim.Fault{Kind: sim.Hang}, context.DeadlineExceeded, 0, "", 0},
		{"hang at 0", sim.Fault{Kind: sim.Hang, At: new(0)}, context.DeadlineExceeded, 0, "", 1},
		{"hang in the body", sim.Fault{Kind: sim.Hang, At: new(130)}, context.DeadlineExceeded, 0, "", 1},
		{"cut", sim.Fault{Kind: sim.Cut}, io.ErrUnexpectedEOF, 0, "", 1},
		{"close_mid_body", sim.Fault{Kind: sim.CloseMidBody}, io.ErrUnexpectedEOF, 0, "", 1},
		{"truncated", sim.Fault{Kind: sim.Truncated}, nil, 200, "", 1},
		{"latency", sim.Fault{Kind: sim.Latency, Seconds: 0.001}, nil, 200, "", 1},
		{"wrong", sim.Fault{Kind: sim.Wrong}, nil, 200, "all is well", 0},
		{"http_500", sim.Fault{Kind: sim.HTTP500}, nil, 500, "INTERNAL_ERROR", 0},
		{"http_503", sim.Fault{Kind: sim.HTTP503, RetryAfter: "7"}, nil, 503, "TEMPORARILY_UNAVAILABLE", 0},
		{"429", sim.Fault{Kind: sim.Error, Code: "REQUEST_LIMIT_EXCEEDED", Status: 429, Message: "slow down"}, nil, 429, "slow down", 0},
		{"429 with nonsense", sim.Fault{Kind: sim.Error, Code: "REQUEST_LIMIT_EXCEEDED", Status: 429, RetryAfter: "soon, perhaps"}, nil, 429, "REQUEST_LIMIT_EXCEEDED", 0},
		{"502", sim.Fault{Kind: sim.HTML, Status: 502}, nil, 502, "<html>", 0},
		{"502 with a hint", sim.Fault{Kind: sim.HTML, Status: 502, RetryAfter: "99999999999999999999"}, nil, 502, "<html>", 0},
		{"expired", sim.Fault{Kind: sim.Expired}, nil, 403, "Invalid access token", 0},
		{"denied", sim.Fault{Kind: sim.Denied}, nil, 403, "PERMISSION_DENIED", 0},
		{"denied_by_policy", sim.Fault{Kind: sim.DeniedByPolicy}, nil, 403, "blocked", 0},
		{"region_disabled", sim.Fault{Kind: sim.RegionDisabled}, nil, 403, "blocked", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, thrift := range []bool{true, false} {
				w := start(t, onExecute(c.fault))
				path, body := w.path, []byte(nil)
				if thrift {
					body = encode("ExecuteStatement", fields{1: w.open(t), 2: insert, 4: true}, false)
				} else {
					path, body = "/api/2.0/sql/statements", []byte(`{"statement":"`+insert+`","warehouse_id":"abc","wait_timeout":"0s"}`)
				}
				ctx, cancel := context.WithCancel(t.Context())
				if c.fault.Kind == sim.Hang {
					ctx, cancel = context.WithTimeout(ctx, 60*time.Millisecond)
				}
				a, err := w.send(ctx, http.MethodPost, path, body)
				cancel()
				switch {
				case c.is != nil && !errors.Is(err, c.is):
					t.Errorf("thrift %v: %v, %+v; want %v", thrift, err, a, c.is)
				case c.status == 0 && c.is == nil:
					// net/http takes a head that breaks off for a malformed one.
					if err == nil || !strings.Contains(err.Error(), c.says) {
						t.Errorf("thrift %v: %v, %+v; want %s", thrift, err, a, c.says)
					}
				case c.is == nil && (err != nil || a.status != c.status || !strings.Contains(string(a.body), c.says) || a.header.Get("Retry-After") != c.fault.RetryAfter):
					t.Errorf("thrift %v: %v, %+v", thrift, err, a)
				case thrift && c.status > 400 && c.fault.Kind != sim.HTML && !strings.Contains(a.header.Get("X-Thriftserver-Error-Message"), c.says):
					t.Errorf("no message in the header: %v", a.header)
				}
				if got := w.front.Executions()[insert]; got != c.ran {
					t.Errorf("thrift %v: ran %d times, want %d", thrift, got, c.ran)
				}
				if r := w.server.Report().Totals; c.fault.Kind != sim.Latency && r.Faulted[string(c.fault.Kind)] != 1 {
					t.Errorf("counted %+v", r)
				}
			}
		})
	}
}

// TestEveryByte: wherever in an answer the connection breaks, the client has an
// error and the statement ran; after the last byte there is none.
func TestEveryByte(t *testing.T) {
	whole := start(t, nil)
	session := whole.open(t)
	a, err := whole.send(t.Context(), http.MethodPost, whole.path, encode("ExecuteStatement", fields{1: session, 2: insert, 4: true}, false))
	if err != nil {
		t.Fatal(err)
	}
	body := len(a.body)
	var w *workspace
	at := new(0)
	w = start(t, func(p *sim.Profile) {
		onExecute(sim.Fault{Kind: sim.Close, At: at})(p)
	})
	session = w.open(t)
	errs := 0
	for ; *at < 1000; *at++ {
		_, err := w.execute(t.Context(), session, fmt.Sprint(insert, *at))
		if err == nil {
			break
		}
		errs++
	}
	// The head is the status line, the length and the type.
	if head := errs - body; head < 50 || head > 150 {
		t.Errorf("%d bytes broke an answer whose body has %d", errs, body)
	}
	got := w.front.Executions()
	for i := range errs + 1 {
		if n := got[fmt.Sprint(insert, i)]; n != 1 {
			t.Errorf("broken at %d, the statement ran %d times", i, n)
		}
	}
}

// TestRepeatedExecutionsShow: the instrument sees what it is for. A client that
// repeats an execution whose answer was lost has it run twice.
func TestRepeatedExecutionsShow(t *testing.T) {
	for _, c := range []struct {
		at   *int
		want int
	}{{nil, 1}, {new(0), 2}} {
		f := sim.Fault{Kind: sim.Reset, At: c.at, First: 1}
		w := start(t, onExecute(f))
		session := w.open(t)
		if _, err := w.execute(t.Context(), session, insert); !errors.Is(err, syscall.ECONNRESET) {
			t.Fatal(err)
		}
		if _, err := w.execute(t.Context(), session, insert); err != nil {
			t.Fatal(err)
		}
		if got := w.front.Executions()[insert]; got != c.want {
			t.Errorf("at %v: ran %d times, want %d", c.at, got, c.want)
		}
		r := w.server.Report()
		if e := r.Executions; e.Statements != 1 || e.Executions != c.want || e.Repeated != c.want-1 || e.Most[0] != (sim.Execution{Statement: insert, Executions: c.want}) {
			t.Errorf("reported %+v", r.Executions)
		}
		page, err := w.http.Get(w.url + "/_sim/")
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(page.Body)
		page.Body.Close()
		if err != nil || strings.Contains(string(text), "1 ran more than once") != (c.want == 2) || !strings.Contains(string(text), insert) {
			t.Errorf("%v: %s", err, text)
		}
	}
}

// TestLostPage: a page that was lost is missing, which is why clients may not
// fetch again.
func TestLostPage(t *testing.T) {
	w := start(t, func(p *sim.Profile) {
		p.Warehouse.Polls = 0
		p.Faults = []sim.Fault{{Kind: sim.Close, At: new(200), First: 1, Match: sim.Match{Operation: sim.Patterns{"FetchResults"}}}}
	})
	operation, err := w.execute(t.Context(), w.open(t), "SELECT 1")
	if err != nil {
		t.Fatal(err)
	}
	fetch := fields{1: operation, 3: int64(10)}
	if _, err := w.call(t.Context(), "FetchResults", fetch); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatal(err)
	}
	if reply, err := w.call(t.Context(), "FetchResults", fetch); err != nil || reply.at(3, 1) != int64(2) {
		t.Errorf("after the lost page: %v, %v; want row 2", reply, err)
	}
	for _, again := range []fields{{1: operation, 2: int32(4), 3: int64(10)}, {1: operation, 3: int64(10), 1282: int64(0)}} {
		if reply, err := w.call(t.Context(), "FetchResults", again); err != nil || reply.at(3, 1) != int64(0) {
			t.Errorf("from the first: %v, %v", reply, err)
		}
	}
}

// TestPolls: what breaks polls leaves the statement alone.
func TestPolls(t *testing.T) {
	w := start(t, func(p *sim.Profile) {
		p.Faults = []sim.Fault{{Kind: sim.Reset, Every: 2, Match: sim.Match{Operation: sim.Patterns{"GetOperationStatus"}}}}
	})
	operation, err := w.execute(t.Context(), w.open(t), insert)
	if err != nil {
		t.Fatal(err)
	}
	resets := 0
	for {
		state, _, err := w.finish(t.Context(), operation)
		if err == nil && state == 2 {
			break
		}
		if !errors.Is(err, syscall.ECONNRESET) {
			t.Fatal(state, err)
		}
		resets++
	}
	if resets != 2 || w.front.Executions()[insert] != 1 {
		t.Errorf("%d resets, %v", resets, w.front.Executions())
	}
}

// TestFaultsRefused: what makes no sense is an error.
func TestFaultsRefused(t *testing.T) {
	for file, says := range map[string]string{
		"faults: [{fault: error, code: X, at: 3}]":                                   "faults[0].at",
		"faults: [{fault: reset, at: -1}]":                                           "0 to 1073741824",
		"faults: [{fault: reset, at: x}]":                                            "a whole number",
		"faults: [{fault: reset, retry_after: '5'}]":                                 "only with faults that are errors",
		"faults: [{fault: http_503, retry_after: \"5\\n6\"}]":                        "printable",
		"warehouse: {polls: -1}":                                                     "warehouse.polls",
		"warehouse: {rows: 1000001, page_rows: 0, cold: -1, seconds: x}":             "warehouse.seconds",
		"warehouse: {rows: 1000001, page_rows: 0, cold: -1, retry_after: \"\\x07\"}": "warehouse.retry_after",
		"estate: {assets: 3}":                                                        "one of the keys here",
	} {
		if _, err := sim.Parse(start(t, nil).front, []byte(file)); err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "line 1") {
			t.Errorf("%s: %v, want %q", file, err, says)
		}
	}
	p := sim.Default(start(t, nil).front)
	p.Estate.Assets = 5
	if _, err := sim.New(start(t, nil).front, p); err == nil || !strings.Contains(err.Error(), "no accounts here") {
		t.Errorf("an estate: %v", err)
	}
}

// TestExampleFile: the example is read, and has every key of a warehouse.
func TestExampleFile(t *testing.T) {
	const file = "../testdata/databricks.yaml"
	front := start(t, nil).front
	p, err := sim.Load(front, file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sim.New(front, p); err != nil {
		t.Fatal(err)
	}
	if got := sim.ProviderIn(file); got != "databricks" {
		t.Errorf("the file is of %q", got)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	documentation, err := os.ReadFile("../../../../docs/sim.md")
	if err != nil {
		t.Fatal(err)
	}
	_, err = sim.Parse(front, []byte("warehouse: {nosuchkey: 1}"))
	_, list, ok := strings.Cut(fmt.Sprint(err), "one of the keys here: ")
	if !ok {
		t.Fatal(err)
	}
	list, _, _ = strings.Cut(list, ")")
	for key := range strings.SplitSeq(list, ", ") {
		if !strings.Contains(string(text), "\n  "+key+":") || !strings.Contains(string(documentation), "| `"+key+"` |") {
			t.Errorf("testdata/databricks.yaml or docs/sim.md has no %s", key)
		}
	}
}
