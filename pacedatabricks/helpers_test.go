package pacedatabricks_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/pacedatabricks"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler)) // where transports without a logger log
	goleak.VerifyTestMain(m)
}

const (
	sessionID = "01ef0000-1111-2222-3333-444455556666"
	queryID   = "01ef9999-8888-7777-6666-555544443333"
	secret    = "s3cretOfAHandle!"
	statement = "SELECT card_number FROM payments WHERE name = 'doe'"
)

// thriftField begins a field of a struct.
func thriftField(b []byte, kind byte, id int16) []byte {
	return binary.BigEndian.AppendUint16(append(b, kind), uint16(id))
}

func thriftBinary(b []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(s))), s...)
}

// thriftCall is a message as clients send it, with the ids that the command has.
func thriftCall(command string) []byte {
	b := binary.BigEndian.AppendUint32(nil, 0x80010001)
	b = thriftBinary(b, command)
	b = binary.BigEndian.AppendUint32(b, 7)
	b = thriftField(b, 12, 1) // the request
	id := ""
	switch command {
	case "ExecuteStatement", "CloseSession":
		id = "\x01\xef\x00\x00\x11\x11\x22\x22\x33\x33\x44\x44\x55\x55\x66\x66"
	case "GetOperationStatus", "CancelOperation", "CloseOperation", "FetchResults":
		id = "\x01\xef\x99\x99\x88\x88\x77\x77\x66\x66\x55\x55\x44\x44\x33\x33"
	}
	if id != "" {
		b = thriftField(b, 12, 1) // the handle
		b = thriftField(b, 12, 1) // its identifier
		b = thriftBinary(thriftField(b, 11, 1), id)
		b = thriftBinary(thriftField(b, 11, 2), secret)
		b = append(b, 0, 0)
	}
	if command == "ExecuteStatement" {
		b = thriftBinary(thriftField(b, 11, 2), statement)
	}
	return append(b, 0, 0)
}

// thriftReply is an answer with a status: 0 success, 3 error, 4 invalid handle.
func thriftReply(command string, status uint32) string {
	b := binary.BigEndian.AppendUint32(nil, 0x80010002)
	b = thriftBinary(b, command)
	b = binary.BigEndian.AppendUint32(b, 7)
	b = thriftField(b, 12, 0)
	b = thriftField(b, 12, 1)
	b = binary.BigEndian.AppendUint32(thriftField(b, 8, 1), status)
	return string(append(b, 0, 0, 0))
}

const warehouse = "https://dbc-1.example.com:443/sql/1.0/warehouses/a1"

func thriftRequest(tb testing.TB, ctx context.Context, command string) *http.Request {
	tb.Helper()
	return request(tb, ctx, "POST", warehouse, string(thriftCall(command)))
}

func request(tb testing.TB, ctx context.Context, method, url, body string) *http.Request {
	tb.Helper()
	var r io.Reader
	if body != "" {
		r = bytes.NewReader([]byte(body))
	}
	req, err := http.NewRequestWithContext(ctx, method, url, r)
	if err != nil {
		tb.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+secret)
	return req
}

// answer is one thing that a request meets.
type answer struct {
	status int
	header http.Header
	body   string
	err    error
	broken error // where the body breaks off, after half of it
	sleep  time.Duration
}

// scripted answers from a script, whose last line repeats, and notes when it was
// asked.
type scripted struct {
	mu     sync.Mutex
	script []answer
	start  time.Time
	asked  []time.Time
	bodies []string
	open   int // bodies of answers that are not closed
}

func script(script ...answer) *scripted { return &scripted{script: script, start: time.Now()} }

func (s *scripted) RoundTrip(req *http.Request) (*http.Response, error) {
	text := ""
	if req.Body != nil {
		b, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		_ = req.Body.Close()
		text = string(b)
	}
	s.mu.Lock()
	a := s.script[min(len(s.asked), len(s.script)-1)]
	s.asked = append(s.asked, time.Now())
	s.bodies = append(s.bodies, text)
	if a.err == nil {
		s.open++
	}
	s.mu.Unlock()
	if a.sleep > 0 {
		select {
		case <-time.After(a.sleep):
		case <-req.Context().Done():
			return nil, req.Context().Err()
		}
	}
	if a.err != nil {
		return nil, a.err
	}
	var body io.Reader = strings.NewReader(a.body)
	if a.broken != nil {
		body = io.MultiReader(strings.NewReader(a.body[:len(a.body)/2]), failing{a.broken})
	}
	header := a.header.Clone()
	if header == nil {
		header = http.Header{}
	}
	return &http.Response{
		StatusCode: a.status, Header: header, Request: req, ProtoMajor: 1, ProtoMinor: 1, ContentLength: int64(len(a.body)),
		Body: &tracked{Reader: body, s: s},
	}, nil
}

// sent gives the times of the requests, from the start.
func (s *scripted) sent() (list []time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, at := range s.asked {
		list = append(list, at.Sub(s.start))
	}
	return list
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

type tracked struct {
	io.Reader
	s    *scripted
	once sync.Once
}

func (t *tracked) Close() error {
	t.once.Do(func() {
		t.s.mu.Lock()
		defer t.s.mu.Unlock()
		t.s.open--
	})
	return nil
}

func governor(tb testing.TB, change func(*cloudpace.Config, *cloudpace.Provider)) *cloudpace.Governor {
	tb.Helper()
	cfg := cloudpace.DefaultConfig()
	p := cfg.Providers["databricks"]
	change(&cfg, &p)
	cfg.Providers["databricks"] = p
	g, err := cloudpace.New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

func disabled(tb testing.TB) *cloudpace.Governor {
	tb.Helper()
	return governor(tb, func(c *cloudpace.Config, _ *cloudpace.Provider) { c.Enabled = false })
}

// fast has no rate that matters.
func fast(tb testing.TB) *cloudpace.Governor {
	tb.Helper()
	return governor(tb, func(_ *cloudpace.Config, p *cloudpace.Provider) { p.MaxRPS, p.Burst, p.MaxConcurrency = 1e9, 1e9, 1024 })
}

func transport(tb testing.TB, base http.RoundTripper, opts ...pacedatabricks.Option) http.RoundTripper {
	tb.Helper()
	rt, err := pacedatabricks.NewTransport(base, opts...)
	if err != nil {
		tb.Fatal(err)
	}
	return rt
}
