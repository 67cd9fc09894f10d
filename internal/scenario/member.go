package scenario

import (
	"fmt"
	"time"

	"github.com/cloudpace/cloudpace/internal/bucket"
	"github.com/cloudpace/cloudpace/internal/sharing"
)

// member is what a process that shares has besides: it asks the store for tokens when
// somebody waits, and tells what became of them.
type member struct {
	*process
	name   string
	limits sharing.Limits
	soon   bool // a question is to be asked now
	again  time.Time
	before sharing.Outcomes // that were not told yet
	heard  time.Time
}

// asking is how long a question to the store takes, there and back.
const asking = time.Millisecond

// share puts the process's bucket on leases.
func (p *process) share(n int, o bucket.Options) {
	m := &member{process: p, name: fmt.Sprint(n), limits: sharing.Limits{
		Rate: o.Rate, Burst: max(1, o.Burst-1), MinRate: o.MinRate, MaxPause: o.MaxPause, Adaptive: o.Adaptive, Learn: o.Learn, Soft: o.Soft,
	}}
	p.bucket.Lease(p.loop.Now(), m.limits.Rate, m.limits.Burst, m.wake)
}

// wake has a question asked soon: it is called with locks held.
func (m *member) wake() {
	if !m.soon {
		m.soon = true
		m.loop.At(m.again, m.ask)
	}
}

// ask tells what there is to tell, and puts the answer in force when it arrives.
func (m *member) ask() {
	now := m.loop.Now()
	m.soon = false
	r := m.bucket.Report(now)
	m.before = m.before.Add(r.Outcomes, now.Sub(m.heard))
	m.heard = now
	ask := sharing.Ask{
		Limits: m.limits, Want: max(0, r.Waiting-r.Held), Debt: r.Debt, Outcomes: m.before,
		Throttled: r.Throttled, Ago: r.Ago, Hint: r.Hint, Pause: r.Pause, Succeeded: r.Succeeded,
	}
	if r.Waiting == 0 && r.Held > 0 {
		ask.Back = m.bucket.Unused(now)
	}
	if ask.Want == 0 && ask.Back == 0 && !r.Throttled && !r.Succeeded && m.before == (sharing.Outcomes{}) {
		return
	}
	m.before = sharing.Outcomes{}
	m.again = now.Add(asking)
	m.loop.After(asking/2, func() {
		g := m.store.Ask(m.loop.Now(), m.name, ask)
		m.loop.After(asking/2, func() { m.take(ask, g) })
	})
}

func (m *member) take(ask sharing.Ask, g sharing.Grant) {
	now := m.loop.Now()
	m.again = now.Add(max(g.Again, asking))
	m.bucket.Deposit(now, bucket.Lease{
		Lot:  bucket.Lot{At: now.Add(g.After), Every: g.Every, N: g.Tokens},
		Rate: g.Rate, Burst: g.Burst, Active: g.Active, Pause: g.Paused,
	})
	if ask.Want > 0 {
		m.wake()
	}
}
