package redisstore

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/cloudpace/cloudpace/fleet"
	"github.com/cloudpace/cloudpace/internal/sharing"
)

// Store is a [fleet.Store] on Redis. It is safe for concurrent use.
type Store struct {
	client  redis.UniversalClient
	owned   bool // by Close
	server  string
	prefix  string
	timeout time.Duration

	mu    sync.Mutex
	slots map[string]map[string]bool // member -> the pools that it may have slots of
}

var _ fleet.Store = (*Store)(nil)

// Exchange implements [fleet.Store].
func (s *Store) Exchange(ctx context.Context, member string, asks []fleet.BucketAsk) ([]fleet.BucketGrant, error) {
	grants := make([]fleet.BucketGrant, len(asks))
	b := batch{s: s}
	var learns []*learned
	for i, a := range asks {
		ask, err := a.Sane()
		if err != nil {
			grants[i].Err = err
			continue
		}
		if ask.Learn {
			l := &learned{key: s.learnKey(a.Key), ask: ask, grant: &grants[i]}
			learns = append(learns, l)
			b.add(l.read(), l.take, &grants[i].Err)
			continue
		}
		b.add(&call{script: bucketScript, key: s.bucketKey(a.Key), args: bucketArgs(member, ask)}, func(reply []string) (err error) {
			grants[i].Grant, err = readGrant(reply)
			return err
		}, &grants[i].Err)
	}
	if err := b.run(ctx); err != nil {
		return nil, err
	}
	if err := s.learn(ctx, member, learns); err != nil && !some(grants, learns, err) {
		return nil, err
	}
	return grants, nil
}

// some gives the asks an error that came to no end, and tells whether others have an answer.
func some(grants []fleet.BucketGrant, learns []*learned, err error) bool {
	for _, l := range learns {
		if l.open() {
			l.grant.Err = err
		}
	}
	return slices.ContainsFunc(grants, func(g fleet.BucketGrant) bool { return g.Err == nil })
}

func bucketArgs(member string, a sharing.Ask) []any {
	circuit, left, cooldown, cause := "", time.Duration(0), time.Duration(0), ""
	switch {
	case a.Opened != nil:
		circuit, left, cooldown, cause = "open", a.Opened.Left, a.Opened.Cooldown, a.Opened.Cause
	case a.Closed:
		circuit = "close"
	}
	return []any{
		"ask", member, number(a.Rate), number(a.Burst), number(a.MinRate), flag(a.Adaptive), a.MaxPause.Microseconds(),
		a.Want, a.Back, a.Debt,
		flag(a.Throttled), a.Ago.Microseconds(), a.Hint.Microseconds(), a.Pause.Microseconds(), flag(a.Succeeded),
		circuit, left.Microseconds(), cooldown.Microseconds(), cause, flag(a.Drained),
	}
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

func micro(us int64) time.Duration { return time.Duration(us) * time.Microsecond }

func readGrant(reply []string) (g sharing.Grant, err error) {
	var after, again, paused, open, cooldown int64
	if err := scan(reply, &g.Tokens, &after, &again, &g.Rate, &g.Burst, &g.Active, &paused, &open, &cooldown); err != nil {
		return g, err
	}
	if len(reply) != 2 || !(g.Rate > 0 && g.Rate < math.Inf(1)) || !(g.Burst >= 1 && g.Burst < math.Inf(1)) || g.Tokens < 0 || g.Active < 1 {
		return sharing.Grant{}, errReply
	}
	for _, us := range []int64{max(after, -after), again, paused, open, cooldown} {
		if us < 0 || us > 1<<51 { // the law knows no such times
			return sharing.Grant{}, errReply
		}
	}
	if g.Tokens > 0 {
		g.Every = sharing.Every(g.Rate)
		g.After = micro(after) + g.Every
	}
	g.Again, g.Paused = micro(again), micro(paused)
	if open > 0 {
		g.Circuit = &sharing.Circuit{Left: micro(open), Cooldown: micro(cooldown), Cause: reply[1]}
	}
	return g, nil
}

// Slots implements [fleet.Store].
func (s *Store) Slots(ctx context.Context, member string, asks []fleet.SlotsAsk) ([]fleet.SlotsGrant, error) {
	grants := make([]fleet.SlotsGrant, len(asks))
	b := batch{s: s}
	for i, a := range asks {
		ask, err := a.Sane()
		if err != nil {
			grants[i].Err = err
			continue
		}
		s.note(member, a.Key, ask.InUse > 0 || ask.Want > 0)
		b.add(&call{
			script: slotsScript, key: s.slotsKey(a.Key),
			args: []any{"ask", member, ask.Max, ask.InUse, ask.Want, ask.Lasts.Microseconds()},
		}, func(reply []string) error {
			crowded := 0
			err := scan(reply, &grants[i].Slots, &crowded)
			grants[i].Crowded = crowded == 1
			return err
		}, &grants[i].Err)
	}
	if err := b.run(ctx); err != nil {
		return nil, err
	}
	return grants, nil
}

// note keeps in mind which pools a member has to leave.
func (s *Store) note(member, key string, has bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pools := s.slots[member]
	switch {
	case has && pools == nil:
		s.slots[member] = map[string]bool{key: true}
	case has:
		pools[key] = true
	default:
		delete(pools, key)
		if len(pools) == 0 {
			delete(s.slots, member)
		}
	}
}

// about is what others may know of a member.
type about struct {
	Name    string    `json:"name"`
	Started time.Time `json:"started"`
}

// Present implements [fleet.Store].
func (s *Store) Present(ctx context.Context, member fleet.Member, lasts time.Duration) (members int, err error) {
	text, err := json.Marshal(about{member.Name, member.Started})
	if err != nil {
		return 0, fmt.Errorf("member %q: %w", member.ID, err)
	}
	lasts = min(max(0, lasts), sharing.Longest)
	c := &call{script: membersScript, key: s.membersKey(), args: []any{"present", member.ID, lasts.Microseconds(), text}}
	b := batch{s: s}
	b.add(c, func(reply []string) error { return scan(reply, &members) }, &err)
	if e := b.run(ctx); e != nil {
		return 0, e
	}
	return members, err
}

// Leave implements [fleet.Store]. The slots that are free at once are those that the
// member had through this Store.
func (s *Store) Leave(ctx context.Context, member string) error {
	s.mu.Lock()
	pools := s.slots[member]
	delete(s.slots, member)
	s.mu.Unlock()
	done := func([]string) error { return nil }
	b := batch{s: s}
	errs := make([]error, 1+len(pools))
	b.add(&call{script: membersScript, key: s.membersKey(), args: []any{"leave", member}}, done, &errs[0])
	for pool := range pools {
		b.add(&call{script: slotsScript, key: s.slotsKey(pool), args: []any{"leave", member}}, done, &errs[len(b.calls)])
	}
	if err := b.run(ctx); err != nil {
		return err
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// String tells where the store is, without secrets.
func (s *Store) String() string { return s.server }

// Close closes the client of a store that [Open] has made. That of [New] stays open.
func (s *Store) Close() error {
	if !s.owned {
		return nil
	}
	return s.client.Close()
}

// batch is a row of calls, each with what reads its answer and the place of its error.
type batch struct {
	s     *Store
	calls []*call
	read  []func(reply []string) error
	errs  []*error
}

func (b *batch) add(c *call, read func([]string) error, err *error) {
	b.calls, b.read, b.errs = append(b.calls, c), append(b.read, read), append(b.errs, err)
}

// run makes the calls. Where some were answered, or refused for what their key holds, the
// others have an error each; where none was, there is one error for all.
func (b *batch) run(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(b.calls) == 0 {
		return nil
	}
	b.s.run(ctx, b.calls)
	var first error
	reached := false
	for i, c := range b.calls {
		err := c.err
		if err == nil {
			err = b.read[i](c.reply)
		}
		if err == nil {
			reached = true
			continue
		}
		err = b.s.fault(ctx, c.key, err)
		*b.errs[i] = err
		reached = reached || one(err)
		if first == nil {
			first = err
		}
	}
	if !reached {
		return first
	}
	return nil
}
