package databricks_test

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
	"github.com/cloudpace/cloudpace/pacedatabricks"
)

// pace puts cloudpace's transport under the client, with a schedule that is as fast
// as it may be and a rate that does not matter.
func (w *workspace) pace(t *testing.T) *cloudpace.Governor {
	t.Helper()
	cfg := cloudpace.DefaultConfig()
	p := cfg.Providers["databricks"]
	p.MaxRPS, p.Burst, p.MaxConcurrency = 1e6, 1e6, 256
	cfg.Providers["databricks"] = p
	g, err := cloudpace.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	paced, err := pacedatabricks.NewTransport(w.http.Transport, pacedatabricks.WithGovernor(g), pacedatabricks.WithLogger(slog.New(slog.DiscardHandler)),
		pacedatabricks.WithRetry(pacedatabricks.Retry{DelayMin: 100 * time.Millisecond, DelayDefault: time.Second}))
	if err != nil {
		t.Fatal(err)
	}
	w.http = &http.Client{Transport: paced}
	return g
}

// TestS14_2_Storm: twenty thousand statements, of whose requests one in a hundred
// is struck. None runs twice, every poll survives, and as many statements fail as
// had a request struck that may not be repeated.
func TestS14_2_Storm(t *testing.T) {
	if testing.Short() {
		t.Skip("a hundred thousand requests")
	}
	const clients, each, share = 200, 100, 0.01 / 7
	hinted := sim.Fault{Kind: sim.Error, Status: 429, Code: "REQUEST_LIMIT_EXCEEDED", RetryAfter: "0", Probability: share}
	w := start(t, func(p *sim.Profile) {
		p.Quotas = nil
		p.Warehouse.Polls = 1
		p.Warehouse.Rows, p.Warehouse.PageRows = 1, 1
		p.Faults = []sim.Fault{
			{Kind: sim.Reset, Probability: share},
			{Kind: sim.Close, Probability: share},
			{Kind: sim.Reset, At: new(0), Probability: share},
			{Kind: sim.Close, At: new(20), Probability: share},
			{Kind: sim.Cut, Probability: share},
			{Kind: sim.HTML, Status: http.StatusBadGateway, Probability: share},
			hinted,
		}
	})
	w.http.Transport.(*http.Transport).MaxIdleConnsPerHost = clients
	g := w.pace(t)
	var failed atomic.Int64
	var work sync.WaitGroup
	for client := range clients {
		work.Go(func() {
			session := w.session(t)
			for i := range each {
				operation, err := w.execute(t.Context(), session, fmt.Sprintf("INSERT INTO t VALUES (%d, %d)", client, i))
				if err != nil {
					failed.Add(1)
					continue
				}
				if state, _, err := w.finish(t.Context(), operation); err != nil || state != 2 {
					t.Errorf("state %d, %v", state, err)
				}
				if _, err := w.call(t.Context(), "FetchResults", fields{1: operation, 2: int32(0), 3: int64(10)}); err != nil {
					failed.Add(1)
				}
				if _, err := w.call(t.Context(), "CloseOperation", fields{1: operation}); err != nil {
					t.Error(err)
				}
			}
			if _, err := w.call(t.Context(), "CloseSession", fields{1: session}); err != nil {
				t.Error(err)
			}
		})
	}
	work.Wait()

	var struck, all int
	r := w.server.Report()
	for _, s := range r.Scopes {
		all += s.FaultedTotal()
		if s.Operation == "ExecuteStatement" || s.Operation == "FetchResults" {
			struck += s.FaultedTotal() - s.Faulted[string(hinted.Kind)]
		}
	}
	t.Logf("%d requests, %d struck; %d statements failed, %d ran; %+v", r.Totals.Asked, all, failed.Load(), r.Executions.Executions, g.Summary(nil).Totals)
	if r.Executions.Repeated != 0 {
		t.Errorf("ran twice: %+v", r.Executions)
	}
	if int(failed.Load()) != struck || struck == 0 || all < 500 {
		t.Errorf("%d statements failed, %d had an unsafe request struck; %d struck in all", failed.Load(), struck, all)
	}
	for _, b := range g.Snapshot().Bulkheads {
		if b.InUse != 0 {
			t.Errorf("slots left: %+v", b)
		}
	}
}

// session opens one; what may have been opened is opened again, which costs the
// server a session and nobody anything else.
func (w *workspace) session(t *testing.T) any {
	for range 10 {
		reply, err := w.call(t.Context(), "OpenSession", fields{1: int32(-7)})
		if err == nil {
			return reply[3]
		}
	}
	t.Error("no session after ten attempts")
	return nil
}

// TestS14_2_OverHTTP2: the same over one HTTP/2 connection that goes away now and
// then; the streams that it did not begin are sent again, by whomever.
func TestS14_2_OverHTTP2(t *testing.T) {
	w := start(t, func(p *sim.Profile) {
		p.Quotas = nil
		p.Warehouse.Polls = 1
		p.Faults = []sim.Fault{{Kind: sim.GoAway, Probability: 0.02}}
	})
	base := w.http.Transport.(*http.Transport)
	base.Protocols = new(http.Protocols)
	base.Protocols.SetUnencryptedHTTP2(true)
	w.pace(t)
	var work sync.WaitGroup
	var failed atomic.Int64
	for client := range 20 {
		work.Go(func() {
			session := w.session(t)
			for i := range 20 {
				operation, err := w.execute(t.Context(), session, fmt.Sprintf("INSERT INTO t VALUES (%d, %d)", client, i))
				if err != nil {
					var why *pacedatabricks.RetryError
					if !errors.As(err, &why) {
						t.Error(err)
					}
					failed.Add(1)
					continue
				}
				if state, _, err := w.finish(t.Context(), operation); err != nil || state != 2 {
					t.Errorf("state %d, %v", state, err)
				}
			}
		})
	}
	work.Wait()
	r := w.server.Report()
	t.Logf("%d requests, %d struck; %d statements failed, %d ran", r.Totals.Asked, r.Totals.FaultedTotal(), failed.Load(), r.Executions.Executions)
	if r.Executions.Repeated != 0 || r.Executions.Executions+int(failed.Load()) < 400 || r.Totals.FaultedTotal() == 0 {
		t.Errorf("%+v", r.Executions)
	}
}
