package main

import (
	"fmt"
	"io"
	"time"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/words"
)

// planProgress says on standard error how far a plan is that takes long.
type planProgress struct {
	w       io.Writer
	total   int
	what    string
	next    time.Time // something is said
	replace bool      // what was said last
	said    bool
}

const planSilence = 2 * time.Second

func newPlanProgress(w io.Writer, total int) *planProgress {
	_, replace := terminal(w)
	return &planProgress{w: w, total: total, replace: replace, next: time.Now().Add(planSilence)}
}

func (p *planProgress) begin(what string) { p.what = what }

func (p *planProgress) done(tasks int) {
	p.say(fmt.Sprintf("%s: %s of %s", p.what, words.Number(tasks), count(p.total, "task")))
}

// say says something, unless it is too soon.
func (p *planProgress) say(text string) {
	now := time.Now()
	if now.Before(p.next) {
		return
	}
	if p.replace {
		p.next, p.said = now.Add(refreshTerminal), true
		fmt.Fprint(p.w, "\r"+text+escRestOfLine)
		return
	}
	p.next = now.Add(refreshLog)
	fmt.Fprintln(p.w, text)
}

// end takes away what was said where it would stay.
func (p *planProgress) end() {
	if p.said {
		fmt.Fprint(p.w, "\r"+escRestOfLine)
		p.said = false
	}
}
