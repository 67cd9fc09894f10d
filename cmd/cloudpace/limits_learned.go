package main

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/words"
)

// learnedScope is what was learned of one bucket, as it is now.
type learnedScope struct {
	cloudpace.LearnedScope
	// Recovered is when the rate is back at the ceiling, where it is lowered.
	Recovered time.Time `json:"recovered,omitzero"`
	// InForce false is an entry that the configuration has no bucket for.
	InForce bool `json:"in_force"`
}

// recall ages what was learned by giving it to a governor that has the limits in force,
// as a run that began now would, and reading it there: what calls in the part would meet.
func (d *limitsDocument) recall(g *cloudpace.Governor, p part, l cloudpace.Learned) error {
	err := g.Restore(l)
	for _, e := range l.Scopes {
		if s, err := cloudpace.ParseScope(e.Scope); err == nil {
			g.Look(s)
		}
	}
	for _, b := range l.Budgets {
		g.Look(cloudpace.Scope{Provider: b.Provider})
	}
	p = p.leaves(g)
	old := make(map[string]time.Time, len(l.Scopes))
	for _, e := range l.Scopes {
		old[e.Level+" "+e.Scope] = e.Time
	}
	now := g.Learned()
	for _, e := range now.Scopes {
		if !p.meets(e) {
			continue
		}
		s := learnedScope{LearnedScope: e, InForce: !e.Time.Equal(old[e.Level+" "+e.Scope])}
		if s.slowed() {
			s.Recovered = e.Recovered()
		}
		d.Learned = append(d.Learned, s)
	}
	for _, b := range now.Budgets {
		if p.Provider == "" || p.Provider == b.Provider {
			d.Budgets = append(d.Budgets, b)
		}
	}
	slices.SortStableFunc(d.Learned, func(a, b learnedScope) int { return cmp.Compare(a.severity(), b.severity()) })
	return err
}

func (e learnedScope) slowed() bool { return e.Quota == nil && e.RPS < e.MaxRPS }

// severity orders what was learned, the most severe first: what sends nothing, then what
// waits, then what is slow, the slowest first.
func (e learnedScope) severity() float64 {
	switch {
	case !e.InForce:
		return 9
	case !e.BarredUntil.IsZero():
		return 0
	case e.OpenUntil.After(e.Time):
		return 1
	case !e.OpenUntil.IsZero(): // one call may try
		return 1.5
	case !e.PausedUntil.IsZero():
		return 2
	case e.slowed():
		return 3 + e.RPS/e.MaxRPS
	}
	return 5
}

// words says what was learned of it, a phrase for each.
func (e learnedScope) words(now time.Time) (list []string) {
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	cause := ""
	if e.Cause != nil {
		cause = ": " + words.Short(e.Cause.Text)
	}
	switch {
	case !e.BarredUntil.IsZero():
		add("quota used up for another %s, until %s%s", span(e.BarredUntil.Sub(now)), e.BarredUntil.Format("2006-01-02 15:04 MST"), cause)
	case e.OpenUntil.After(now):
		add("circuit open for another %s%s", span(e.OpenUntil.Sub(now)), cause)
	case !e.OpenUntil.IsZero():
		add("circuit half-open, the next call tries%s", cause)
	}
	if e.PausedUntil.After(now) {
		add("paused for another %s", span(e.PausedUntil.Sub(now)))
	}
	if q := e.Quota; q != nil {
		add("learned %s/s with a burst of %s, configured %s/s; %s", rateText(q.RPS), rateText(q.Burst), rateText(e.MaxRPS), evidence(q))
	}
	if e.slowed() {
		add("%s of %s/s, back there in %s", rateText(e.RPS), rateText(e.MaxRPS), span(e.Recovered.Sub(now)))
	}
	switch {
	case e.RPS == 0 || len(list) > 0:
	case e.Tokens < 0:
		add("%s tokens in debt", rateText(-e.Tokens))
	default:
		add("%s of %s tokens left", rateText(e.Tokens), rateText(e.Burst))
	}
	return list
}

// evidence says what stands behind a quota that was learned.
func evidence(q *cloudpace.LearnedQuota) string {
	text := fmt.Sprintf("from %s and %s", words.Count(q.Throttles, "throttle"), words.Count(int(q.Calls), "call"))
	if q.Noise >= 0.3 {
		text += ", others have part in it"
	}
	return text
}

// span is a time that somebody waits, in a unit that fits.
func span(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return words.Duration(d)
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.0f h", d.Hours())
}

// capacities are the providers' retry budgets.
func (d *limitsDocument) capacities() map[string]any {
	m := make(map[string]any)
	for _, p := range d.Providers {
		for _, s := range p.Settings {
			if s.Key == "ratelimit."+p.Provider+".retry_budget" {
				m[p.Provider] = s.Value
			}
		}
	}
	return m
}
