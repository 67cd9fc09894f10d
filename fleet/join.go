package fleet

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/internal/bucket"
	"github.com/cloudpace/cloudpace/internal/bulkhead"
	"github.com/cloudpace/cloudpace/internal/sharing"
)

// Options say how a process takes part. The zero value is fit for use.
type Options struct {
	// Name is what people know the process by; empty means program and process id at
	// the host's name.
	Name string
	// Lease is how long the slots of a process that is gone without a word, and its
	// place, stay taken; 0 means 10 s.
	Lease time.Duration
	// Timeout bounds each question to the store; 0 means 250 ms. Calls that have a token
	// at hand never wait for it; the others wait up to half a second longer until the
	// process finds that the store is gone.
	Timeout time.Duration
	// Logger gets one event when the store is gone (warn) and one when it is back
	// (info); nil logs nothing.
	Logger *slog.Logger
}

const (
	defaultLease   = 10 * time.Second
	defaultTimeout = 250 * time.Millisecond
	// joining may take longer: connections are made.
	joining = 5 * time.Second
)

// State is how a process takes part at a moment.
type State struct {
	// Alone: the store does not answer, and the process goes on within its share.
	Alone bool `json:"alone"`
	// Members is how many processes there are, this one included, as last seen.
	Members int `json:"members"`
	// Outages counts how often the store was gone, and AloneSeconds adds up for how
	// long. Cause is the last error.
	Outages      int     `json:"outages"`
	AloneSeconds float64 `json:"alone_seconds"`
	Cause        string  `json:"cause,omitempty"`
	// Exchanges counts the questions to the store for tokens, and Tokens what came of
	// them.
	Exchanges int64 `json:"exchanges"`
	Tokens    int64 `json:"tokens"`
}

// Membership is one governor's part in a fleet. Its methods are safe for concurrent use.
type Membership struct {
	store   Store
	o       Options
	self    Member
	log     *slog.Logger
	detach  func()
	poked   chan struct{} // something is dirty
	stop    chan struct{}
	stopped chan struct{}
	closing sync.Once

	mu    sync.Mutex
	lanes map[*bucket.Bucket]*lane
	pools map[*bulkhead.Bulkhead]*pool
	state State
	since time.Time // alone since then; zero: not alone

	dirtied sync.Mutex // taken with locks of buckets held
	dirty   []*lane
}

// Join lets the governor share its limits with all that join with the same store. Its
// buckets, those that it has and those to come, live on leases from then on, its circuits
// open with the others', and its slots are the fleet's. Members are to be configured
// alike.
//
// The error says why the store is of no use, or that ctx has ended; nothing is shared
// then. ctx bounds the joining alone.
func Join(ctx context.Context, g *cloudpace.Governor, store Store, o Options) (*Membership, error) {
	o.Lease = cmp.Or(max(0, o.Lease), defaultLease)
	o.Timeout = cmp.Or(max(0, o.Timeout), defaultTimeout)
	o.Name = cmp.Or(o.Name, processName())
	m := &Membership{
		store: store, o: o, log: cmp.Or(o.Logger, slog.New(slog.DiscardHandler)),
		self:  Member{ID: rand.Text(), Name: o.Name, Started: time.Now().UTC()},
		poked: make(chan struct{}, 1), stop: make(chan struct{}), stopped: make(chan struct{}),
		lanes: make(map[*bucket.Bucket]*lane), pools: make(map[*bulkhead.Bulkhead]*pool),
	}
	ctx, cancel := context.WithTimeout(ctx, joining)
	defer cancel()
	var err error
	if m.state.Members, err = store.Present(ctx, m.self, o.Lease); err != nil {
		return nil, fmt.Errorf("fleet: joining: %w", err)
	}
	if m.detach, err = g.Share(watcher{m}); err != nil {
		_ = store.Leave(ctx, m.self.ID) // it is over in a lease anyway
		return nil, fmt.Errorf("fleet: joining: %w", err)
	}
	go m.run()
	return m, nil
}

func processName() string {
	host, _ := os.Hostname()
	return fmt.Sprintf("%s-%d@%s", filepath.Base(os.Args[0]), os.Getpid(), cmp.Or(host, "unknown"))
}

// ID is how the store knows this process.
func (m *Membership) ID() string { return m.self.ID }

// State tells how the process takes part now.
func (m *Membership) State() State {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.state
	if !m.since.IsZero() {
		s.AloneSeconds += time.Since(m.since).Seconds()
	}
	return s
}

// Close gives back what is left and leaves the fleet; the governor then has its
// configured limits for itself. It waits for the store no longer than a few timeouts, and
// may be called more than once.
func (m *Membership) Close() {
	m.closing.Do(func() {
		m.detach()
		close(m.stop)
	})
	<-m.stopped
}

// poke lets the loop look.
func (m *Membership) poke() {
	select {
	case m.poked <- struct{}{}:
	default:
	}
}

// watcher is a Membership as the governor sees it.
type watcher struct{ m *Membership }

var _ sharing.Watcher = watcher{}

func (w watcher) Met(l sharing.Lane) {
	m := w.m
	m.mu.Lock()
	defer m.mu.Unlock()
	n := &lane{Lane: l, m: m, rate: l.Rate, burst: l.Burst}
	m.lanes[l.Bucket] = n
	if m.state.Alone {
		n.alone(time.Now(), m.state.Members)
	} else {
		n.lease(time.Now())
	}
}

func (w watcher) Left(b *bucket.Bucket) {
	w.m.mu.Lock()
	defer w.m.mu.Unlock()
	if n := w.m.lanes[b]; n != nil {
		n.gone.Store(true)
		delete(w.m.lanes, b)
	}
}

func (w watcher) Turned(b *bucket.Bucket) {
	w.m.mu.Lock()
	n := w.m.lanes[b]
	w.m.mu.Unlock()
	if n != nil {
		n.wake()
	}
}

func (w watcher) MetPool(p sharing.Pool) {
	m := w.m
	m.mu.Lock()
	defer m.mu.Unlock()
	if had := m.pools[p.Slots]; had != nil {
		had.Pool = p // its size has changed
		if m.state.Alone {
			had.alone(m.state.Members)
		}
		m.poke()
		return
	}
	n := &pool{Pool: p}
	m.pools[p.Slots] = n
	p.Slots.Watch(m.poke)
	if m.state.Alone {
		n.alone(m.state.Members)
	} else {
		p.Slots.Resize(0)
	}
}

func (w watcher) LeftPool(s *bulkhead.Bulkhead) {
	w.m.mu.Lock()
	defer w.m.mu.Unlock()
	delete(w.m.pools, s)
	s.Watch(nil)
}

// listed puts a lane into the list of those to look at.
func (m *Membership) listed(n *lane) {
	m.dirtied.Lock()
	m.dirty = append(m.dirty, n)
	m.dirtied.Unlock()
	m.poke()
}

// take empties the list.
func (m *Membership) take() []*lane {
	m.dirtied.Lock()
	defer m.dirtied.Unlock()
	list := m.dirty
	m.dirty = nil
	return list
}
