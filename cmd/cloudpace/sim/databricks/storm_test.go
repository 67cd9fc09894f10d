package databricks_test

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// TestStorm: with faults on every kind of request, and clients that repeat all but
// executions, nothing runs twice, and what had its answer lost ran once.
func TestStorm(t *testing.T) {
	const clients, each = 100, 20
	w := start(t, func(p *sim.Profile) {
		p.Quotas = nil
		p.Faults = []sim.Fault{
			{Kind: sim.Reset, Probability: 0.01},
			{Kind: sim.Reset, At: new(0), Probability: 0.01},
			{Kind: sim.Close, At: new(120), Probability: 0.01},
			{Kind: sim.HTML, Status: http.StatusBadGateway, Probability: 0.01},
		}
	})
	w.http.Transport.(*http.Transport).MaxIdleConnsPerHost = clients
	// until repeats what may be repeated.
	until := func(name string, request fields) fields {
		for range 20 {
			reply, err := w.call(t.Context(), name, request)
			if err == nil {
				return reply
			}
		}
		t.Error(name, "failed twenty times")
		return nil
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	lost, answered := map[string]bool{}, map[string]bool{}
	for client := range clients {
		wg.Go(func() {
			session := until("OpenSession", fields{1: int32(-7)})[3]
			for i := range each {
				text := fmt.Sprintf("INSERT INTO t VALUES (%d, %d)", client, i)
				operation, err := w.execute(t.Context(), session, text)
				if errors.Is(err, errStatus) {
					t.Error(err)
				}
				mu.Lock()
				if err != nil {
					lost[text] = true
				} else {
					answered[text] = true
				}
				mu.Unlock()
				if err != nil {
					continue
				}
				for until("GetOperationStatus", fields{1: operation})[2] == int32(1) {
				}
				until("CloseOperation", fields{1: operation})
			}
			until("CloseSession", fields{1: session})
		})
	}
	wg.Wait()
	ran := w.front.Executions()
	lostAndRan := 0
	for text, n := range ran {
		if n != 1 {
			t.Errorf("%s ran %d times", text, n)
		}
		if lost[text] {
			lostAndRan++
		}
	}
	for text := range answered {
		if ran[text] != 1 {
			t.Errorf("%s was answered and ran %d times", text, ran[text])
		}
	}
	r := w.server.Report()
	if len(lost)+len(answered) != clients*each || lostAndRan == 0 || lostAndRan == len(lost) || r.Executions.Executions != len(ran) || r.Executions.Repeated != 0 {
		t.Errorf("%d lost, of which %d ran; %d answered; %+v", len(lost), lostAndRan, len(answered), r.Totals)
	}
	if c := r.Totals; c.Asked != c.Served+c.FaultedTotal() || c.Open != 0 {
		t.Errorf("counted %+v", c)
	}
	t.Logf("%d requests, %d faults", r.Totals.Asked, r.Totals.FaultedTotal())
}

// BenchmarkPoll is what a poll costs the server and a client.
func BenchmarkPoll(b *testing.B) {
	w := start(b, func(p *sim.Profile) { p.Warehouse.Polls = 1_000_000 })
	session, err := w.call(b.Context(), "OpenSession", fields{1: int32(-7)})
	if err != nil {
		b.Fatal(err)
	}
	operation, err := w.execute(b.Context(), session[3], "SELECT 1")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := w.call(b.Context(), "GetOperationStatus", fields{1: operation}); err != nil {
			b.Fatal(err)
		}
	}
}
