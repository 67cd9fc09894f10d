package sim_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim/aws"
)

// before puts a simulator in front of a handler.
func before(t *testing.T, p sim.Profile, log io.Writer, h http.HandlerFunc) (*sim.Server, *httptest.Server) {
	t.Helper()
	behind := httptest.NewServer(h)
	t.Cleanup(behind.Close)
	target, err := sim.ParseUpstream(behind.URL)
	if err != nil {
		t.Fatal(err)
	}
	server, err := sim.New(aws.New(), p, sim.WithUpstream(target), sim.WithLogger(slog.New(slog.NewTextHandler(log, nil))))
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(server)
	t.Cleanup(func() {
		front.Close()
		server.Close()
	})
	return server, front
}

// send sends a signed request and gives the whole answer.
func send(t *testing.T, r *http.Request, to string) (*http.Response, string, error) {
	t.Helper()
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	r.URL.Host = u.Host
	transport := new(http.Transport)
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(r)
	if err != nil {
		return nil, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response, string(text), err
}

// TestUpstream: what passes is as it was, and the quota is in front.
func TestUpstream(t *testing.T) {
	p := small()
	p.Quotas = []sim.Quota{{Match: sim.Match{Operation: sim.Patterns{"DescribeVpcs"}}, Burst: 2, Rate: 0.001}}
	arrived := 0
	server, front := before(t, p, io.Discard, func(w http.ResponseWriter, r *http.Request) {
		arrived++
		body, err := io.ReadAll(r.Body)
		if err != nil || !strings.HasSuffix(string(body), "Action=DescribeVpcs") || r.Host != "ec2.us-east-1.amazonaws.com" || r.Header.Get("Authorization") == "" || r.Header.Get("X-Forwarded-For") != "" {
			t.Errorf("arrived: %s, %v, host %s, %v", body, err, r.Host, r.Header)
		}
		w.Header().Set("X-Own", "yes")
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, "the upstream's")
	})
	for i, want := range []int{http.StatusAccepted, http.StatusAccepted, http.StatusServiceUnavailable} {
		r := request(t.Context(), t, "us-east-1", "DescribeVpcs")
		r.Host = "ec2.us-east-1.amazonaws.com"
		response, text, err := send(t, r, front.URL)
		if err != nil || response.StatusCode != want {
			t.Fatalf("request %d: %v, %v", i, response, err)
		}
		if (want == http.StatusAccepted) != (text == "the upstream's" && response.Header.Get("X-Own") == "yes") {
			t.Errorf("request %d: %s", i, text)
		}
	}
	if c := server.Report().Totals; arrived != 2 || c.Asked != 3 || c.Served != 2 || c.Throttled != 1 {
		t.Errorf("%d arrived; counted %+v", arrived, c)
	}
}

// TestUpstreamStreams: a body that is longer than what is looked at arrives whole,
// and its operation is not known.
func TestUpstreamStreams(t *testing.T) {
	const size = 5 << 20
	server, front := before(t, small(), io.Discard, func(w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(io.Discard, r.Body)
		if n != size || err != nil {
			t.Errorf("%d bytes arrived, %v", n, err)
		}
		_, _ = w.Write(bytes.Repeat([]byte("y"), size))
	})
	r := request(t.Context(), t, "us-east-1", "")
	r.Body, r.ContentLength = io.NopCloser(io.LimitReader(endless{}, size)), size
	if _, text, err := send(t, r, front.URL); err != nil || len(text) != size {
		t.Errorf("%d bytes came back, %v", len(text), err)
	}
	if s := server.Report().Scopes; len(s) != 1 || s[0].Operation != "unknown" || s[0].Served != 1 {
		t.Errorf("counted %+v", s)
	}
}

type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	return len(b), nil
}

// TestUpstreamDown: an error in the protocol's form, and a line in the log.
func TestUpstreamDown(t *testing.T) {
	var log bytes.Buffer
	server, front := before(t, small(), &log, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	if err := server.Reachable(t.Context()); err == nil {
		t.Error("an upstream that answers nothing is reachable")
	}
	response, text, err := send(t, request(t.Context(), t, "us-east-1", "DescribeVpcs"), front.URL)
	if err != nil || response.StatusCode != http.StatusBadGateway || !strings.Contains(text, "<Code>BadGateway</Code>") {
		t.Errorf("%v, %v: %s", response, err, text)
	}
	if n := strings.Count(log.String(), "\n"); n != 1 || !strings.Contains(log.String(), "DescribeVpcs") {
		t.Errorf("logged %d lines: %s", n, &log)
	}
	if c := server.Report().Totals; c.Asked != 1 || c.Faulted["upstream"] != 1 || c.Open != 0 {
		t.Errorf("counted %+v", c)
	}
}

// TestUpstreamFaults: faults of connections and answers work in front of another's
// answers; what edits pages is refused at the start.
func TestUpstreamFaults(t *testing.T) {
	for _, c := range []struct {
		kind   sim.FaultKind
		status int // 0: no answer
		text   string
		broken bool
	}{
		{sim.Reset, 0, "", true}, {sim.Cut, 200, "0123", true}, {sim.CloseMidBody, 200, "0123", true}, {sim.Truncated, 200, "0123", false}, {sim.Denied, 403, "UnauthorizedOperation", false},
	} {
		p := small()
		p.Faults = []sim.Fault{{Kind: c.kind, First: 1}}
		_, front := before(t, p, io.Discard, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "01234567") })
		for i := range 2 {
			response, text, err := send(t, request(t.Context(), t, "us-east-1", "DescribeVpcs"), front.URL)
			switch {
			case i == 1 && (err != nil || text != "01234567"):
				t.Errorf("%s, afterwards: %q, %v", c.kind, text, err)
			case i == 1:
			case (err != nil) != c.broken || (response != nil) != (c.status != 0) || response != nil && response.StatusCode != c.status || !strings.Contains(text, c.text) || strings.Contains(text, "4567"):
				t.Errorf("%s: %v, %q, %v", c.kind, response, text, err)
			}
		}
	}
	target, err := sim.ParseUpstream("http://127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	for says, f := range map[string]sim.Fault{
		"repeat_token": {Kind: sim.RepeatToken}, "empty_page": {Kind: sim.EmptyPage}, "page tokens": {Kind: sim.Denied, Match: sim.Match{Page: 2}},
	} {
		p := small()
		p.Faults = []sim.Fault{f}
		if _, err := sim.New(aws.New(), p, sim.WithUpstream(target)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
}

func TestParseUpstream(t *testing.T) {
	for _, text := range []string{"", "127.0.0.1:5000", "ftp://host", "http://", ":"} {
		if _, err := sim.ParseUpstream(text); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
	server, err := sim.New(aws.New(), small())
	if err != nil || server.Reachable(context.Background()) != nil {
		t.Errorf("without an upstream: %v", err)
	}
}
