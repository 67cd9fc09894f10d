package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/words"
)

const (
	// On a terminal a few lines are kept up to date. Elsewhere, in a log, there is a
	// line at the start, at the end, and now and then.
	refreshTerminal = 200 * time.Millisecond
	refreshLog      = 10 * time.Second
	// One that stops waiting stays on the screen for a moment: what waits at a pace
	// of many a second comes and goes quicker than the eye.
	lingers = time.Second
)

// progress shows on stderr how far a run is.
type progress struct {
	tally inventory.Tally

	w        io.Writer
	screen   *screen // nil where there is no terminal
	governor *cloudpace.Governor
	stats    *cloudpace.Stats
	started  time.Time

	mu       sync.Mutex
	phase    string // what is done before there are tasks, and when they are told to end
	accounts []accountProgress
	gaps     int

	shown   []shownWait   // used by the loop alone
	waiting []quotaWait   // when the governor was last read
	read    time.Time     // … when that was
	cost    time.Duration // … and what it cost
	poke    chan struct{}
	end     chan struct{}
	ended   chan struct{}
	stopped sync.Once
}

// accountProgress is how far one account is.
type accountProgress struct {
	id                string
	total, done, gaps int
}

// moment is what a run looks like at one time; the screen and the log draw it.
type moment struct {
	phase    string
	elapsed  time.Duration
	tasks    inventory.Progress
	accounts []accountProgress
	calls    int
	// throttled counts the answers that asked for less.
	throttled int
	gaps      int
	waiting   []quotaWait // longest wait first
	now       time.Time
}

// quotaWait is a quota that is waited for.
type quotaWait struct {
	scope    cloudpace.Scope
	rate     float64 // now, a second
	most     float64
	queued   int
	paused   time.Duration // until the provider may be asked again
	duration time.Duration // for one that would come now
}

type shownWait struct {
	quotaWait
	seen time.Time // waiting, last
}

func newProgress(w io.Writer, governor *cloudpace.Governor, stats *cloudpace.Stats) *progress {
	p := &progress{
		w: w, screen: newScreen(w), governor: governor, stats: stats, started: time.Now(),
		poke: make(chan struct{}, 1), end: make(chan struct{}), ended: make(chan struct{}),
	}
	go p.loop()
	return p
}

// say tells what goes on besides the tasks; "" is nothing.
func (p *progress) say(phase string) {
	p.mu.Lock()
	p.phase = phase
	p.mu.Unlock()
	select {
	case p.poke <- struct{}{}:
	default:
	}
}

// begin tells which tasks there will be.
func (p *progress) begin(tasks []inventory.Task) {
	p.mu.Lock()
	for _, t := range tasks {
		i := slices.IndexFunc(p.accounts, func(a accountProgress) bool { return a.id == t.Account })
		if i < 0 {
			i = len(p.accounts)
			p.accounts = append(p.accounts, accountProgress{id: t.Account})
		}
		p.accounts[i].total++
	}
	p.mu.Unlock()
	p.say("")
}

// done is told of each record.
func (p *progress) done(r inventory.Record) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.accounts {
		if a := &p.accounts[i]; a.id == r.Account {
			a.done++
			if r.Gap() {
				a.gaps++
				p.gaps++
			}
		}
	}
}

func (p *progress) loop() {
	defer close(p.ended)
	every := refreshLog
	if p.screen != nil {
		every = refreshTerminal
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	said := false
	for {
		select {
		case now := <-tick.C:
			if p.screen != nil {
				p.screen.draw(p.look(now))
			} else {
				fmt.Fprintln(p.w, logLine(p.look(now)))
			}
		case <-p.poke:
			switch m := p.look(time.Now()); {
			case p.screen != nil:
				p.screen.draw(m)
			case m.tasks.Total > 0 || !said: // a log has what comes first, the start of the tasks, and an interruption
				said = true
				fmt.Fprintln(p.w, logLine(m))
			}
		case <-p.end:
			if p.screen != nil {
				p.screen.clear()
			} else if m := p.look(time.Now()); m.tasks.Total > 0 {
				m.phase = ""
				fmt.Fprintln(p.w, logLine(m))
			}
			return
		}
	}
}

// stop takes the live lines away, or says in a log how it ended. Nothing is shown
// after it returns.
func (p *progress) stop() {
	p.stopped.Do(func() { close(p.end) })
	<-p.ended
}

// sparing bounds the share of the time that is spent on reading the governor.
const sparing = 20

// look takes a moment of the run.
func (p *progress) look(now time.Time) moment {
	p.mu.Lock()
	m := moment{
		now: now, elapsed: now.Sub(p.started), phase: p.phase, accounts: slices.Clone(p.accounts), gaps: p.gaps, tasks: p.tally.Progress(),
	}
	p.mu.Unlock()
	if m.tasks.Total == 0 { // they are known a little before they begin
		for _, a := range m.accounts {
			m.tasks.Total += a.total
		}
	}
	totals := p.stats.Totals()
	m.calls, m.throttled = totals.Calls, totals.Throttled
	if now.Sub(p.read) >= sparing*p.cost { // a governor of many scopes is not read every time
		before := time.Now()
		p.waiting, p.read = waits(p.governor.Snapshot()), now
		p.cost = time.Since(before)
	}
	p.shown = choose(p.shown, p.waiting, now)
	for _, s := range p.shown {
		m.waiting = append(m.waiting, s.quotaWait)
	}
	return m
}

// waits finds the quotas that are waited for.
func waits(s cloudpace.Snapshot) (list []quotaWait) {
	for _, b := range s.Buckets {
		if b.Waiting == 0 {
			continue
		}
		scope, err := cloudpace.ParseScope(b.Scope)
		if err != nil {
			continue // nothing that could be told
		}
		w := quotaWait{scope: scope, rate: b.RPS, most: b.MaxRPS, queued: b.Waiting, paused: words.Seconds(b.PausedSeconds)}
		if b.RPS > 0 {
			w.duration = w.paused + words.Seconds(max(0, float64(b.Waiting+1)-b.Tokens)/b.RPS)
		}
		list = append(list, w)
	}
	return list
}

// waitsShown is how many quotas there is room for.
const waitsShown = 3

// choose takes those that wait longest. One that is shown already keeps its line
// until it has not waited for a moment or another waits clearly longer, so that what
// is read stays where it is.
func choose(shown []shownWait, waiting []quotaWait, now time.Time) []shownWait {
	var kept []shownWait
	for _, s := range shown {
		i := slices.IndexFunc(waiting, func(w quotaWait) bool { return w.scope == s.scope })
		switch {
		case i >= 0:
			kept = append(kept, shownWait{waiting[i], now})
			waiting = slices.Delete(slices.Clone(waiting), i, i+1)
		case now.Sub(s.seen) < lingers:
			s.queued, s.paused, s.duration = 0, 0, 0
			kept = append(kept, s)
		}
	}
	waiting = slices.Clone(waiting)
	slices.SortStableFunc(waiting, func(a, b quotaWait) int { return int(b.duration - a.duration) })
	for _, w := range waiting {
		if len(kept) < waitsShown {
			kept = append(kept, shownWait{w, now})
			continue
		}
		least := slices.MinFunc(kept, func(a, b shownWait) int { return int(a.duration - b.duration) })
		if w.duration <= least.duration+least.duration/4+lingers/5 {
			break
		}
		i := slices.IndexFunc(kept, func(s shownWait) bool { return s.scope == least.scope })
		kept[i] = shownWait{w, now}
	}
	return kept
}

// logLine is a moment in one line: how far the run is, what is waited for, and
// what has been going on longest.
func logLine(m moment) string {
	if m.tasks.Total == 0 {
		return m.phase
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d/%d tasks, %s, %s", m.tasks.Done, m.tasks.Total, count(m.tasks.Assets, "asset"), count(m.calls, "call"))
	if m.gaps > 0 {
		fmt.Fprintf(&b, ", %s", count(m.gaps, "gap"))
	}
	if m.phase != "" {
		fmt.Fprintf(&b, "; %s", m.phase)
	}
	if len(m.waiting) > 0 {
		w := m.waiting[0]
		fmt.Fprintf(&b, "; waiting for %s: %s", w.scope, w.words())
	}
	if len(m.tasks.Running) > 0 {
		r := m.tasks.Running[0]
		fmt.Fprintf(&b, "; longest in %s of %s %s (%s)", r.Task, r.Account, r.Region, m.now.Sub(r.Since).Round(time.Second))
		if more := len(m.tasks.Running) - 1; more > 0 {
			fmt.Fprintf(&b, " and %d more", more)
		}
	}
	return b.String()
}

// words tells the rate, the queue and the wait.
func (w quotaWait) words() string {
	text := fmt.Sprintf("%s of %s/s, %d queued", rateText(w.rate), rateText(w.most), w.queued)
	if w.paused > 0 {
		return text + ", paused " + words.Duration(w.paused)
	}
	return text + ", " + words.Duration(w.duration)
}

func rateText(r float64) string {
	if r < 10 {
		return strings.TrimSuffix(fmt.Sprintf("%.1f", r), ".0")
	}
	return fmt.Sprintf("%.0f", r)
}

// terminal gives the file behind w if it is a terminal that understands how to
// move the cursor.
func terminal(w io.Writer) (*os.File, bool) {
	f, ok := w.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb"
}
