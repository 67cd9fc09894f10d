package plan

import (
	"math"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

// walk is a listing under way, as inventory.Walk and WalkUnder go about it: one page
// after another, and what is asked about the items side by side, so many at a time. A
// page whose items find no place waits, and the next page with it.
type walk struct {
	e     *engine
	r     *running
	l     *Listing
	trail *trail
	done  func(*trail)
	// each does what is to be done about item i; nil: nothing.
	each  func(i int, tr *trail, done func(*trail))
	width int // side by side

	items, pages int
	page         int // answered
	item, last   int // to be begun next, and where the page ends
	busy         int
	blocked      bool
	ended        bool // the last page is read
	batches      [][]*batch
	first        int // item of the page
}

// list reads a listing of n items, and then calls done with the way that ended last.
func (e *engine) list(r *running, l *Listing, n int, tr *trail, done func(*trail)) {
	if l.Under != nil {
		parents := *l.Under
		w := &walk{e: e, r: r, l: &parents, trail: tr, done: done, width: inventory.ListingWorkers, items: parents.Items, pages: parents.pages(parents.Items)}
		alone := *l
		alone.Under = nil
		w.each = func(i int, tr *trail, done func(*trail)) {
			one := alone
			if one.Pages > 0 {
				one.Pages = max(1, part(one.Pages, i, parents.Items))
			}
			e.list(r, &one, part(n, i, parents.Items), tr, done)
		}
		w.next()
		return
	}
	w := &walk{e: e, r: r, l: l, trail: tr, done: done, width: inventory.DetailWorkers, items: n, pages: l.pages(n)}
	if len(l.Each) > 0 && l.Asked >= 0 {
		w.each = w.details
		if r.asked == nil {
			r.asked = make([]int, len(l.Each))
		}
	}
	w.next()
}

// next asks for the next page.
func (w *walk) next() {
	if w.page == w.pages {
		w.ended = true
		if w.busy == 0 {
			w.done(w.trail)
		}
		return
	}
	w.e.call(w.r, w.l.Operation, w.trail, w.arrived)
}

func (w *walk) arrived() {
	size := w.l.Page
	if size <= 0 || size*w.pages < w.items {
		size = (w.items + w.pages - 1) / w.pages
	}
	w.first = min(w.page*size, w.items)
	w.item, w.last = w.first, min(w.first+size, w.items)
	w.page++
	if w.each == nil {
		w.item = w.last
	} else {
		w.group()
	}
	w.feed()
}

// feed begins the items of the page, as far as there is room.
func (w *walk) feed() {
	for w.item < w.last {
		if w.busy == w.width {
			w.blocked = true
			return
		}
		w.busy++
		i := w.item
		w.item++
		w.each(i, w.e.fork(w.trail), w.over)
	}
	w.next()
}

// over: an item is done with.
func (w *walk) over(tr *trail) {
	w.busy--
	switch {
	case w.blocked:
		w.blocked = false
		w.trail.follow(tr)
		w.e.drop(tr)
		w.feed()
	case w.ended && w.busy == 0:
		w.trail.follow(tr)
		w.e.drop(tr)
		w.done(w.trail)
	default:
		w.e.drop(tr)
	}
}

// batch is a call that answers for several items: the first that needs it makes it.
type batch struct {
	begun, answered bool
	waiting         []func(*trail)
}

// group makes the batches of a page.
func (w *walk) group() {
	w.batches = make([][]*batch, len(w.l.Each))
	for k, a := range w.l.Each {
		if a.Many < 2 {
			continue
		}
		n := (w.last - w.first + a.Many - 1) / a.Many
		w.batches[k] = make([]*batch, n)
		for i := range w.batches[k] {
			w.batches[k][i] = new(batch)
		}
	}
}

// details asks all that is asked about an item, one after another.
func (w *walk) details(i int, tr *trail, done func(*trail)) { w.ask(i, 0, w.batches, tr, done) }

func (w *walk) ask(i, k int, batches [][]*batch, tr *trail, done func(*trail)) {
	if k == len(w.l.Each) {
		done(tr)
		return
	}
	next := func() { w.ask(i, k+1, batches, tr, done) }
	list := batches[k]
	if list == nil {
		w.repeat(k, w.times(k), tr, next)
		return
	}
	b := list[(i-w.first)%len(list)]
	switch {
	case b.answered:
		next()
	case b.begun:
		b.waiting = append(b.waiting, func(answered *trail) {
			tr.follow(answered)
			next()
		})
	default:
		b.begun = true
		w.repeat(k, w.times(k), tr, func() {
			b.answered = true
			waiting := b.waiting
			b.waiting = nil
			for _, resume := range waiting {
				resume(tr)
			}
			next()
		})
	}
}

// times is how many calls come of the next question of a kind.
func (w *walk) times(k int) int {
	share := w.l.Asked
	if share == 0 {
		share = 1
	}
	n := w.r.asked[k]
	w.r.asked[k]++
	return int(math.Floor(float64(n+1)*share+1e-9) - math.Floor(float64(n)*share+1e-9))
}

// repeat makes n calls, one after another.
func (w *walk) repeat(k, n int, tr *trail, done func()) {
	if n == 0 {
		done()
		return
	}
	w.e.call(w.r, w.l.Each[k].Operation, tr, func() { w.repeat(k, n-1, tr, done) })
}
