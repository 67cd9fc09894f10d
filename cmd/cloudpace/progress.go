package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
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
	at       map[string]int // where each account is in accounts
	gaps     int
	notes    []string // to be printed above what is kept up to date

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

// note prints lines that stay.
func (p *progress) note(lines []string) {
	p.mu.Lock()
	p.notes = append(p.notes, lines...)
	p.mu.Unlock()
}

// print shows the notes that there are.
func (p *progress) print() {
	p.mu.Lock()
	notes := p.notes
	p.notes = nil
	p.mu.Unlock()
	if len(notes) > 0 && p.screen != nil {
		p.screen.clear()
	}
	for _, n := range notes {
		fmt.Fprintln(wrapped(p.w), n)
	}
}

// begin tells which tasks there will be.
func (p *progress) begin(tasks []inventory.Task) {
	p.mu.Lock()
	p.at = make(map[string]int)
	for _, t := range tasks {
		i, ok := p.at[t.Account]
		if !ok {
			i = len(p.accounts)
			p.at[t.Account] = i
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
	i, ok := p.at[r.Account]
	if !ok {
		return
	}
	a := &p.accounts[i]
	a.done++
	if r.Gap() {
		a.gaps++
		p.gaps++
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
	said := ""
	for {
		select {
		case now := <-tick.C:
			p.print()
			if p.screen != nil {
				p.screen.draw(p.look(now))
			} else {
				fmt.Fprintln(p.w, logLine(p.look(now)))
			}
		case <-p.poke:
			p.print()
			switch m := p.look(time.Now()); {
			case p.screen != nil:
				p.screen.draw(m)
			case m.tasks.Total > 0 || m.phase != said: // a log has what comes first, the start of the tasks, and an interruption
				said = m.phase
				fmt.Fprintln(p.w, logLine(m))
			}
		case <-p.end:
			p.print()
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
		place := strings.TrimSuffix(r.Account+" "+r.Region, " ")
		fmt.Fprintf(&b, "; longest in %s of %s (%s)", r.Task, place, m.now.Sub(r.Since).Round(time.Second))
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
	switch {
	case math.IsInf(r, 0): // an account without a limit, which can be paused all the same
		return "-"
	case r < 1: // a storage account's lists go at 0.33 a second
		return strconv.FormatFloat(math.Round(100*r)/100, 'f', -1, 64)
	case r < 10:
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
