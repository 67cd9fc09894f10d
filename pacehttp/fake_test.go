package pacehttp_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/cloudpace/cloudpace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// answer is one thing the fake server does: an answer, or a failed connection.
type answer struct {
	status int
	header http.Header
	body   string
	err    error
}

// again is an answer with a hint.
func again(status int, retryAfter ...string) answer {
	return answer{status: status, header: http.Header{"Retry-After": retryAfter}}
}

// server answers from a script, whose last line repeats, and notes when it was
// asked.
type server struct {
	mu     sync.Mutex
	script []answer
	asked  []time.Time
	bodies []string
	open   int // answers whose body is not closed
	start  time.Time
	during func(*http.Request)
}

func script(script ...answer) *server { return &server{script: script, start: time.Now()} }

func (s *server) RoundTrip(req *http.Request) (*http.Response, error) {
	text := ""
	if req.Body != nil {
		b, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		text = string(b)
		_ = req.Body.Close()
	}
	if s.during != nil {
		s.during(req)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.script[min(len(s.asked), len(s.script)-1)]
	s.asked = append(s.asked, time.Now())
	s.bodies = append(s.bodies, text)
	if a.err != nil {
		return nil, a.err
	}
	header := a.header.Clone()
	if header == nil {
		header = http.Header{}
	}
	s.open++
	return &http.Response{
		StatusCode: a.status, Header: header, Request: req, ProtoMajor: 1, ProtoMinor: 1,
		ContentLength: -1, Body: &tracked{Reader: strings.NewReader(a.body), server: s},
	}, nil
}

type tracked struct {
	io.Reader
	server *server
	once   sync.Once
}

func (t *tracked) Close() error {
	t.once.Do(func() {
		t.server.mu.Lock()
		defer t.server.mu.Unlock()
		t.server.open--
	})
	return nil
}

// sent gives the times of the requests, from the start.
func (s *server) sent() (list []time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, at := range s.asked {
		list = append(list, at.Sub(s.start))
	}
	return list
}

func governor(t testing.TB, change func(*cloudpace.Provider)) *cloudpace.Governor {
	t.Helper()
	cfg := cloudpace.DefaultConfig()
	p := cloudpace.DefaultProvider()
	if change != nil {
		change(&p)
	}
	cfg.Providers["http"] = p
	g, err := cloudpace.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func request(t testing.TB, method, body string) *http.Request {
	t.Helper()
	var r io.Reader
	if body != "" {
		r = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, "http://example.com/things", r)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

// text reads and closes an answer's body.
func text(t testing.TB, resp *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	_ = resp.Body.Close()
	return string(b)
}

func bubble(t *testing.T, f func(t *testing.T)) { t.Helper(); synctest.Test(t, f) }
