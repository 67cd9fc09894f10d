package databricks_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim/databricks"
)

// result is a chunk, as clients read it.
type result struct {
	Index int        `json:"chunk_index"`
	Next  *int       `json:"next_chunk_index"`
	Link  string     `json:"next_chunk_internal_link"`
	Data  [][]string `json:"data_array"`
}

// described is an answer about a statement, or a result, or an error.
type described struct {
	ID     string `json:"statement_id"`
	Status struct {
		State string `json:"state"`
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	} `json:"status"`
	Manifest struct {
		Chunks int `json:"total_chunk_count"`
		Rows   int `json:"total_row_count"`
	} `json:"manifest"`
	Result  result `json:"result"`
	Code    string `json:"error_code"`
	Message string `json:"message"`
	result
	status int
}

// rest makes a call of the Statement Execution API.
func (w *workspace) rest(t *testing.T, method, path, body string) described {
	t.Helper()
	a, err := w.send(t.Context(), method, path, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	d := described{status: a.status}
	if err := json.Unmarshal(a.body, &d); err != nil {
		t.Fatalf("%v: %s", err, a.body)
	}
	return d
}

const execute = `{"statement":"SELECT 1","warehouse_id":"abc","wait_timeout":"%s","on_wait_timeout":"%s"}`

// TestREST: a statement from its beginning to its end, with and without slashes.
func TestREST(t *testing.T) {
	for _, slash := range []string{"", "/"} {
		w := start(t, nil)
		d := w.rest(t, http.MethodPost, databricks.StatementsPath+slash, fmt.Sprintf(execute, "0s", "CONTINUE"))
		if d.status != 200 || d.Status.State != "PENDING" || len(d.ID) != 36 || d.Result.Data != nil {
			t.Fatalf("%+v", d)
		}
		path := databricks.StatementsPath + "/" + d.ID
		if d := w.rest(t, http.MethodGet, path+"/result/chunks/0"+slash, ""); d.status != 400 || d.Code != "INVALID_STATE" {
			t.Errorf("a chunk of a statement that runs: %+v", d)
		}
		polls := 0
		for d.Status.State != "SUCCEEDED" {
			polls++
			d = w.rest(t, http.MethodGet, path+slash, "")
		}
		if polls != 3 || d.Manifest.Chunks != 3 || d.Manifest.Rows != 5 {
			t.Errorf("%d polls, %+v", polls, d)
		}
		rows, chunk := d.Result.Data, d.Result
		for chunk.Next != nil {
			if chunk.Link != fmt.Sprintf("%s/result/chunks/%d", path, *chunk.Next) {
				t.Fatalf("link %q", chunk.Link)
			}
			chunk = w.rest(t, http.MethodGet, chunk.Link+slash, "").result
			rows = append(rows, chunk.Data...)
		}
		if len(rows) != 5 || rows[4][0] != "4" || rows[4][1] != "row-00004" {
			t.Errorf("rows %v", rows)
		}
		for i, want := range []int{200, 404} {
			if d := w.rest(t, http.MethodDelete, path+slash, ""); d.status != want {
				t.Errorf("close %d: %+v", i+1, d)
			}
		}
		if d := w.rest(t, http.MethodGet, path+slash, ""); d.status != 404 || d.Code != "RESOURCE_DOES_NOT_EXIST" {
			t.Errorf("a closed statement: %+v", d)
		}
		if got := w.front.Executions(); len(got) != 1 || got["SELECT 1"] != 1 {
			t.Errorf("executions %v", got)
		}
	}
}

// TestWait: the time that the client waits passes at once; a statement that takes
// longer runs on, or is canceled.
func TestWait(t *testing.T) {
	for _, c := range []struct {
		seconds    float64
		wait, then string
		want       string
	}{
		{0, "", "", "SUCCEEDED"},
		{8, "10s", "", "SUCCEEDED"},
		{20, "10s", "CONTINUE", "PENDING"},
		{20, "10s", "CANCEL", "CANCELED"},
		{20, "50s", "CANCEL", "SUCCEEDED"},
	} {
		w := start(t, func(p *sim.Profile) { p.Warehouse.Seconds = c.seconds })
		if d := w.rest(t, http.MethodPost, databricks.StatementsPath, fmt.Sprintf(execute, c.wait, c.then)); d.Status.State != c.want {
			t.Errorf("%v s, wait %s, then %s: %s, want %s", c.seconds, c.wait, c.then, d.Status.State, c.want)
		}
	}
}

// TestRESTEnds: canceled and failed.
func TestRESTEnds(t *testing.T) {
	w := start(t, nil)
	d := w.rest(t, http.MethodPost, databricks.StatementsPath, fmt.Sprintf(execute, "0s", ""))
	path := databricks.StatementsPath + "/" + d.ID
	if d := w.rest(t, http.MethodPost, path+"/cancel", ""); d.status != 200 {
		t.Errorf("%+v", d)
	}
	if d := w.rest(t, http.MethodGet, path, ""); d.Status.State != "CANCELED" {
		t.Errorf("%+v", d)
	}
	d = w.rest(t, http.MethodPost, databricks.StatementsPath, `{"warehouse_id":"abc","statement":"SELECT raise_error('boo')"}`)
	if d.status != 200 || d.Status.State != "FAILED" || !strings.Contains(d.Status.Error.Message, "boo") {
		t.Errorf("%+v", d)
	}
}

// TestRESTRefused: what is no call is refused, and nothing is executed.
func TestRESTRefused(t *testing.T) {
	w := start(t, nil)
	const none = "00000000-0000-0000-0000-000000000000"
	for _, c := range []struct {
		method, path, body string
		status             int
		code               string
	}{
		{"POST", "", "", 400, "MALFORMED_REQUEST"},
		{"POST", "", "[1]", 400, "MALFORMED_REQUEST"},
		{"POST", "", `{"warehouse_id":"abc"}`, 400, "INVALID_PARAMETER_VALUE"},
		{"POST", "", `{"statement":"SELECT 1"}`, 400, "INVALID_PARAMETER_VALUE"},
		{"POST", "", fmt.Sprintf(execute, "4s", ""), 400, "INVALID_PARAMETER_VALUE"},
		{"POST", "", fmt.Sprintf(execute, "10", ""), 400, "INVALID_PARAMETER_VALUE"},
		{"POST", "", fmt.Sprintf(execute, "10s", "STOP"), 400, "INVALID_PARAMETER_VALUE"},
		{"POST", "", fmt.Sprintf(execute, "0s", "CANCEL"), 400, "INVALID_PARAMETER_VALUE"},
		{"POST", "", `{"statement":"SELECT 1","warehouse_id":"abc","disposition":"EXTERNAL_LINKS"}`, 501, "NOT_IMPLEMENTED"},
		{"GET", "", "", 404, "ENDPOINT_NOT_FOUND"},
		{"PUT", "/" + none, "", 404, "ENDPOINT_NOT_FOUND"},
		{"GET", "s", "", 404, "ENDPOINT_NOT_FOUND"},
		{"GET", "/" + none + "/result/chunks/x", "", 404, "ENDPOINT_NOT_FOUND"},
		{"GET", "/" + none + "/result/chunks/-1", "", 404, "ENDPOINT_NOT_FOUND"},
		{"GET", "/" + none, "", 404, "RESOURCE_DOES_NOT_EXIST"},
		{"GET", "/none", "", 404, "RESOURCE_DOES_NOT_EXIST"},
		{"POST", "/" + none + "/cancel", "", 404, "RESOURCE_DOES_NOT_EXIST"},
	} {
		if d := w.rest(t, c.method, databricks.StatementsPath+c.path, c.body); d.status != c.status || d.Code != c.code || d.Message == "" {
			t.Errorf("%s %s %s: %+v", c.method, c.path, c.body, d)
		}
	}
	if got := w.front.Executions(); len(got) != 0 {
		t.Errorf("executed %v", got)
	}
}

// TestOneStatementBothWays: the APIs have one workspace.
func TestOneStatementBothWays(t *testing.T) {
	w := start(t, nil)
	operation, err := w.execute(t.Context(), w.open(t), "SELECT 1")
	if err != nil {
		t.Fatal(err)
	}
	guid, _ := operation.(fields).at(1, 1).(string)
	id := fmt.Sprintf("%x-%x-%x-%x-%x", guid[:4], guid[4:6], guid[6:8], guid[8:10], guid[10:])
	if d := w.rest(t, http.MethodGet, databricks.StatementsPath+"/"+id, ""); d.status != 200 || d.ID != id {
		t.Errorf("%+v", d)
	}
}

// TestCold: from the first request until it is warm a warehouse says that it is
// starting, with the hint that it was given, and runs nothing.
func TestCold(t *testing.T) {
	for _, hint := range []string{"", "5", "soon"} {
		for _, speed := range []float64{1, 10} {
			synctest.Test(t, func(t *testing.T) {
				front := databricks.New()
				p := sim.Default(front)
				p.Speed, p.Warehouse.Cold, p.Warehouse.RetryAfter = speed, 60, hint
				server, err := sim.New(front, p)
				if err != nil {
					t.Fatal(err)
				}
				w := inMemory(t, front, server)
				time.Sleep(time.Hour) // before the first request nothing starts
				begun := time.Now()
				for {
					a, err := w.send(t.Context(), http.MethodPost, w.path, encode("OpenSession", fields{1: int32(-7)}, false))
					if err != nil {
						t.Fatal(err)
					}
					if a.status == http.StatusOK {
						break
					}
					if said := a.header.Get("X-Thriftserver-Error-Message"); a.status != 503 || a.header.Get("Retry-After") != hint || !strings.Contains(said, "has not been initialized") {
						t.Fatalf("%+v", a)
					}
					time.Sleep(time.Second)
				}
				if took, want := time.Since(begun), time.Duration(float64(time.Minute)/speed); took != want {
					t.Errorf("warm after %s, want %s", took, want)
				}
				server.Reset()
				if d := w.rest(t, http.MethodPost, databricks.StatementsPath, fmt.Sprintf(execute, "0s", "")); d.status != 503 || d.Code != "TEMPORARILY_UNAVAILABLE" {
					t.Errorf("after a reset: %+v", d)
				}
				if got := front.Executions(); len(got) != 0 {
					t.Errorf("a cold warehouse ran %v", got)
				}
			})
		}
	}
}

// TestSeconds: a statement runs for its time, however often it is asked about.
func TestSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		front := databricks.New()
		p := sim.Default(front)
		p.Speed, p.Warehouse.Seconds, p.Warehouse.Polls = 2, 60, 0
		server, err := sim.New(front, p)
		if err != nil {
			t.Fatal(err)
		}
		w := inMemory(t, front, server)
		operation, err := w.execute(t.Context(), w.open(t), "SELECT 1")
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		for {
			reply, err := w.call(t.Context(), "GetOperationStatus", fields{1: operation})
			if err != nil {
				t.Fatal(err)
			}
			if reply[2] != int32(1) {
				break
			}
			time.Sleep(time.Second)
		}
		if took := time.Since(begun); took != 30*time.Second {
			t.Errorf("it took %s, want 30 s", took)
		}
	})
}

// TestQuota: what is too much is refused with 429, and the hint that the quota has.
func TestQuota(t *testing.T) {
	for _, hint := range []float64{0, 3} {
		w := start(t, func(p *sim.Profile) {
			p.Quotas = []sim.Quota{{Match: sim.Match{Operation: sim.Patterns{"OpenSession"}}, Burst: 2, Rate: 0.001, RetryAfter: hint}}
		})
		w.open(t)
		w.open(t)
		a, err := w.send(t.Context(), http.MethodPost, w.path, encode("OpenSession", fields{1: int32(-7)}, false))
		want := ""
		if hint > 0 {
			want = "3"
		}
		if err != nil || a.status != 429 || a.header.Get("Retry-After") != want || !strings.Contains(string(a.body), "REQUEST_LIMIT_EXCEEDED") {
			t.Errorf("%+v, %v", a, err)
		}
	}
}
