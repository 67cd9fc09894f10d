package cloudpace

import (
	"context"
	"errors"
	"log/slog"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cloudpace/cloudpace/internal/sharing"
	"github.com/cloudpace/cloudpace/verdict"
)

// Governor decides when each call may go, learns from what came back, and
// remembers what was lost. One governor should stand in front of every call that
// shares an account: see [Default].
//
// A Governor is safe for concurrent use. It starts no goroutine and needs no
// closing.
type Governor struct {
	log  *slog.Logger
	made time.Time
	cfg  atomic.Pointer[Config]

	lanes lanes // the way from a scope to its state

	// mu guards the registry below. It is taken when a scope is first met and when
	// the configuration changes, never while a call waits.
	mu        sync.Mutex
	providers map[string]*provider
	bars      map[Scope]*bar // of leaves whose settings have changed
	accounts  table[accountKey, *account]
	services  table[Scope, *service]
	orphans   map[*lane]struct{}   // of retired providers, with calls in flight
	folded    map[string]*counters // numbers of forgotten scopes, by provider
	recalled  recalled             // what earlier processes learned, until it is used
	watcher   sharing.Watcher      // nil while nothing is shared
}

// Option is an extra of [New].
type Option func(*Governor)

// WithLogger sends the governor's events to log: circuits that open (warn) and
// close (info), scopes that are barred (warn, see [Call.Bar]), and rates that are cut
// (debug), one event a line. Without it the governor logs nothing.
func WithLogger(log *slog.Logger) Option {
	return func(g *Governor) {
		if log != nil {
			g.log = log
		}
	}
}

// New makes a governor. It returns an error, joined of one [ConfigError] for each
// setting that cannot be used.
func New(cfg Config, opts ...Option) (*Governor, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	g := &Governor{
		log:       slog.New(slog.DiscardHandler),
		made:      time.Now(),
		providers: map[string]*provider{},
		orphans:   map[*lane]struct{}{},
		folded:    map[string]*counters{},
	}
	g.lanes.init()
	cfg = cfg.clone()
	g.cfg.Store(&cfg)
	for _, o := range opts {
		o(g)
	}
	return g, nil
}

var defaultGovernor = sync.OnceValue(func() *Governor {
	g, err := New(DefaultConfig())
	if err != nil {
		panic("cloudpace: the built-in configuration is not valid: " + err.Error())
	}
	return g
})

// Default is the governor of the process, made with [DefaultConfig] when it is
// first asked for. Everything that is given no other governor uses this one.
func Default() *Governor { return defaultGovernor() }

// now is the time by the monotonic clock alone, in two thirds of the time that time.Now
// takes to read two clocks. Its wall time knows nothing of a clock that was set or a
// machine that slept since the governor was made. It is for the first admission of a Do,
// where whatever makes it wait or fail looks at both clocks.
func (g *Governor) now() time.Time { return g.made.Add(time.Since(g.made)) }

// Config gives the configuration in force. Changing what is returned changes
// nothing; hand it to [Governor.Configure].
func (g *Governor) Config() Config { return g.cfg.Load().clone() }

// Provider gives the settings in force for one provider, without its Services,
// which [Governor.Config] has. It is cheap enough to be asked for each call.
// Enabled is false too where the whole governor is disabled.
func (g *Governor) Provider(name string) Provider {
	cfg := g.cfg.Load()
	p := cfg.Provider(plain(name))
	p.Services = nil
	p.Enabled = p.Enabled && cfg.Enabled
	return p
}

// Configure puts another configuration in force. A provider whose settings are
// the same keeps everything; one whose settings changed gets new buckets, circuit
// breakers and a new budget, and those who queue move over to them. Slots in use
// stay counted, numbers go on, and what [Call.Bar] has closed stays closed. On an error, joined of one [ConfigError] for
// each bad setting, nothing changes.
func (g *Governor) Configure(cfg Config) error {
	if err := cfg.Validate(); err != nil {
		return err
	}
	cfg = cfg.clone()
	g.mu.Lock()
	defer g.mu.Unlock()
	was := g.cfg.Load()
	g.cfg.Store(&cfg)
	for name, p := range g.providers {
		if settings := cfg.Provider(name); was.Enabled != cfg.Enabled || !reflect.DeepEqual(p.settings, settings) {
			g.retire(p)
		}
	}
	for key, a := range g.accounts.m { // also of providers that are not in use now
		if settings := cfg.Provider(key.provider); cfg.Enabled && settings.Enabled {
			if g.watcher == nil {
				a.slots.Resize(settings.MaxConcurrency)
			}
			g.metPool(key, a)
		}
	}
	return nil
}

// Begin starts one operation in a scope and admits its first attempt: it asks the
// circuit breaker, waits for a token of every bucket that applies, then for a
// slot, and counts the call. ctx bounds the waits, and its end is what makes an
// outcome Canceled.
//
// On an error nothing was sent and nothing is held; the error is a
// [*CircuitOpenError], a [*DeadlineExceededError], or ctx.Err(). Otherwise the
// call must be ended: with [Call.End], and [Call.Drop] deferred for panics and
// early returns.
func (g *Governor) Begin(ctx context.Context, scope Scope, opts ...BeginOption) (*Call, error) {
	var o BeginOption
	for i := range opts {
		o.add(&opts[i])
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	both := &struct { // in one piece of memory
		call Call
		own  callContext
		mu   sync.Mutex
	}{}
	c := &both.call
	c.resolve(ctx, g, scope, &both.own)
	c.opt = o.callOptions
	var payer *Scope
	if o.charged {
		payer = &o.chargedTo
	}
	if err := c.begin(time.Now(), payer); err != nil {
		return nil, err
	}
	c.mu = &both.mu
	return c, nil
}

// resolve finds out what governs a new call. Its options and begin are to follow.
func (c *Call) resolve(ctx context.Context, g *Governor, scope Scope, own *callContext) {
	own.Context = ctx
	own.in, own.parent = carried(ctx)
	own.lane = g.lane(scope)
	c.own, c.lane = own, own.lane
}

// begin admits the first attempt of a call, which is charged to payer unless that is nil.
// On an error nothing is held.
func (c *Call) begin(now time.Time, payer *Scope) error {
	if !c.lane.provider.enabled {
		c.lane.release()
		c.inert = true
		return nil
	}
	c.charge = c.lane
	if payer != nil {
		c.charge = c.lane.g.chargeLane(*payer, c.lane)
	}
	c.covered = c.own.parent != nil && c.own.parent.covers(c.lane.g, c.lane.scope.account())
	err := c.admit(&admission{ctx: c.own.Context, start: now, now: now, until: c.opt.deadline, token: true})
	if err == nil {
		return nil
	}
	c.done = true
	c.letGo()
	var late *DeadlineExceededError
	if errors.As(err, &late) {
		c.lose(verdict.Describe(err)) // whoever swallows the error has lost a call
	}
	c.own.parent.noteNested(err)
	return err
}

// BeginOption changes how one operation is governed.
type BeginOption struct {
	chargedTo Scope
	charged   bool
	callOptions
}

// callOptions is what of the options a call has to remember.
type callOptions struct {
	hold     bool
	once     bool
	free     bool
	unpaid   bool
	patient  bool // waits before an open circuit
	pages    bool // asks the circuit once, and not for later pages
	deadline time.Time
}

func (o *BeginOption) add(more *BeginOption) {
	if more.charged {
		o.chargedTo, o.charged = more.chargedTo, true
	}
	o.hold = o.hold || more.hold
	o.once = o.once || more.once
	o.free = o.free || more.free
	o.patient = o.patient || more.patient
	o.pages = o.pages || more.pages
	if !more.deadline.IsZero() {
		o.deadline = more.deadline
	}
}

// ChargedTo takes the operation's tokens from another scope, whose rate also
// learns from it. Breaker, slot and numbers stay those of its own scope.
func ChargedTo(scope Scope) BeginOption { return BeginOption{chargedTo: scope, charged: true} }

// HoldSlot keeps the slot from the first attempt to the end of the operation,
// back-off and waits included.
func HoldSlot() BeginOption { return BeginOption{callOptions: callOptions{hold: true}} }

// CountOnce counts the operation as one call however many attempts it takes.
// Without it every attempt and every page counts.
func CountOnce() BeginOption { return BeginOption{callOptions: callOptions{once: true}} }

// FreeTransientRetries lets an attempt that follows a transient failure go
// without a new token. Without it every attempt takes one.
func FreeTransientRetries() BeginOption { return BeginOption{callOptions: callOptions{free: true}} }

// Until bounds the operation's waits for tokens and slots: no attempt begins after
// deadline, and a wait that cannot end in time fails with a
// [*DeadlineExceededError], at once where that is known. An attempt under way is
// not cut. The zero time is no bound.
func Until(deadline time.Time) BeginOption {
	return BeginOption{callOptions: callOptions{deadline: deadline}}
}
