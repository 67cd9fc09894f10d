package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/words"
)

// quotas is how the run met the provider's limits, and its own.
type quotas struct {
	None            bool      // of the provider's
	Slowed, More    []slowed  // scopes where something happened; More is shown on demand
	LeftOut         string    // scopes without a plot
	Services        []service // the numbers of all
	ServicesLeftOut string
}

// slowed is a scope with its plot.
type slowed struct {
	ID, Scope string
	Message   string
	LastError string
	Plot      plot
}

// service is a line of numbers.
type service struct {
	Scope                                               string
	Calls, Throttled, Retries, Lost, Waits, Wait, Worst string
	Rate, Lowest                                        string
}

const (
	plotsShown    = 8
	servicesShown = 200
)

func quotasOf(doc inventory.Document) quotas {
	t := doc.Throttling
	q := quotas{None: t.Totals.Throttled+t.Totals.Rejected == 0}
	numbers := make(map[string]cloudpace.ScopeSummary, len(t.Scopes))
	for _, s := range t.Scopes {
		numbers[s.Scope] = s
	}
	if line := doc.Timeline; line != nil {
		for i, s := range line.Scopes {
			if len(s.Points) == 0 {
				continue
			}
			n := numbers[s.Scope]
			p := slowed{
				ID: fmt.Sprintf("plot-%d", i+1), Scope: s.Scope, Message: happened(n),
				LastError: words.Short(n.LastError), Plot: plotOf(s, line.Seconds, n.LowestRPS),
			}
			p.Plot.ID = p.ID
			q.Slowed = append(q.Slowed, p)
		}
		if line.LeftOut > 0 {
			q.LeftOut = words.Count(line.LeftOut, "more scope") + " met limits and have no plot; their numbers are in " + inventory.RunFile + "."
		}
	}
	if len(q.Slowed) > plotsShown {
		q.Slowed, q.More = q.Slowed[:plotsShown], q.Slowed[plotsShown:]
	}
	scopes := slices.Clone(t.Scopes)
	slices.SortStableFunc(scopes, func(a, b cloudpace.ScopeSummary) int {
		return cmp.Or(cmp.Compare(b.Throttled, a.Throttled), cmp.Compare(lost(b), lost(a)),
			cmp.Compare(b.WaitSeconds, a.WaitSeconds), cmp.Compare(b.Calls, a.Calls))
	})
	if more := len(scopes) - servicesShown; more > 0 {
		scopes = scopes[:servicesShown]
		q.ServicesLeftOut = words.Number(more) + " more are in " + inventory.RunFile + "."
	}
	for _, s := range scopes {
		q.Services = append(q.Services, service{
			Scope: s.Scope, Calls: words.Number(s.Calls), Throttled: words.Number(s.Throttled), Retries: words.Number(s.Retries),
			Lost: words.Number(lost(s)), Waits: words.Number(s.Waits), Wait: span(s.WaitSeconds), Worst: span(s.LongestWaitSeconds),
			Rate: limit(s.RPS), Lowest: limit(s.LowestRPS),
		})
	}
	return q
}

func lost(s cloudpace.ScopeSummary) int { return s.GaveUp + s.Rejected }

func limit(f float64) string {
	if f == 0 {
		return "–"
	}
	return rps(f) + "/s"
}

// happened words the numbers of a scope, those that are not zero.
func happened(s cloudpace.ScopeSummary) string {
	text := words.Count(s.Calls, "call")
	for _, part := range []struct {
		n    int
		what string
	}{
		{s.Throttled, " throttled"}, {s.TransientErrors, " failed for other reasons"}, {s.Retries, " sent again"},
		{s.GaveUp, " given up"}, {s.Rejected, " refused by an open circuit"},
	} {
		if part.n > 0 {
			text += ", " + words.Number(part.n) + part.what
		}
	}
	if s.Waits > 0 {
		text += fmt.Sprintf("; %s waited for their turn, %s at the longest and %s together",
			words.Number(s.Waits), span(s.LongestWaitSeconds), span(s.WaitSeconds))
	}
	return text + "."
}
