package databricks

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// fuzzed is a server without quotas, cold starts or anything else in the way.
func fuzzed(f *testing.F) (*Front, *sim.Server) {
	front := New()
	p := sim.Default(front)
	p.Quotas = nil
	server, err := sim.New(front, p)
	if err != nil {
		f.Fatal(err)
	}
	return front, server
}

// FuzzThrift: whatever is sent is answered, and what is told of it can be shown.
func FuzzThrift(f *testing.F) {
	call := func(name string, old bool, arguments func(w *writer)) []byte {
		w := (&message{name: name, seq: 1, strict: !old}).begin(msgCall)
		w.begin(1)
		arguments(w)
		w.end()
		w.end()
		return w.b
	}
	handle := func(w *writer) { w.handle(1, newID(1, 1)); w.end() }
	for _, old := range []bool{false, true} {
		f.Add(call("OpenSession", old, func(w *writer) { w.i32(1, -7); w.i64(1282, 42246) }))
		f.Add(call("ExecuteStatement", old, func(w *writer) {
			handle(w)
			w.text(2, "SELECT raise_error('x')")
			w.bool(4, false)
			w.begin(1281)
			w.i64(1, 10)
			w.end()
			w.field(tMap, 3)
			w.b = append(w.b, tString, tString)
			w.length(0)
		}))
		f.Add(call("FetchResults", old, func(w *writer) { handle(w); w.i32(2, 4); w.i64(3, 10); w.i64(1282, 1); w.bool(1283, true) }))
		f.Add(call("GetOperationStatus", old, handle))
		f.Add(call("CloseSession", old, handle))
		f.Add(call("NoSuchMethod", old, func(w *writer) { w.list(9, tStruct, 0) }))
	}
	f.Add([]byte{0x80, 1, 0, 1, 0x7f, 0xff, 0xff, 0xff})
	f.Add([]byte{0x82, 0x21, 0x01})
	front, server := fuzzed(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		// The sessions and statements that the seeds name.
		front.sessions.add(newID(1, 1), &session{open: make(map[guid]bool)})
		front.operations.add(newID(1, 1), &operation{id: newID(1, 1)})
		m, ok := parseMessage(body)
		if ok && (m == nil || !named(m.name)) {
			t.Fatalf("%+v", m)
		}
		w := httptest.NewRecorder()
		server.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/sql/1.0/warehouses/abc", bytes.NewReader(body)))
		if ok != (w.Code == http.StatusOK) || !ok && w.Code != http.StatusBadRequest {
			t.Errorf("status %d, and it is a call: %v", w.Code, ok)
		}
		if !ok {
			return
		}
		// The reply is one struct behind the header of its dialect.
		header := 12 + len(m.name)
		if !m.strict {
			header = 9 + len(m.name)
		}
		r := &reader{b: w.Body.Bytes()}
		r.take(header)
		if r.skip(tStruct); r.bad || len(r.b) > 0 {
			t.Errorf("the reply cannot be read: %x", w.Body.Bytes())
		}
	})
}

// FuzzReader: a struct of whatever bytes is read to its end or refused.
func FuzzReader(f *testing.F) {
	f.Add([]byte{tStruct, 0, 1, tStop, tStop})
	f.Add([]byte{tList, 0, 1, tStruct, 0, 0, 0, 2, tStop, tStop, tStop})
	f.Add([]byte{tMap, 0, 1, tString, tI64, 0x7f, 0xff, 0xff, 0xff, tStop})
	f.Add([]byte(strings.Repeat("\x0c\x00\x01", 100)))
	f.Fuzz(func(t *testing.T, body []byte) {
		r := &reader{b: body}
		r.skip(tStruct)
		if r.depth < 0 || !r.bad && r.depth != 0 || len(r.b) > len(body) {
			t.Errorf("%+v", r)
		}
	})
}

// FuzzREST: whatever is sent is answered, and runs only if it was accepted.
func FuzzREST(f *testing.F) {
	const id = "b84fb46b-9fe3-4aff-0b5a-111c601e3d1a"
	f.Add("POST", "", `{"statement":"SELECT 1","warehouse_id":"x","wait_timeout":"0s","on_wait_timeout":"CONTINUE","disposition":"INLINE","format":"JSON_ARRAY"}`)
	f.Add("POST", "/", `{"statement":"raise_error('x')","warehouse_id":"x","wait_timeout":"5s","on_wait_timeout":"CANCEL"}`)
	f.Add("GET", "/"+id, "")
	f.Add("GET", "/"+id+"/result/chunks/1/", "")
	f.Add("POST", "/"+id+"/cancel", "{")
	f.Add("DELETE", "/"+id, "")
	f.Add("PUT", "//", "[]")
	front, server := fuzzed(f)
	f.Fuzz(func(t *testing.T, method, path, body string) {
		r, err := http.NewRequestWithContext(t.Context(), method, "http://sim"+StatementsPath+path, strings.NewReader(body))
		if err != nil {
			t.Skip()
		}
		front.executed.clear()
		w := httptest.NewRecorder()
		server.ServeHTTP(w, r)
		ran := len(front.executed.all()) > 0
		c, p := parseCall(r.Method, r.URL.Path, []byte(body))
		if accepted := c != nil && c.verb == create && p.status == 0; ran != accepted {
			t.Errorf("ran %v, accepted %v, status %d", ran, accepted, w.Code)
		}
		if w.Code != 200 && !strings.Contains(w.Body.String(), `"error_code":"`) {
			t.Errorf("status %d: %s", w.Code, w.Body)
		}
	})
}
