package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/term"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

const (
	// On a terminal one line is kept up to date. Elsewhere, in a log, a line now and
	// then shows that the run is alive, and a short run leaves none.
	refreshTerminal = 200 * time.Millisecond
	refreshLog      = 10 * time.Second
)

// progress shows on stderr how far a run is.
type progress struct {
	tally inventory.Tally

	w     io.Writer
	width func() int // of the terminal, 0 where there is none
	calls func() int
	gaps  atomic.Int64
	end   chan struct{}
	ended chan struct{}
}

func newProgress(w io.Writer, calls func() int) *progress {
	p := &progress{w: w, calls: calls, width: terminal(w), end: make(chan struct{}), ended: make(chan struct{})}
	go p.loop()
	return p
}

// terminal gives the width of the terminal behind w, asked anew each time, since
// windows are resized.
func terminal(w io.Writer) func() int {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return func() int { return 0 }
	}
	return func() int {
		width, _, err := term.GetSize(int(f.Fd()))
		if err != nil || width < 20 {
			return 80
		}
		return width
	}
}

func (p *progress) loop() {
	defer close(p.ended)
	onTerminal := p.width() > 0
	every := refreshLog
	if onTerminal {
		every = refreshTerminal
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			if onTerminal {
				fmt.Fprintf(p.w, "\r\x1b[2K%s", fit(p.line(now), p.width()-1))
			} else {
				fmt.Fprintln(p.w, p.line(now))
			}
		case <-p.end:
			if onTerminal {
				fmt.Fprint(p.w, "\r\x1b[2K")
			}
			return
		}
	}
}

// stop takes the live line away. Nothing is shown after it returns.
func (p *progress) stop() {
	close(p.end)
	<-p.ended
}

// done is told of each record.
func (p *progress) done(r inventory.Record) {
	if r.Gap() {
		p.gaps.Add(1)
	}
}

// line is a moment of the run: how far it is, and what has been going on longest.
func (p *progress) line(now time.Time) string {
	s := p.tally.Progress()
	var b strings.Builder
	fmt.Fprintf(&b, "%d/%d tasks, %s, %s", s.Done, s.Total, count(s.Assets, "asset"), count(p.calls(), "call"))
	if gaps := p.gaps.Load(); gaps > 0 {
		fmt.Fprintf(&b, ", %s", count(int(gaps), "gap"))
	}
	const named = 2
	for i, r := range s.Running {
		if i == named {
			fmt.Fprintf(&b, " and %d more", len(s.Running)-named)
			break
		}
		lead := ", "
		if i == 0 {
			lead = "; in "
		}
		fmt.Fprintf(&b, "%s%s %s (%s)", lead, r.Task, r.Region, now.Sub(r.Since).Round(time.Second))
	}
	return b.String()
}

// fit cuts a line, which is ASCII, to the width.
func fit(line string, width int) string {
	if len(line) <= width {
		return line
	}
	return line[:max(0, width-3)] + "..."
}
