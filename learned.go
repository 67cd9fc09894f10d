package cloudpace

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/cloudpace/cloudpace/internal/breaker"
	"github.com/cloudpace/cloudpace/internal/bucket"
	"github.com/cloudpace/cloudpace/internal/budget"
	"github.com/cloudpace/cloudpace/verdict"
)

// Learned is what a governor would forget when its process ends: rates that throttles
// have lowered, tokens that are spent, pauses, open circuits, quotas that are used up,
// retry budgets. It is plain data that can be written as JSON; [Governor.Learned]
// reads it, and [Governor.Restore] gives it to another governor, later.
type Learned struct {
	Scopes  []LearnedScope  `json:"scopes"`
	Budgets []LearnedBudget `json:"budgets"`
}

// LearnedScope is what is known of one bucket, and for a leaf of its circuit. Times are
// in UTC; one that is zero means that there is nothing of its kind.
type LearnedScope struct {
	Scope string `json:"scope"`
	Level string `json:"level"` // "leaf", "account" or "provider", as in [BucketState]
	// Time is when the rest was true.
	Time time.Time `json:"time"`

	RPS    float64 `json:"rps"`     // in force; 0 where only the circuit is known
	MaxRPS float64 `json:"max_rps"` // the ceiling at that time
	Burst  float64 `json:"burst"`   // in force
	Tokens float64 `json:"tokens"`  // were there; negative is debt

	// Quota is what a leaf has found out whose controller learns; RPS, Burst and Tokens are
	// its own then. Nothing brings it back to a ceiling.
	Quota *LearnedQuota `json:"quota,omitempty"`

	Throttled   time.Time `json:"throttled,omitzero"`    // the last throttle
	PausedUntil time.Time `json:"paused_until,omitzero"` // a hint's pause

	OpenUntil       time.Time `json:"open_until,omitzero"`        // the circuit
	CooldownSeconds float64   `json:"cooldown_seconds,omitempty"` // its cooldown, failed tries included
	Closed          time.Time `json:"closed,omitzero"`            // the circuit, by a try; what opened before says nothing any more
	BarredUntil     time.Time `json:"barred_until,omitzero"`      // a quota that is used up; see [Call.Bar]
	// Cause says why the circuit is open or the quota is used up, with secrets removed.
	Cause *LearnedCause `json:"cause,omitempty"`
}

// LearnedCause is the error that opened a circuit, as far as it outlives its process.
type LearnedCause struct {
	Text    string `json:"text"`
	Status  int    `json:"status,omitempty"` // HTTP's
	Code    string `json:"code,omitempty"`   // the provider's
	Message string `json:"message,omitempty"`
}

// LearnedBudget is one provider's retry budget.
type LearnedBudget struct {
	Provider string    `json:"provider"`
	Time     time.Time `json:"time"`
	Tokens   float64   `json:"tokens"`
}

// Learned reads what is worth remembering, ordered by scope. A governor that has met
// no trouble and whose buckets are full gives an empty one. What was restored and not
// used since is in it too, as it was. Looking changes nothing.
func (g *Governor) Learned() Learned {
	now := time.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	l := Learned{Scopes: []LearnedScope{}, Budgets: []LearnedBudget{}}
	add := func(s Scope, level string, b *bucket.Bucket, of *leaf) {
		if e, ok := remember(s, level, b, of, now); ok {
			l.Scopes = append(l.Scopes, e)
		}
	}
	for name, p := range g.providers {
		if !p.enabled {
			continue
		}
		if left := p.budget.Left(); left < float64(p.budget.Capacity()) {
			l.Budgets = append(l.Budgets, LearnedBudget{name, now.UTC().Round(0), left})
		}
		if p.bucket != nil {
			add(Scope{Provider: name}, levelProvider, p.bucket, nil)
		}
		for account, b := range p.buckets.m {
			add(Scope{Provider: name, Account: account}, levelAccount, b, nil)
		}
		for scope, of := range p.leaves.m {
			add(scope, levelLeaf, of.bucket, of)
		}
	}
	for _, e := range g.recalled.scopes {
		l.Scopes = append(l.Scopes, e)
	}
	for _, e := range g.recalled.budgets {
		l.Budgets = append(l.Budgets, e)
	}
	slices.SortFunc(l.Scopes, func(a, b LearnedScope) int {
		return cmp.Or(cmp.Compare(a.Scope, b.Scope), cmp.Compare(a.Level, b.Level))
	})
	slices.SortFunc(l.Budgets, func(a, b LearnedBudget) int { return cmp.Compare(a.Provider, b.Provider) })
	return l
}

// remember reads one bucket, with the circuit of a leaf.
func remember(s Scope, level string, b *bucket.Bucket, of *leaf, now time.Time) (e LearnedScope, ok bool) {
	e = LearnedScope{Scope: s.String(), Level: level, Time: now.UTC().Round(0)}
	if m, is := b.Memory(now); is && !math.IsInf(m.Rate, 0) {
		ok = true
		e.RPS, e.MaxRPS, e.Burst, e.Tokens = m.Rate, m.Ceiling, m.Burst, m.Tokens
		e.Throttled, e.PausedUntil = utc(m.Throttled), utc(m.Paused)
		e.Quota = newLearnedQuota(m.Learned)
	}
	if of == nil {
		return e, ok
	}
	if m, is := of.breaker.Memory(); is {
		ok = true
		e.OpenUntil, e.CooldownSeconds, e.Cause = utc(m.Until), m.Cooldown.Seconds(), outlive(s.Provider, m.Cause)
	}
	if closed := of.breaker.Closed(now); !closed.IsZero() {
		ok = true
		e.Closed = utc(closed)
	}
	if is, wait, cause := of.barred(now); is {
		ok = true
		e.BarredUntil, e.Cause = utc(now.Add(wait)), outlive(s.Provider, cause)
	}
	return e, ok
}

func utc(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Round(0)
}

// outlive words an error.
func outlive(provider string, err error) *LearnedCause {
	if err == nil {
		return nil
	}
	r := verdict.Examine(provider, err)
	return &LearnedCause{Text: verdict.DescribeFor(provider, err), Status: r.Status, Code: r.Code, Message: r.Message}
}

// recalled is what another process learned and this one has not used yet.
type recalled struct {
	scopes  map[levelKey]LearnedScope
	budgets map[string]LearnedBudget
}

type levelKey struct {
	scope Scope
	level string
}

// The levels of buckets, as snapshots name them.
const (
	levelLeaf     = "leaf"
	levelAccount  = "account"
	levelProvider = "provider"
)

// Restore takes over what another governor had learned, mostly that of an earlier
// process. It is aged: a pause that is past is over, an open circuit lets one call try
// when its time has come, tokens and rates have come back as time allows (a twentieth
// of the ceiling for each five calm seconds), never above the ceiling in force, and an
// empty retry budget is full again after ten minutes. It only ever holds back, so what
// this governor has learned itself stays.
//
// An entry that makes no sense is left out; the error, joined of one for each, says
// which. The others hold all the same.
func (g *Governor) Restore(l Learned) error {
	var faults []error
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	for _, e := range l.Scopes {
		s, err := e.check()
		if err != nil {
			faults = append(faults, err)
			continue
		}
		g.recalled.keep(s, e)
		if p := g.providers[s.Provider]; p != nil {
			g.recallNow(p, s, e.Level, now)
		}
	}
	for _, e := range l.Budgets {
		if e.Provider = plain(e.Provider); e.Provider == "" || bad(e.Tokens) {
			faults = append(faults, fmt.Errorf("cloudpace: learned budget of %q: %g tokens", e.Provider, e.Tokens))
			continue
		}
		if g.recalled.budgets == nil {
			g.recalled.budgets = map[string]LearnedBudget{}
		}
		g.recalled.budgets[e.Provider] = e
		if p := g.providers[e.Provider]; p != nil {
			g.recallBudget(p, now)
		}
	}
	return errors.Join(faults...)
}

func (r *recalled) keep(s Scope, e LearnedScope) {
	if r.scopes == nil {
		r.scopes = map[levelKey]LearnedScope{}
	}
	r.scopes[levelKey{s, e.Level}] = e
}

// check finds what makes no sense.
func (e LearnedScope) check() (Scope, error) {
	s, err := ParseScope(e.Scope)
	switch {
	case err != nil:
		return s, err
	case s.Provider == "":
		err = errors.New("no provider")
	case !slices.Contains([]string{levelLeaf, levelAccount, levelProvider}, e.Level):
		err = fmt.Errorf("level %q (allowed: leaf, account, provider)", e.Level)
	case bad(e.RPS) || bad(e.MaxRPS) || bad(e.Burst) || bad(e.Tokens) || bad(e.CooldownSeconds) || e.RPS < 0:
		err = errors.New("a number that cannot be")
	default:
		err = e.Quota.check()
	}
	if err != nil {
		err = fmt.Errorf("cloudpace: learned scope %s: %w", e.Scope, err)
	}
	return s.normal(), err
}

func bad(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }

// recallNow gives a provider that is in use what is remembered of one of its buckets.
// g.mu is held.
func (g *Governor) recallNow(p *provider, s Scope, level string, now time.Time) {
	switch level {
	case levelProvider:
		g.recallBucket(p.bucket, s, level, now)
	case levelAccount:
		g.recallBucket(p.buckets.get(s.Account), s, level, now)
	default:
		if l := p.leaves.get(s); l != nil {
			g.recallLeaf(l, now)
		}
	}
}

// recallBucket gives a bucket what is remembered of it, once. g.mu is held.
func (g *Governor) recallBucket(b *bucket.Bucket, s Scope, level string, now time.Time) (e LearnedScope, ok bool) {
	key := levelKey{s, level}
	if e, ok = g.recalled.scopes[key]; !ok || b == nil {
		return e, false
	}
	delete(g.recalled.scopes, key)
	if e.RPS > 0 {
		b.Recall(now, e.bucket())
	}
	return e, true
}

// recallLeaf gives a leaf what is remembered of it, once. g.mu is held.
func (g *Governor) recallLeaf(l *leaf, now time.Time) {
	e, ok := g.recallBucket(l.bucket, l.scope, levelLeaf, now)
	if !ok {
		return
	}
	cause := e.Cause.err(l.scope.Provider)
	l.breaker.Recall(now, e.circuit(cause))
	if left := e.BarredUntil.Sub(now.Round(0)); left > 0 {
		l.barUntil(now.Add(min(left, longestBar)), cause)
	}
}

// longestBar is a day with its hour of daylight saving time. A quota is renewed by then,
// so what is barred for longer was written by a clock that was wrong.
const longestBar = 25 * time.Hour

func (e LearnedScope) bucket() bucket.Memory {
	return bucket.Memory{
		At: e.Time, Rate: e.RPS, Ceiling: e.MaxRPS, Burst: e.Burst, Tokens: e.Tokens, Throttled: e.Throttled, Paused: e.PausedUntil,
		Learned: e.Quota.state(time.Since(e.Time)),
	}
}

func (e LearnedScope) circuit(cause error) breaker.Memory {
	return breaker.Memory{Until: e.OpenUntil, Cooldown: time.Duration(e.CooldownSeconds * float64(time.Second)), Cause: cause}
}

// Over is when nothing is left of it, so that remembering it any longer is of no use.
func (e LearnedScope) Over() time.Time {
	if e.Quota != nil {
		return e.Time.Add(quotaLasts)
	}
	return slices.MaxFunc([]time.Time{e.bucket().Over(), e.circuit(nil).Over(), e.Closed.Add(breaker.Forgotten), e.BarredUntil}, time.Time.Compare)
}

// Recovered is when the rate is back at the ceiling, if nothing is throttled until then:
// Time where it is not lowered, and where it was learned.
func (e LearnedScope) Recovered() time.Time {
	if e.Quota != nil {
		return e.Time
	}
	return e.bucket().Risen()
}

// Over is when a budget that was empty is full again.
func (b LearnedBudget) Over() time.Time { return b.Time.Add(budget.Refill) }

func (g *Governor) recallBudget(p *provider, now time.Time) {
	e, ok := g.recalled.budgets[p.name]
	if !ok {
		return
	}
	delete(g.recalled.budgets, p.name)
	p.budget.Recall(e.Tokens, now.Round(0).Sub(e.Time))
}

// err makes an error of the cause again. Its text is the one it had, and the verdict
// package finds the provider's answer in it.
func (c *LearnedCause) err(provider string) error {
	if c == nil {
		return errors.New("an earlier process found it so")
	}
	e := &learnedError{text: c.Text}
	if c.Code != "" || c.Status != 0 {
		e.answer = &verdict.ResponseError{Provider: provider, StatusCode: c.Status, Code: c.Code, Message: c.Message}
	}
	return e
}

// learnedError is what ended a call of an earlier process.
type learnedError struct {
	text   string
	answer error
}

func (e *learnedError) Error() string { return e.text }
func (e *learnedError) Unwrap() error { return e.answer }
