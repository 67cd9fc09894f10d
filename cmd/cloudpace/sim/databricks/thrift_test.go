package databricks_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// TestThrift: a statement from its session's beginning to its end, on every path,
// in both dialects of the header.
func TestThrift(t *testing.T) {
	for _, path := range []string{"/sql/1.0/warehouses/abc", "/sql/1.0/endpoints/abc/", "/sql/protocolv1/o/0/0123-456789-abcdefgh"} {
		for _, old := range []bool{false, true} {
			w := start(t, nil)
			w.path, w.old = path, old
			ctx := t.Context()
			session := w.open(t)
			info, err := w.call(ctx, "GetInfo", fields{1: session, 2: int32(17)})
			if err != nil || info.at(2, 1) != "Spark SQL" {
				t.Errorf("%v, %v", info, err)
			}
			operation, err := w.execute(ctx, session, "SELECT 1")
			if err != nil {
				t.Fatal(err)
			}
			if early, err := w.call(ctx, "FetchResults", fields{1: operation, 2: int32(0), 3: int64(10)}); err != nil || !errors.Is(early.ok(), errStatus) {
				t.Errorf("fetched from a statement that runs: %v, %v", early, err)
			}
			if state, polls, err := w.finish(ctx, operation); state != 2 || polls != 3 || err != nil {
				t.Errorf("state %d after %d polls, %v; want 2 after 3", state, polls, err)
			}
			meta, err := w.call(ctx, "GetResultSetMetadata", fields{1: operation})
			list, _ := meta.at(2, 1).([]any)
			if err != nil || len(list) != 2 || list[0].(fields)[1] != "id" || meta[1281] != int32(1) {
				t.Errorf("metadata %v, %v", meta, err)
			}
			if got := fetchAll(t, w, operation); len(got) != 5 || got[4] != "row-00004" {
				t.Errorf("rows %v", got)
			}
			for i, want := range []string{"", "does not exist"} {
				reply, err := w.call(ctx, "CloseOperation", fields{1: operation})
				if err != nil || (reply.ok() != nil) != (want != "") {
					t.Errorf("close %d: %v, %v", i+1, reply, err)
				}
			}
			for i, want := range []string{"", "has not been initialized or had already closed"} {
				reply, err := w.call(ctx, "CloseSession", fields{1: session})
				if err != nil || (want == "") != (reply.ok() == nil) || want != "" && !strings.Contains(reply.ok().Error(), want) {
					t.Errorf("close session %d: %v, %v", i+1, reply, err)
				}
			}
			if _, err := w.execute(ctx, session, "SELECT 2"); !errors.Is(err, errStatus) {
				t.Errorf("a closed session executes: %v", err)
			}
			if got := w.front.Executions(); len(got) != 1 || got["SELECT 1"] != 1 {
				t.Errorf("executions %v", got)
			}
		}
	}
}

// fetchAll takes all pages: the second column.
func fetchAll(t *testing.T, w *workspace, operation any) (names []any) {
	t.Helper()
	for from := int64(0); ; {
		reply, err := w.call(t.Context(), "FetchResults", fields{1: operation, 2: int32(0), 3: int64(1000), 1283: true})
		if err != nil || reply.ok() != nil {
			t.Fatal(err, reply.ok())
		}
		columns, _ := reply.at(3, 3).([]any)
		ids, _ := columns[0].(fields).at(5, 1).([]any)
		page, _ := columns[1].(fields).at(7, 1).([]any)
		if reply.at(3, 1) != from || len(ids) != len(page) || len(page) == 0 || ids[0] != from || reply.at(1281, 1, 1) != int32(0) {
			t.Fatalf("page %v", reply)
		}
		names = append(names, page...)
		from += int64(len(page))
		if reply[2] != true {
			return names
		}
	}
}

// TestDirectResults: what is over at once is answered at once, and closed when all
// of it is.
func TestDirectResults(t *testing.T) {
	w := start(t, func(p *sim.Profile) { p.Warehouse.Polls, p.Warehouse.PageRows = 0, 100 })
	session := w.open(t)
	reply, err := w.call(t.Context(), "ExecuteStatement", fields{1: session, 2: "INSERT INTO t VALUES (1)", 4: true, 1281: fields{1: int64(10)}})
	if err != nil || reply.at(1281, 1, 2) != int32(2) || reply.at(1281, 1, 11) != int64(1) || reply.at(1281, 3, 2) != false || reply.at(1281, 4, 1, 1) != int32(0) {
		t.Errorf("%v, %v", reply, err)
	}
	if _, _, err := w.finish(t.Context(), reply[2]); !errors.Is(err, errStatus) {
		t.Errorf("the statement is still there: %v", err)
	}
	reply, err = w.call(t.Context(), "ExecuteStatement", fields{1: session, 2: "SELECT 1", 4: true, 1281: fields{1: int64(2)}})
	if err != nil || reply.at(1281, 3, 2) != true || reply.at(1281, 4) != nil {
		t.Errorf("two rows of five: %v, %v", reply, err)
	}
	if got := w.front.Executions(); got["INSERT INTO t VALUES (1)"] != 1 || got["SELECT 1"] != 1 {
		t.Errorf("executions %v", got)
	}
	slow := start(t, nil)
	reply, err = slow.call(t.Context(), "ExecuteStatement", fields{1: slow.open(t), 2: "SELECT 1", 4: true, 1281: fields{1: int64(2)}})
	if err != nil || reply.at(1281, 1, 2) != int32(1) || reply.at(1281, 3) != nil {
		t.Errorf("a statement that runs: %v, %v", reply, err)
	}
	// Without runAsync the answer is the end of it.
	reply, err = slow.call(t.Context(), "ExecuteStatement", fields{1: slow.open(t), 2: "SELECT 1"})
	if state, polls, err2 := slow.finish(t.Context(), reply[2]); err != nil || err2 != nil || state != 2 || polls != 1 {
		t.Errorf("state %d after %d polls, %v %v", state, polls, err, err2)
	}
}

// TestEnds: canceled, failed, and gone with the session.
func TestEnds(t *testing.T) {
	w := start(t, nil)
	ctx := t.Context()
	session := w.open(t)
	one, err := w.execute(ctx, session, "SELECT 1")
	if err != nil {
		t.Fatal(err)
	}
	if reply, err := w.call(ctx, "CancelOperation", fields{1: one}); err != nil || reply.ok() != nil {
		t.Error(reply, err)
	}
	if state, _, err := w.finish(ctx, one); state != 3 || err != nil {
		t.Errorf("state %d, %v; want canceled", state, err)
	}
	two, err := w.execute(ctx, session, "SELECT raise_error('boo')")
	if err != nil {
		t.Fatal(err)
	}
	if state, _, err := w.finish(ctx, two); state != 5 || err != nil {
		t.Errorf("state %d, %v; want an error", state, err)
	}
	if reply, err := w.call(ctx, "FetchResults", fields{1: two, 3: int64(1)}); err != nil || reply.ok() == nil || !strings.Contains(reply.ok().Error(), "boo") {
		t.Error(reply, err)
	}
	if _, err := w.execute(ctx, session, ""); !errors.Is(err, errStatus) {
		t.Errorf("an empty statement: %v", err)
	}
	if reply, err := w.call(ctx, "CloseSession", fields{1: session}); err != nil || reply.ok() != nil {
		t.Error(reply, err)
	}
	if _, _, err := w.finish(ctx, one); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("a statement outlives its session: %v", err)
	}
}

// TestMalformed: what is no call is refused, and nothing is executed.
func TestMalformed(t *testing.T) {
	w := start(t, nil)
	session := w.open(t)
	good := encode("ExecuteStatement", fields{1: session, 2: "SELECT 1", 4: true}, false)
	for name, body := range map[string][]byte{
		"nothing":            nil,
		"a byte":             {0x80},
		"compact":            {0x82, 0x21, 0x01, 0x0b, 'O', 'p', 'e', 'n'},
		"another version":    append([]byte{0x80, 2, 0, 1}, good[4:]...),
		"a reply":            append([]byte{0x80, 1, 0, 2}, good[4:]...),
		"half":               good[:len(good)/2],
		"no end":             good[:len(good)-1],
		"a name that lies":   {0x80, 1, 0, 1, 0x7f, 0xff, 0xff, 0xff, 'x'},
		"a negative name":    {0x80, 1, 0, 1, 0xff, 0xff, 0xff, 0xff, 'x'},
		"an old name, long":  {0x7f, 0xff, 0xff, 0xff, 'x'},
		"a list that lies":   append(encode("CloseSession", nil, false)[:24], 15, 0, 9, 12, 0x7f, 0xff, 0xff, 0xff),
		"nested for ever":    append(encode("CloseSession", nil, false)[:24], []byte(strings.Repeat("\x0c\x00\x01", 10_000))...),
		"nested too deep":    append(encode("CloseSession", nil, false)[:24], append([]byte(strings.Repeat("\x0c\x00\x01", 100)), make([]byte, 101)...)...),
		"a name of brackets": encode("<b>", nil, false),
	} {
		a, err := w.send(t.Context(), http.MethodPost, w.path, body)
		if err != nil || a.status != http.StatusBadRequest {
			t.Errorf("%s: status %d, %v", name, a.status, err)
		}
	}
	if _, err := w.call(t.Context(), "GetCrossReference", fields{1: session}); err == nil || !strings.Contains(err.Error(), "exception 1: Invalid method name") {
		t.Errorf("an unknown method: %v", err)
	}
	if a, err := w.send(t.Context(), http.MethodGet, w.path, nil); err != nil || a.status != http.StatusMethodNotAllowed {
		t.Errorf("GET: status %d, %v", a.status, err)
	}
	for _, path := range []string{"/sql/1.0/warehouses/", "/sql/1.0/warehouses/a/b", "/sql/protocolv1/o/0", "/"} {
		if a, err := w.send(t.Context(), http.MethodPost, path, good); err != nil || a.status != http.StatusNotFound {
			t.Errorf("%s: status %d, %v", path, a.status, err)
		}
	}
	if got := w.front.Executions(); len(got) != 0 {
		t.Errorf("executed %v", got)
	}
}
