package pacedatabricks_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/cloudpace/cloudpace/pacedatabricks"
)

// FuzzTransport: whatever is sent and answered, the body goes out as it was, comes
// back as it was, and nothing is sent twice with one attempt.
func FuzzTransport(f *testing.F) {
	f.Add("POST", "/sql/1.0/warehouses/a1", thriftCall("GetOperationStatus"), true, 200, "", []byte(thriftReply("GetOperationStatus", 3)))
	f.Add("POST", "/sql/1.0/warehouses/a1", thriftCall("ExecuteStatement"), false, 503, "99999999999999999999", []byte("x"))
	f.Add("GET", "/api/2.0/sql/statements/01ef", []byte{}, true, 429, "soon", []byte(`{"error_code":"REQUEST_LIMIT_EXCEEDED"}`))
	f.Add("POST", "/api/2.0/sql/statements", []byte(`{"statement":"SELECT 1"}`), false, 400, "-1", []byte(`{"message":"SELECT 1"}`))
	g := disabled(f)
	f.Fuzz(func(t *testing.T, method, path string, body []byte, rewinds bool, status int, hint string, reply []byte) {
		if status < 200 || status > 599 {
			return
		}
		req, err := http.NewRequestWithContext(t.Context(), method, "https://dbc-1.example.com/", nil)
		if err != nil {
			return
		}
		req.URL.Path = path
		if len(body) > 0 {
			filled := request(t, t.Context(), "POST", warehouse, string(body))
			req.Body, req.GetBody, req.ContentLength = filled.Body, filled.GetBody, filled.ContentLength
			if !rewinds {
				req.GetBody = nil
			}
		}
		s := script(answer{status: status, header: http.Header{"Retry-After": {hint}}, body: string(reply)})
		resp, err := transport(t, s, pacedatabricks.WithGovernor(g), pacedatabricks.WithRetry(pacedatabricks.Retry{Attempts: 1})).RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || string(got) != string(reply) || len(s.asked) != 1 || s.bodies[0] != string(body) || s.open != 0 {
			t.Errorf("%v: %q came back, sent %d times as %q, %d bodies open", err, got, len(s.asked), s.bodies, s.open)
		}
		if e := pacedatabricks.Failure(resp); e != nil {
			_ = e.Error()
		}
	})
}
