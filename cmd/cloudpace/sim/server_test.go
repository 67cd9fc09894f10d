package sim_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim/aws"
)

const account = "111122223333"

// small is a profile with little in it.
func small() sim.Profile {
	p := sim.Default(aws.New())
	p.Estate = sim.EstateConfig{Accounts: sim.ExampleAccounts(2), Regions: []string{"us-east-1", "eu-west-1"}, Assets: 200}
	return p
}

// client talks to a server in the same process.
type client struct {
	t    *testing.T
	http *http.Client
}

// start serves a profile in memory until the returned function is called, which
// tells what Serve said.
func start(t *testing.T, p sim.Profile, options ...sim.Option) (*sim.Server, *client, func() error) {
	t.Helper()
	server, err := sim.New(aws.New(), p, options...)
	if err != nil {
		t.Fatal(err)
	}
	memory := sim.NewMemory()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, memory) }()
	transport := &http.Transport{DialContext: memory.Dial}
	return server, &client{t, &http.Client{Transport: transport}}, func() error {
		cancel()
		err := <-ended
		transport.CloseIdleConnections()
		return err
	}
}

// request asks EC2 for something, signed for a region.
func request(ctx context.Context, t *testing.T, region, action string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://sim/", strings.NewReader("Version=2016-11-15&MaxResults=1000&Action="+action))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+aws.AccessKey(account)+"/20261130/"+region+"/ec2/aws4_request, SignedHeaders=host, Signature=0")
	return r
}

// ask gives the status; 0 is no answer.
func (c *client) ask(region, action string) int {
	c.t.Helper()
	response, err := c.http.Do(request(c.t.Context(), c.t, region, action))
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return -1 // an answer without an end
	}
	return response.StatusCode
}

// TestQuotaIsExact: exactly the burst and what came in pass, in the documented
// classes, for each action, account and region.
func TestQuotaIsExact(t *testing.T) {
	for _, c := range []struct {
		action string
		speed  float64
		want   int // in 10 s
	}{
		{"DescribeVpcs", 1, 100 + 20*10},
		{"CreateVpc", 1, 50 + 5*10},
		{"RunInstances", 1, 5 + 2*10},
		{"DescribeVpcs", 3, 100 + 3*20*10},
	} {
		t.Run(fmt.Sprintf("%s at %v", c.action, c.speed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := small()
				p.Speed = c.speed
				server, client, stop := start(t, p)
				passed, refused := 0, 0
				for i := range 1001 {
					if i > 0 {
						time.Sleep(10 * time.Millisecond)
					}
					switch status := client.ask("us-east-1", c.action); status {
					case http.StatusServiceUnavailable:
						refused++
					case http.StatusOK, http.StatusNotImplemented:
						passed++
					default:
						t.Fatalf("status %d", status)
					}
				}
				if passed != c.want {
					t.Errorf("%d passed in 10 s, want %d", passed, c.want)
				}
				if status := client.ask("eu-west-1", c.action); status == http.StatusServiceUnavailable {
					t.Error("another region is throttled too")
				}
				if status := client.ask("us-east-1", "DescribeSubnets"); status != http.StatusOK {
					t.Error("another action is throttled too")
				}
				r := server.Report()
				if r.Totals.Throttled != refused || r.Totals.Asked != 1003 || r.Totals.Served != passed+2 {
					t.Errorf("%d passed and %d were refused; the server counts %+v", passed, refused, r.Totals)
				}
				if r.Totals.PeakRPS < 99 || r.Totals.PeakRPS > 103 {
					t.Errorf("a peak of %d at 100 requests a second", r.Totals.PeakRPS)
				}
				if err := stop(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestHang: a request that hangs ends when the client leaves, and when the server
// stops.
func TestHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := small()
		p.Faults = []sim.Fault{{Kind: sim.Hang, Match: sim.Match{Operation: sim.Patterns{"DescribeVpcs"}}}}
		server, client, stop := start(t, p)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		begun := time.Now()
		_, err := client.http.Do(request(ctx, t, "us-east-1", "DescribeVpcs"))
		cancel()
		if took := time.Since(begun); !errors.Is(err, context.DeadlineExceeded) || took != time.Hour {
			t.Errorf("%v after %s", err, took)
		}
		left := make(chan int)
		go func() { left <- client.ask("us-east-1", "DescribeVpcs") }()
		synctest.Wait()
		begun = time.Now()
		if err := stop(); err != nil {
			t.Error(err)
		}
		if status := <-left; status != 0 {
			t.Errorf("status %d from a request that hung", status)
		}
		if took := time.Since(begun); took > time.Second {
			t.Errorf("stopping took %s", took)
		}
		if c := server.Report().Totals; c.Faulted["hang"] != 2 || c.Open != 0 {
			t.Errorf("counted %+v", c)
		}
	})
}

// TestHangWithABody: also where nobody has read what the client sends, its leaving
// is noticed.
func TestHangWithABody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := small()
		p.Faults = []sim.Fault{{Kind: sim.Hang}}
		handler, err := sim.New(aws.New(), p)
		if err != nil {
			t.Fatal(err)
		}
		over := make(chan struct{})
		server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer close(over)
			handler.ServeHTTP(w, r)
		})}
		memory := sim.NewMemory()
		ended := make(chan error, 1)
		go func() { ended <- server.Serve(memory) }()
		transport := &http.Transport{DialContext: memory.Dial}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		r := request(ctx, t, "us-east-1", "X")
		r.Header.Set("Content-Type", "application/json")
		if _, err := transport.RoundTrip(r); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		<-over
		transport.CloseIdleConnections()
		server.Close()
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
}

// TestLatency: the answer comes later by as much as the profile says, less where
// time is compressed, and a fault may follow.
func TestLatency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := small()
		p.Speed = 10
		p.Faults = []sim.Fault{{Kind: sim.Latency, Seconds: 30}, {Kind: sim.Denied, First: 1}}
		server, client, stop := start(t, p)
		for _, want := range []int{http.StatusForbidden, http.StatusOK} {
			begun := time.Now()
			if status, took := client.ask("us-east-1", "DescribeVpcs"), time.Since(begun); status != want || took != 3*time.Second {
				t.Errorf("status %d after %s, want %d after 3s", status, took, want)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := client.http.Do(request(ctx, t, "us-east-1", "DescribeVpcs")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("left early: %v", err)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
		if c := server.Report().Totals; c.Delayed != 3 || c.Served != 1 || c.Faulted["denied"] != 1 || c.Faulted["latency"] != 1 || c.Open != 0 {
			t.Errorf("counted %+v", c)
		}
	})
}

// run sends a fixed sequence and gives what came back.
func run(t *testing.T, seed uint64) (statuses []int, report sim.Report) {
	synctest.Test(t, func(t *testing.T) {
		p := small()
		p.Seed = seed
		p.Neighbours = []sim.Neighbour{{Match: sim.Match{Service: sim.Patterns{"ec2"}}, Rate: 15}}
		for _, kind := range []sim.FaultKind{sim.Reset, sim.HTTP503, sim.Cut, sim.CloseMidBody, sim.EmptyPage} {
			p.Faults = append(p.Faults, sim.Fault{Kind: kind, Probability: 0.05})
		}
		server, client, stop := start(t, p)
		for i := range 600 {
			statuses = append(statuses, client.ask([]string{"us-east-1", "eu-west-1"}[i%2], []string{"DescribeVpcs", "DescribeVolumes", "DescribeVpcs"}[i%3]))
			time.Sleep(5 * time.Millisecond)
		}
		report = server.Report()
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	return statuses, report
}

// TestSeed: the same seed treats the same requests alike, down to the neighbour;
// another does not.
func TestSeed(t *testing.T) {
	one, oneReport := run(t, 1)
	again, againReport := run(t, 1)
	other, _ := run(t, 2)
	if !slices.Equal(one, again) {
		t.Error("the same seed gave other answers")
	}
	if slices.Equal(one, other) {
		t.Error("another seed gave the same answers")
	}
	texts := make([]string, 0, 2)
	for _, r := range []sim.Report{oneReport, againReport} {
		text, err := json.Marshal([]any{r.Totals, r.Scopes, r.Buckets})
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	if texts[0] != texts[1] {
		t.Errorf("the same seed was counted differently:\n%s\n%s", texts[0], texts[1])
	}
}

// TestCountsAddUp: everything asked was served, throttled or met a fault, in the
// totals and in the scopes.
func TestCountsAddUp(t *testing.T) {
	_, r := run(t, 3)
	sum := sim.Counts{Faulted: map[string]int{}}
	for _, s := range r.Scopes {
		if s.Asked != s.Served+s.Throttled+s.FaultedTotal()+s.Open {
			t.Errorf("%s %s: %+v", s.Region, s.Operation, s.Counts)
		}
		sum.Asked += s.Asked
		sum.Served += s.Served
		sum.Throttled += s.Throttled
		for k, n := range s.Faulted {
			sum.Faulted[k] += n
		}
	}
	c := r.Totals
	if c.Asked != 600 || c.Asked != c.Served+c.Throttled+c.FaultedTotal() || c.Open != 0 || c.FaultedTotal() == 0 {
		t.Errorf("totals are %+v", c)
	}
	if sum.Asked != c.Asked || sum.Served != c.Served || sum.Throttled != c.Throttled || sum.FaultedTotal() != c.FaultedTotal() {
		t.Errorf("the scopes add up to %+v, the totals are %+v", sum, c)
	}
	asked := 0
	for _, b := range r.Buckets {
		asked += b.NeighbourAsked
	}
	if asked == 0 {
		t.Error("the neighbour asked for nothing")
	}
}

// TestStatus: the page, the numbers as JSON, and a new start.
func TestStatus(t *testing.T) {
	p := small()
	p.Faults = []sim.Fault{{Kind: sim.Denied, Match: sim.Match{Operation: sim.Patterns{"Describe<b>"}}}}
	server, err := sim.New(aws.New(), p)
	if err != nil {
		t.Fatal(err)
	}
	own := func(method, path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		server.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody))
		return w
	}
	for range 3 {
		server.ServeHTTP(httptest.NewRecorder(), request(t.Context(), t, "us-east-1", "DescribeVpcs"))
	}
	server.ServeHTTP(httptest.NewRecorder(), request(t.Context(), t, "us-east-1", "Describe%3Cscript%3E"))
	page := own(http.MethodGet, "/_sim/")
	if body := page.Body.String(); page.Code != http.StatusOK || !strings.Contains(body, "4 asked") || !strings.Contains(body, "DescribeVpcs") || strings.Contains(body, "<script>") || strings.Contains(body, "http://") {
		t.Errorf("status %d, page\n%s", page.Code, body)
	}
	var r sim.Report
	stats := own(http.MethodGet, "/_sim/stats")
	if err := json.Unmarshal(stats.Body.Bytes(), &r); err != nil || r.Totals.Asked != 4 || len(r.Scopes) != 2 || r.Assets != 200 || len(r.Buckets) != 2 {
		t.Errorf("%v: %s", err, stats.Body)
	}
	for path, want := range map[string]int{"/_sim/reset": http.StatusMethodNotAllowed, "/_sim/nothing": http.StatusNotFound} {
		if got := own(http.MethodGet, path).Code; got != want {
			t.Errorf("GET %s: %d, want %d", path, got, want)
		}
	}
	if got := own(http.MethodPost, "/_sim/reset").Code; got != http.StatusNoContent {
		t.Errorf("reset: %d", got)
	}
	if r := server.Report(); r.Totals.Asked != 0 || len(r.Scopes) != 0 || len(r.Buckets) != 0 {
		t.Errorf("after the reset: %+v", r)
	}
}

// TestReset: buckets are full again and faults begin from the first.
func TestReset(t *testing.T) {
	p := small()
	p.Quotas = []sim.Quota{{Burst: 2, Rate: 0.001}}
	p.Faults = []sim.Fault{{Kind: sim.Denied, First: 1}}
	server, err := sim.New(aws.New(), p)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for i, want := range []int{http.StatusForbidden, http.StatusOK, http.StatusServiceUnavailable} {
			w := httptest.NewRecorder()
			server.ServeHTTP(w, request(t.Context(), t, "us-east-1", "DescribeVpcs"))
			if w.Code != want {
				t.Errorf("request %d: %d, want %d", i, w.Code, want)
			}
		}
		server.Reset()
	}
}
