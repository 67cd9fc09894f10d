package paceazure

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resourcegraph/armresourcegraph"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/internal/backoff"
	"github.com/cloudpace/cloudpace/verdict"
)

// page reads one page. A governed client does all that is needed in its pipeline,
// and what comes out of it is final (S12.2).
func (g *Graph) page(ctx context.Context, query armresourcegraph.QueryRequest) (armresourcegraph.QueryResponse, http.Header, error) {
	if g.governed {
		page, sent, err := g.send(ctx, query)
		return page, sent.header(), err
	}
	deadline := time.Now().Add(g.governor.Provider(provider).Deadline)
	call, err := g.governor.Begin(ctx, graphScope, cloudpace.Until(deadline))
	if err != nil {
		return armresourcegraph.QueryResponse{}, nil, err
	}
	defer call.Drop()
	if d, ok := ctx.Deadline(); ok && d.Before(deadline) {
		deadline = d
	}
	f := &fetch{graph: g, call: call, deadline: deadline}
	return f.run(ctx, query)
}

// fetch is one page of a client that is not governed, or not known to be.
type fetch struct {
	graph    *Graph
	call     *cloudpace.Call
	deadline time.Time
}

// backoffs are the pauses before a page is asked for again (S12.3); the last one
// repeats.
var backoffs = []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 30 * time.Second}

// longestUnpaced bounds how long a hint is waited out where the governor is
// disabled, so that no bucket does.
const longestUnpaced = 300 * time.Second

func (f *fetch) run(ctx context.Context, query armresourcegraph.QueryRequest) (armresourcegraph.QueryResponse, http.Header, error) {
	retries := f.graph.governor.Config().Azure.GraphMaxRetries
	for tries := 0; ; tries++ {
		leave := &admission{governor: f.graph.governor, scope: graphScope, call: f.call}
		page, sent, err := f.graph.send(leave.context(), query)
		header := sent.header()
		if leave.spent.Load() {
			return page, header, err // a governed pipeline has reported and ended the call
		}
		if err == nil {
			told(f.call, graphScope, header)
			f.call.Succeeded()
			believe(f.call, graphScope, header)
			f.call.End(nil)
			return page, header, nil
		}
		if loginFailed(err, sent.answer) {
			return page, header, err
		}
		kind := f.call.Failed(err)
		if kind != verdict.Throttled || tries >= retries {
			f.call.End(err)
			return page, header, err
		}
		if stop := f.again(ctx, tries, err); stop != nil {
			f.call.End(stop)
			return page, header, stop
		}
	}
}

// again waits for leave to ask for the page once more.
func (f *fetch) again(ctx context.Context, tries int, err error) error {
	wait := backoffs[min(tries, len(backoffs)-1)]
	if hint, ok := verdict.RetryAfter(err); ok {
		if !f.call.Governed() {
			hint = min(hint, longestUnpaced)
		}
		wait = max(wait, hint)
	}
	if time.Until(f.deadline) < wait {
		return &cloudpace.DeadlineExceededError{Scope: graphScope, RetryAfter: wait, Err: err}
	}
	if stop := f.call.Retry(); stop != nil {
		return stop
	}
	if ended := backoff.Rest(ctx, wait); ended != nil {
		return fmt.Errorf("cloudpace: %s: %w while waiting to repeat after: %w", graphScope, ended, err)
	}
	return f.call.Next(ctx)
}
