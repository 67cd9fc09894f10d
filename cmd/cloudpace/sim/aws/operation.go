package aws

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// operation is a row of the table: how one operation is answered. A listing has
// kind, set and each; what is answered at once has once.
type operation struct {
	// kind of thing that is listed.
	kind string
	// set is the list's name, of that of an element in XML; root the element around
	// all in REST with XML.
	set, of, root string
	pages         *pages
	// each writes one thing.
	each func(x *context, i int) any
	// more adds fields beside the list.
	more func(x *context) object
	// ids is the parameter that asks for things by their ids, missing the code for
	// one that is not there.
	ids, missing string
	// count and keep stand for what is not one kind of thing in one place: how many
	// there are, and which of them are listed.
	count func(x *context) int
	keep  func(x *context, i int) bool

	// once answers what is no listing.
	once func(x *context) (object, *problem)
	// raw answers what has a form of its own.
	raw func(x *context) sim.Answer

	// item is the parameter that names what is asked about; about finds it where it
	// is no parameter.
	item  string
	about func(q *request) string
}

// pages is how a service pages.
type pages struct {
	size, token, next string // names: the size's parameter, the token's, the token's in an answer
	usual             int    // the size without the parameter; 0 is all at once
	least, most       int    // what the parameter may be
	cap               int    // what a larger one is taken for, where the service does that
	truncated         string // the name of a flag that says that there is more
	// always sends the token also where there are no more pages, as an empty text.
	always bool
}

// context is a request with what it is answered from.
type context struct {
	*request
	estate *sim.Estate
	place  sim.Place
	edit   sim.Edit
}

func (op *operation) answer(x *context) sim.Answer {
	switch {
	case op.raw != nil:
		return op.raw(x)
	case op.once != nil:
		o, no := op.once(x)
		if no != nil {
			return x.fail(*no)
		}
		return x.render(o, op.root)
	}
	return op.list(x)
}

// global gives the place of what belongs to no region.
func (x *context) global() sim.Place { return sim.Place{Account: x.place.Account} }

// in gives the place where things of a kind are.
func (x *context) in(kind string) sim.Place {
	if kindOf(kind).Global {
		return x.global()
	}
	return x.place
}

func (x *context) id(kind string, i int) string {
	p := x.in(kind)
	return kindOf(kind).ID(x.estate, p, i)
}

// of gives the index of a thing that another one belongs to: they share them out
// evenly. False when there is none.
func (x *context) of(kind string, i int) (int, bool) {
	n := x.estate.Count(x.in(kind), kind)
	if n == 0 {
		return 0, false
	}
	return i % n, true
}

func (op *operation) list(x *context) sim.Answer {
	if x.badToken {
		return x.fail(problem{http.StatusBadRequest, x.service.badToken, "The token is not one that was given out for this listing."})
	}
	if x.has("Filter.") || x.has("Filters.") {
		return x.fail(problem{http.StatusBadRequest, x.service.badValue, "The simulator does not model filters."})
	}
	if op.ids != "" {
		if wanted := x.request.list(op.ids); len(wanted) > 0 {
			return op.byID(x, wanted)
		}
	}
	total := 0
	if op.count != nil {
		total = op.count(x)
	} else {
		total = x.estate.Count(x.in(op.kind), op.kind)
	}
	size, no := op.pages.sizeOf(x)
	if no != nil {
		return x.fail(*no)
	}
	here := x.page
	next := cursor{offset: here.offset, page: here.page + 1}
	var items []any
	for ; next.offset < total && len(items) < size && !x.edit.EmptyPage; next.offset++ {
		if op.keep == nil || op.keep(x, next.offset) {
			items = append(items, op.each(x, next.offset))
		}
	}
	// A page is the last when nothing that would be listed follows.
	rest := next.offset
	for op.keep != nil && rest < total && !op.keep(x, rest) {
		rest++
	}
	more := rest < total
	if x.edit.RepeatToken {
		next, more = here, true
	}
	if x.edit.EmptyPage {
		more = true
	}
	return x.render(op.page(x, items, next, more), op.root)
}

// page puts the list, and the token if there is more, under their names.
func (op *operation) page(x *context, items []any, next cursor, more bool) object {
	o := object{}
	if op.more != nil {
		o = op.more(x)
	}
	o = append(o, field{op.set, list{op.of, items}})
	if op.pages == nil {
		return o
	}
	if op.pages.truncated != "" {
		o = append(o, field{op.pages.truncated, more})
	}
	switch {
	case more:
		o = append(o, field{op.pages.next, next.token(x.salt(x.estate))})
	case op.pages.always:
		o = append(o, field{op.pages.next, ""})
	}
	return o
}

// byID answers a question about certain things.
func (op *operation) byID(x *context, wanted []string) sim.Answer {
	var items []any
	for _, id := range wanted {
		i, ok := find(x.estate, x.in(op.kind), op.kind, id)
		if !ok {
			return x.fail(problem{http.StatusBadRequest, op.missing, fmt.Sprintf("The ID '%s' does not exist", id)})
		}
		items = append(items, op.each(x, i))
	}
	return x.render(op.page(x, items, cursor{}, false), op.root)
}

// sizeOf reads how many things a page is to have.
func (p *pages) sizeOf(x *context) (int, *problem) {
	const all = 1 << 30
	if p == nil {
		return all, nil
	}
	text := x.param(p.size)
	if text == "" || p.size == "" {
		if p.usual == 0 {
			return all, nil
		}
		return p.usual, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < p.least || n > p.most {
		return 0, &problem{http.StatusBadRequest, x.service.badValue, fmt.Sprintf("%s is %s; it may be %d to %d", p.size, text, p.least, p.most)}
	}
	if p.cap > 0 {
		n = min(n, p.cap)
	}
	return n, nil
}

// Operations lists what is modelled, as service:Operation.
func Operations() []string {
	var names []string
	for _, s := range services {
		for op := range s.operations {
			names = append(names, s.name+":"+op)
		}
	}
	slices.Sort(names)
	return names
}
