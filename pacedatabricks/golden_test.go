package pacedatabricks_test

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudpace/cloudpace/pacedatabricks"
)

// timeline is one of testdata/timelines.json: what a request meets, and what must
// become of it. The last line of a script repeats.
type timeline struct {
	Name    string
	Command string
	Config  struct {
		DelayMin     float64 `json:"delay_min"`
		DelayMax     float64 `json:"delay_max"`
		DelayDefault float64 `json:"delay_default"`
		Duration     float64
		Attempts     int
	}
	Script []json.RawMessage
	Wanted struct {
		Attempts  int
		Sleeps    []float64
		End       string
		Elapsed   float64
		LogLevels []string `json:"log_levels"`
		Error     string
	}
}

// TestS14_4_Timelines reproduces every recorded timeline, exactly, in virtual time.
func TestS14_4_Timelines(t *testing.T) {
	text, err := os.ReadFile("testdata/timelines.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []timeline
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	if len(all) != 29 {
		t.Errorf("%d timelines, want 29", len(all))
	}
	for _, line := range all {
		t.Run(line.Name, func(t *testing.T) { synctest.Test(t, line.run) })
	}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func (line timeline) run(t *testing.T) {
	s := &scripted{start: time.Now()}
	for _, raw := range line.Script {
		s.script = append(s.script, answerOf(t, raw))
	}
	levels := &levels{}
	transport, err := pacedatabricks.NewTransport(s, pacedatabricks.WithGovernor(disabled(t)), pacedatabricks.WithLogger(slog.New(levels)),
		pacedatabricks.WithRetry(pacedatabricks.Retry{
			DelayMin: seconds(line.Config.DelayMin), DelayMax: seconds(line.Config.DelayMax), DelayDefault: seconds(line.Config.DelayDefault),
			Duration: seconds(line.Config.Duration), Attempts: line.Config.Attempts,
		}))
	if line.Wanted.Error == "construction" {
		if err == nil || transport != nil {
			t.Fatalf("%v, want an error at construction", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	resp, err := transport.RoundTrip(thriftRequest(t, t.Context(), line.Command))
	end := "ok"
	var failed *pacedatabricks.RetryError
	switch {
	case err != nil && !errors.As(err, &failed):
		t.Fatalf("%T: %v", err, err)
	case err == nil:
		failed = pacedatabricks.Failure(resp)
	}
	if failed != nil {
		end = failed.Reason
		if failed.Attempt != line.Wanted.Attempts || math.Abs(failed.Elapsed.Seconds()-line.Wanted.Elapsed) > 1e-5 {
			t.Errorf("the error says %d attempts in %s", failed.Attempt, failed.Elapsed)
		}
	}
	if end != line.Wanted.End {
		t.Errorf("end %q, want %q (%v)", end, line.Wanted.End, failed)
	}
	if got := time.Since(s.start).Seconds(); math.Abs(got-line.Wanted.Elapsed) > 1e-5 {
		t.Errorf("elapsed %v, want %v", got, line.Wanted.Elapsed)
	}
	if len(s.asked) != line.Wanted.Attempts {
		t.Errorf("%d attempts, want %d", len(s.asked), line.Wanted.Attempts)
	}
	var sleeps []float64
	for i := 1; i < len(s.asked); i++ {
		sleeps = append(sleeps, s.asked[i].Sub(s.asked[i-1]).Seconds())
	}
	if !slices.EqualFunc(sleeps, line.Wanted.Sleeps, func(a, b float64) bool { return math.Abs(a-b) < 1e-5 }) {
		t.Errorf("slept %v, want %v", sleeps, line.Wanted.Sleeps)
	}
	if !slices.Equal(levels.all, line.Wanted.LogLevels) {
		t.Errorf("logged %v, want %v", levels.all, line.Wanted.LogLevels)
	}
}

// answerOf makes what a script's line stands for.
func answerOf(t *testing.T, raw json.RawMessage) answer {
	t.Helper()
	var word string
	if json.Unmarshal(raw, &word) != nil {
		var a struct {
			Status     int
			RetryAfter *string `json:"retry_after"`
		}
		if err := json.Unmarshal(raw, &a); err != nil {
			t.Fatal(err)
		}
		out := answer{status: a.Status, body: "gateway"}
		if a.RetryAfter != nil {
			out.header = http.Header{"Retry-After": {*a.RetryAfter}}
		}
		return out
	}
	read := func(err error) answer { return answer{err: &net.OpError{Op: "read", Net: "tcp", Err: err}} }
	errnos := map[string]syscall.Errno{
		"ECONNRESET": syscall.ECONNRESET, "ETIMEDOUT": syscall.ETIMEDOUT, "EPIPE": syscall.EPIPE, "ESHUTDOWN": syscall.ESHUTDOWN,
		"EAFNOSUPPORT": syscall.EAFNOSUPPORT, "EMFILE": syscall.EMFILE, "EACCES": syscall.EACCES,
	}
	switch word {
	case "ok":
		return answer{status: 200, body: thriftReply("GetOperationStatus", 0)}
	case "ERROR_STATUS":
		return answer{status: 200, body: thriftReply("GetOperationStatus", 3)}
	case "TIMEOUT":
		return read(os.ErrDeadlineExceeded)
	case "EOF":
		return answer{err: io.EOF}
	case "TLS":
		return answer{err: x509.UnknownAuthorityError{}}
	case "DNS_NOT_FOUND":
		return answer{err: &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "example.invalid", IsNotFound: true}}}
	}
	errno, ok := errnos[word]
	if !ok {
		t.Fatalf("unknown word %q", word)
	}
	return read(os.NewSyscallError("read", errno))
}

// levels notes the levels of what is logged, and that nothing secret is.
type levels struct{ all []string }

func (*levels) Enabled(context.Context, slog.Level) bool { return true }
func (l *levels) Handle(_ context.Context, r slog.Record) error {
	l.all = append(l.all, r.Level.String())
	r.Attrs(func(a slog.Attr) bool {
		if strings.Contains(a.Value.String(), secret) {
			l.all = append(l.all, "a secret in "+a.Key)
		}
		return true
	})
	return nil
}
func (l *levels) WithAttrs([]slog.Attr) slog.Handler { return l }
func (l *levels) WithGroup(string) slog.Handler      { return l }
