package gcp

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// thing is one asset.
type thing struct {
	kind      *kind
	place     sim.Place
	i         int
	project   int    // its place in the estate's list
	container string // of folders and organizations: "folders/111122223333"
}

func containerThing(name string) thing {
	k := folderKind
	if name == Organization {
		k = organizationKind
	}
	return thing{kind: k, container: name, place: sim.Place{Account: name}}
}

func (t thing) draw(e *sim.Estate, aspect string) uint64 {
	return e.Draw(t.place, t.kind.name, t.i, aspect)
}

func (t thing) pick(e *sim.Estate, aspect string, of ...string) string {
	return of[t.draw(e, aspect)%uint64(len(of))]
}

// short is the last part of a name.
func (t thing) short(e *sim.Estate) string {
	switch {
	case t.container != "":
		return t.container[strings.LastIndexByte(t.container, '/')+1:]
	case t.kind == projectKind:
		return t.place.Account
	}
	hidden := e.Hide(t.place, t.kind.name, t.i)
	if t.kind.is(numbered) {
		return fmt.Sprintf("1%020d", hidden) // 21 digits, as unique ids of service accounts have
	}
	return fmt.Sprintf("%s%016x", t.kind.prefix, hidden)
}

// fullName is the full resource name.
func (t thing) fullName(e *sim.Estate) string {
	if t.container != "" {
		return "//cloudresourcemanager.googleapis.com/" + t.container
	}
	path := t.kind.path
	if rest, ok := strings.CutPrefix(path, "{up}"); ok {
		path = t.up(e) + rest
	}
	for _, part := range []struct {
		mark string
		text func() string
	}{
		{"{p}", func() string { return t.place.Account }},
		{"{n}", func() string { return Number(e, t.place.Account) }},
		{"{r}", func() string { return t.place.Region }},
		{"{z}", func() string { return t.zone(e) }},
		{"{x}", func() string { return t.short(e) }},
	} {
		if before, after, ok := strings.Cut(path, part.mark); ok {
			path = before + part.text() + after
		}
	}
	return path
}

// up is the full name of what it is part of. Where there is none of those, it is in
// one that nobody lists, as parts outlive what is deleted.
func (t thing) up(e *sim.Estate) string {
	above := byName[t.kind.above]
	u := thing{kind: above, place: t.place, project: t.project}
	if n := e.Count(t.place, above.name); n > 0 {
		u.i = t.i % n
	}
	return u.fullName(e)
}

// other gives a thing of another kind that one has to do with: in the same region,
// or in none. False when there is none.
func (t thing) other(e *sim.Estate, name string) (thing, bool) {
	k := byName[name]
	p := t.place
	if k.is(anywhere) {
		p.Region = ""
	}
	n := e.Count(p, name)
	if n == 0 {
		return thing{}, false
	}
	return thing{kind: k, place: p, i: t.i % n, project: t.project}, true
}

func (t thing) zone(e *sim.Estate) string {
	return t.place.Region + "-" + t.pick(e, "zone", "a", "b", "c")
}

// location is the zone or region, or what stands for none.
func (t thing) location(e *sim.Estate) string {
	switch {
	case t.place.Region == "":
		return "global"
	case t.kind.is(zonal):
		return t.zone(e)
	}
	return t.place.Region
}

func (t thing) state(e *sim.Estate) string {
	if len(t.kind.states) == 0 {
		return ""
	}
	return t.pick(e, "state", t.kind.states...)
}

// labels of a thing; every fifth of those that may have some has none, as in life.
func (t thing) labels(e *sim.Estate) map[string]string {
	if !t.kind.is(labelled) || t.draw(e, "labelled")%5 == 0 {
		return nil
	}
	return map[string]string{
		"env":  t.pick(e, "env", "prod", "prod", "staging", "dev"),
		"team": t.pick(e, "team", "payments", "search", "platform", "data"),
	}
}

// created and updated are in the past, whatever the clock says.
func (t thing) created(e *sim.Estate) time.Time {
	return time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(t.draw(e, "created")%(500*24*3600)) * time.Second)
}

func (t thing) updated(e *sim.Estate) time.Time {
	return t.created(e).Add(time.Duration(t.draw(e, "updated")%(200*24*3600)) * time.Second)
}

// number is an id as many APIs have beside the name.
func (t thing) number(e *sim.Estate) string {
	return strconv.FormatUint(1e18+t.draw(e, "number")%8e18, 10)
}

// email is a service account's.
func (t thing) email(e *sim.Estate) string {
	return fmt.Sprintf("sa-%016x@%s.iam.gserviceaccount.com", e.Hide(t.place, t.kind.name, t.i), t.place.Account)
}

// title is what people call it.
func (t thing) title(e *sim.Estate) string {
	switch {
	case t.kind == organizationKind:
		return "example.com"
	case t.kind == folderKind:
		return map[string]string{folders[0]: "platform", folders[1]: "workloads"}[t.container]
	case t.kind.name == accounts:
		return t.email(e)
	}
	return t.short(e)
}

// parent is the full name and the kind of what it is in: what it is part of, or the
// container.
func (t thing) parent(e *sim.Estate) (name string, k *kind) {
	const manager = "//cloudresourcemanager.googleapis.com/"
	switch {
	case t.kind == organizationKind:
		return "", nil
	case t.kind == folderKind:
		return manager + Organization, organizationKind
	case t.kind == projectKind:
		return manager + folderOf(t.project), folderKind
	case t.kind.above != "":
		return t.up(e), byName[t.kind.above]
	}
	return manager + "projects/" + Number(e, t.place.Account), projectKind
}

// ancestors of a thing, the nearest first.
func (w *world) ancestorsOf(t thing) []string {
	switch {
	case t.container == Organization:
		return []string{Organization}
	case t.container != "":
		return []string{t.container, Organization}
	}
	return w.ancestors(t.project)
}
