package databricks

import (
	"encoding/binary"
	"net/url"
	"strings"
	"testing"
)

// message is a Thrift call up to the first id, and a secret behind it.
func message(strict bool, name string, kind byte) []byte {
	var b []byte
	if strict {
		b = append(b, 0x80, 0x01, 0, kind)
	}
	b = binary.BigEndian.AppendUint32(b, uint32(len(name)))
	b = append(b, name...)
	if !strict {
		b = append(b, kind)
	}
	b = append(b, 0, 0, 0, 1)
	b = append(b, toID...)
	b = append(b, "\x01\xef\x99\x99\x88\x88\x77\x77\x66\x66\x55\x55\x44\x44\x33\x33"...)
	return append(b, "\x0b\x00\x02\x00\x00\x00\x10secretsecretsecr"...)
}

const id = "01ef9999-8888-7777-6666-555544443333"

func TestS14_1_ThriftHeaders(t *testing.T) {
	for _, strict := range []bool{true, false} {
		for _, c := range []struct {
			name, session, query string
			repeatable           bool
		}{
			{"GetOperationStatus", "", id, true},
			{"CancelOperation", "", id, true},
			{"CloseOperation", "", id, true},
			{"CloseSession", id, "", true},
			{"FetchResults", "", id, false},
			{"GetResultSetMetadata", "", id, false},
			{"ExecuteStatement", id, "", false},
			{"OpenSession", "", "", false},
			{"GetTables", id, "", false},
			{"SomethingNew", "", "", false},
		} {
			got, ok := Thrift(message(strict, c.name, typeCall))
			if !ok || got.Service != "sql" || got.Name != c.name || got.SessionID() != c.session || got.QueryID() != c.query || got.Repeatable != c.repeatable {
				t.Errorf("%s, strict %v: %+v, %v", c.name, strict, got, ok)
			}
			if n := Method(c.name); n.Repeatable != c.repeatable || n.Name != c.name {
				t.Errorf("by name: %+v", n)
			}
		}
		if _, ok := Thrift(message(strict, "CloseOperation", typeOneway)); !ok {
			t.Error("a oneway call is a call")
		}
		for _, kind := range []byte{0, typeReply, typeException, 5, 255} {
			if c, ok := Thrift(message(strict, "GetOperationStatus", kind)); ok {
				t.Errorf("type %d: %+v", kind, c)
			}
		}
	}
}

// What cannot be read is no command: it is sent once.
func TestS14_1_WhatIsNoThrift(t *testing.T) {
	whole := message(true, "GetOperationStatus", typeCall)
	old := message(false, "GetOperationStatus", typeCall)
	for name, head := range map[string][]byte{
		"empty":              nil,
		"three bytes":        whole[:3],
		"no name":            whole[:8],
		"half a name":        whole[:12],
		"no sequence number": whole[:4+4+18+3],
		"old, no type":       old[:4+18],
		"compact":            append([]byte{0x82, 0x21, 0x01, 0x12}, "GetOperationStatus"...),
		"JSON":               []byte(`{"statement":"SELECT 1"}`),
		"a form":             []byte("grant_type=client_credentials&scope=all-apis"),
		"a length that lies": append([]byte{0x80, 1, 0, 1, 0, 0, 0, 60}, "GetOperationStatus"...),
		"a negative length":  append([]byte{0x80, 1, 0, 1, 0xff, 0xff, 0xff, 0xff}, "GetOperationStatus"...),
		"a huge length":      append([]byte{0x80, 1, 0, 1, 0x7f, 0xff, 0xff, 0xff}, whole...),
		"no length":          append([]byte{0x80, 1, 0, 1, 0, 0, 0, 0}, whole...),
		"no name's letters":  message(true, "Get Operation", typeCall),
		"another version":    append([]byte{0x80, 2, 0, 1}, whole[4:]...),
	} {
		if c, ok := Thrift(head); ok {
			t.Errorf("%s: %+v", name, c)
		}
	}
	// A message whose ids are elsewhere, or cut off, is known by its name.
	for n := 4 + 4 + 18 + 4; n < 4+4+18+4+len(toID)+16; n++ {
		if c, ok := Thrift(whole[:n]); !ok || c.Name != "GetOperationStatus" || c.QueryID() != "" {
			t.Errorf("%d bytes: %+v, %v", n, c, ok)
		}
	}
}

func TestS14_1_RESTPaths(t *testing.T) {
	for _, c := range []struct {
		method, path, service, name, query string
		repeatable                         bool
	}{
		{"POST", "/api/2.0/sql/statements", "sqlexec", "POST /api/2.0/sql/statements", "", false},
		{"POST", "/api/2.0/sql/statements/", "sqlexec", "POST /api/2.0/sql/statements", "", false},
		{"GET", "/api/2.0/sql/statements/" + id, "sqlexec", "GET /api/2.0/sql/statements/{id}", id, true},
		{"GET", "/api/2.0/sql/statements/" + id + "/", "sqlexec", "GET /api/2.0/sql/statements/{id}", id, true},
		{"", "/api/2.0/sql/statements/" + id, "sqlexec", "GET /api/2.0/sql/statements/{id}", id, true},
		{"GET", "/api/2.0/sql/statements/" + id + "/result/chunks/3", "sqlexec", "GET /api/2.0/sql/statements/{id}/result/chunks/{id}", id, true},
		{"GET", "/api/2.1/sql/statements/" + id + "/result/chunks/3/", "sqlexec", "GET /api/2.1/sql/statements/{id}/result/chunks/{id}", id, true},
		{"POST", "/api/2.0/sql/statements/" + id + "/cancel", "sqlexec", "POST /api/2.0/sql/statements/{id}/cancel", id, true},
		{"POST", "/api/2.0/sql/statements/" + id + "/cancel/", "sqlexec", "POST /api/2.0/sql/statements/{id}/cancel", id, true},
		{"DELETE", "/api/2.0/sql/statements/" + id, "sqlexec", "DELETE /api/2.0/sql/statements/{id}", id, true},
		{"POST", "/api/2.0/sql/statements/" + id, "sqlexec", "POST /api/2.0/sql/statements/{id}", id, false},
		{"PUT", "/api/2.0/sql/statements/" + id + "/cancel", "sqlexec", "PUT /api/2.0/sql/statements/{id}/cancel", id, false},
		{"DELETE", "/api/2.0/sql/statements", "sqlexec", "DELETE /api/2.0/sql/statements", "", false},
		{"POST", "/api/2.0/sql/statements/cancel", "sqlexec", "POST /api/2.0/sql/statements/{id}", "cancel", false},
		{"GET", "/api/2.0/sql/statementsandmore", "statementsandmore", "GET /api/2.0/sql/statementsandmore", "", true},
		{"GET", "/api/2.1/jobs/runs/get", "jobs", "GET /api/2.1/jobs/runs/get", "", true},
		{"POST", "/api/2.1/jobs/run-now", "jobs", "POST /api/2.1/jobs/run-now", "", false},
		{"DELETE", "/api/2.0/secrets/scopes/s1", "secrets", "DELETE /api/2.0/secrets/scopes/{id}", "", false},
		{"GET", "/api/2.0/sql/warehouses/a1b2", "warehouses", "GET /api/2.0/sql/warehouses/{id}", "", true},
	} {
		got, ok := REST(c.method, c.path)
		if !ok || got.Service != c.service || got.Name != c.name || got.QueryID() != c.query || got.Repeatable != c.repeatable || got.SessionID() != "" {
			t.Errorf("%s %s: %+v, %v", c.method, c.path, got, ok)
		}
	}
	for _, path := range []string{"", "/", "/api", "/api/", "/api/2.0", "/api/2.0/", "/sql/1.0/warehouses/a1", "/telemetry-ext", "/apis/2.0/x", "/api/2.0//x", "/api/2.0/connector-service/feature-flags/GOLANG/1.6.1"} {
		if c, ok := REST("GET", path); ok {
			t.Errorf("%q: %+v", path, c)
		}
	}
}

func TestS14_2_RefusedInsideA200(t *testing.T) {
	reply := func(kind byte, status byte) []byte {
		b := binary.BigEndian.AppendUint32([]byte{0x80, 1, 0, kind}, 14)
		b = append(b, "CloseOperation\x00\x00\x00\x01"...)
		return append(append(b, toStatus...), 0, 0, 0, status, 0, 0)
	}
	for want, b := range map[string][]byte{
		"ERROR_STATUS": reply(typeReply, 3), "INVALID_HANDLE_STATUS": reply(typeReply, 4), "EXCEPTION": reply(typeException, 0),
	} {
		if got := Refused(b); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for _, b := range [][]byte{nil, {0x80}, reply(typeReply, 0), reply(typeReply, 2), reply(typeCall, 3), reply(typeReply, 3)[:20], []byte("<html>"), []byte(strings.Repeat("\x00", 100))} {
		if got := Refused(b); got != "" {
			t.Errorf("%q: %q", b, got)
		}
	}
}

func TestWorkspace(t *testing.T) {
	for from, want := range map[string]string{
		"https://DBC-1.example.com:443/sql": "dbc-1.example.com", "https://dbc-1.example.com/x": "dbc-1.example.com",
		"http://127.0.0.1:8080": "127.0.0.1:8080", "http://example.com:80/": "example.com", "https://example.com:80": "example.com:80",
	} {
		u, err := url.Parse(from)
		if err != nil {
			t.Fatal(err)
		}
		if got := Workspace(u); got != want {
			t.Errorf("%s: %s, want %s", from, got, want)
		}
	}
}

func TestReadingAPollAllocatesNothing(t *testing.T) {
	head := message(true, "GetOperationStatus", typeCall)
	if n := testing.AllocsPerRun(100, func() { Thrift(head) }); n > 0 {
		t.Errorf("Thrift: %v allocations", n)
	}
	if n := testing.AllocsPerRun(100, func() { REST("GET", "/api/2.0/sql/statements/"+id) }); n > 0 {
		t.Errorf("REST: %v allocations", n)
	}
}

func FuzzThrift(f *testing.F) {
	f.Add(message(true, "GetOperationStatus", typeCall))
	f.Add(message(false, "CloseSession", typeCall))
	f.Add([]byte{0x82, 0x21, 0x01, 0x12})
	f.Fuzz(func(t *testing.T, head []byte) {
		c, ok := Thrift(head)
		if !ok {
			return
		}
		if c.Name == "" || len(c.Name) > longestName || c.Repeatable && !strings.Contains("GetOperationStatus CancelOperation CloseOperation CloseSession", c.Name) {
			t.Errorf("%+v", c)
		}
		if s := c.SessionID() + c.QueryID(); s != "" && len(s) != 36 {
			t.Errorf("id %q", s)
		}
	})
}

func FuzzRefused(f *testing.F) {
	f.Add(append([]byte{0x80, 1, 0, 2, 0, 0, 0, 1, 'x', 0, 0, 0, 1}, append(toStatus, 0, 0, 0, 3)...))
	f.Fuzz(func(t *testing.T, reply []byte) { Refused(reply) })
}

func FuzzREST(f *testing.F) {
	f.Add("GET", "/api/2.0/sql/statements/"+id+"/result/chunks/3")
	f.Add("POST", "/api/2.1/jobs/run-now/")
	f.Fuzz(func(t *testing.T, method, path string) {
		c, ok := REST(method, path)
		if !ok {
			return
		}
		if c.Service == "" || !strings.Contains(c.Name, " /api/") {
			t.Errorf("%q %q: %+v", method, path, c)
		}
		if c.Repeatable && method != "" && method != "GET" && method != "HEAD" && c.Service != "sqlexec" {
			t.Errorf("%q %q may run twice: %+v", method, path, c)
		}
	})
}
