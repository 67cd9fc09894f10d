package gcp

import (
	"iter"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// position is where in a scope something is. Things come project by project, in
// each kind by kind, and of each kind place by place. Whoever knows a position goes
// on from there, however much comes before.
type position struct {
	project int // -1 for the containers
	cell    int // 0 is the project itself, then come kinds and places
	i       int
}

// start is before everything.
var start = position{project: -1}

// walk gives what is in a scope and of the kinds that are wanted, from a position
// on.
func (w *world) walk(s scope, from position, wanted func(*kind) bool) iter.Seq2[position, thing] {
	return func(yield func(position, thing) bool) {
		if from.project < 0 {
			for i := from.i; i < len(s.containers); i++ {
				if t := containerThing(s.containers[i]); wanted(t.kind) && !yield(position{-1, 0, i}, t) {
					return
				}
			}
			from = position{project: s.first}
		}
		for project := from.project; project < s.n; project += s.step {
			if !w.walkProject(position{project, from.cell, from.i}, wanted, yield) {
				return
			}
			from.cell, from.i = 0, 0
		}
	}
}

func (w *world) walkProject(from position, wanted func(*kind) bool, yield func(position, thing) bool) bool {
	account := w.projects[from.project]
	if from.cell == 0 {
		t := thing{kind: projectKind, place: sim.Place{Account: account}, project: from.project}
		if wanted(t.kind) && !yield(from, t) {
			return false
		}
		from.cell, from.i = 1, 0
	}
	places := len(w.regions) + 1
	for number, k := range kinds {
		if !wanted(k) {
			continue
		}
		for r := range places {
			cell := 1 + number*places + r
			if cell < from.cell {
				continue
			}
			p := sim.Place{Account: account}
			if r < len(w.regions) {
				p.Region = w.regions[r]
			}
			first := 0
			if cell == from.cell {
				first = from.i
			}
			for i := first; i < w.estate.Count(p, k.name); i++ {
				if !yield(position{from.project, cell, i}, thing{kind: k, place: p, project: from.project, i: i}) {
					return false
				}
			}
		}
	}
	return true
}

// Asset is one asset of an estate.
type Asset struct {
	Name, Type string
}

// Assets lists all that is at or below a project, a folder or the organization:
// "projects/example-1".
func Assets(e *sim.Estate, parent string) iter.Seq[Asset] {
	return func(yield func(Asset) bool) {
		w := newWorld(e)
		s, ok := w.scope(parent)
		if !ok {
			return
		}
		for _, t := range w.walk(s, start, anything) {
			if !yield(Asset{t.fullName(e), t.kind.name}) {
				return
			}
		}
	}
}

func anything(*kind) bool { return true }
