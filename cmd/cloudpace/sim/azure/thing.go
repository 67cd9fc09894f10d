package azure

import (
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// thing is one resource, or a part of one.
type thing struct {
	kind  *kind
	place sim.Place
	i     int
	part  *part
	n     int // of the part
}

// name leads back to the thing.
func (t thing) name(e *sim.Estate) string {
	hidden := e.Hide(t.place, t.kind.name, t.i)
	switch {
	case t.kind.is(loose):
		rest := e.Draw(t.place, t.kind.name, t.i, "name")
		return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", hidden>>32, hidden>>16&0xffff, hidden&0xffff, rest>>48, rest&0xffffffffffff)
	case t.kind.short() == "dnsZones":
		return fmt.Sprintf("z%016x.example.com", hidden)
	case t.kind.short() == "privateDnsZones":
		return fmt.Sprintf("z%016x.internal", hidden)
	}
	return fmt.Sprintf("%s%016x", t.kind.prefix, hidden)
}

// digits finds the part of a name that [thing.name] hid the index in.
func (k *kind) digits(name string) (uint64, bool) {
	switch {
	case k.is(loose):
		name = strings.ReplaceAll(name, "-", "")
	case k.short() == "dnsZones" || k.short() == "privateDnsZones":
		name = strings.TrimPrefix(name, "z")
	default:
		name = strings.TrimPrefix(name, k.prefix)
	}
	if len(name) < 16 {
		return 0, false
	}
	hidden, err := strconv.ParseUint(name[:16], 16, 64)
	return hidden, err == nil
}

// find takes a name back to its thing.
func (k *kind) find(e *sim.Estate, subscription, name string) (thing, bool) {
	name = strings.ToLower(name)
	hidden, ok := k.digits(name)
	if !ok {
		return thing{}, false
	}
	for _, p := range k.places(e, subscription) {
		if i, ok := e.Find(p, k.name, hidden); ok {
			t := thing{kind: k, place: p, i: i}
			return t, strings.ToLower(t.name(e)) == name
		}
	}
	return thing{}, false
}

// places are where a subscription's things of a kind are.
func (k *kind) places(e *sim.Estate, subscription string) []sim.Place {
	if k.is(anywhere) {
		return []sim.Place{{Account: subscription}}
	}
	list := make([]sim.Place, 0, 8)
	for _, r := range e.Regions() {
		list = append(list, sim.Place{Account: subscription, Region: r})
	}
	return list
}

// group is the resource group that a thing is in.
func (t thing) group(e *sim.Estate) string {
	n := e.Draw(t.place, t.kind.name, t.i, "group") % uint64(groupCount(e, t.place.Account))
	return groupName(int(n))
}

// groupCount is how many resource groups a subscription has, whatever else it has.
func groupCount(e *sim.Estate, subscription string) int {
	return 4 + int(e.Draw(sim.Place{Account: subscription}, "resourceGroups", 0, "count")%9)
}

func groupName(n int) string {
	return fmt.Sprintf("rg-%s-%02d", []string{"network", "payments", "search", "platform", "data"}[n%5], n)
}

// id is the path of a thing.
func (t thing) id(e *sim.Estate) string {
	base := "/subscriptions/" + t.place.Account
	if !t.kind.is(loose) {
		base += "/resourceGroups/" + t.group(e)
	}
	base += "/providers/" + t.kind.name + "/" + t.name(e)
	if t.part != nil {
		base += "/" + t.lastType() + "/" + t.part.named(e, t, t.n)
	}
	return base
}

// kindName is the type of a thing.
func (t thing) kindName() string {
	if t.part != nil {
		return t.kind.name + "/" + t.lastType()
	}
	return t.kind.name
}

func (t thing) lastType() string {
	if t.part.kinds != nil {
		return t.part.kinds(t.n)
	}
	return t.part.name
}

// shown is the name in an answer.
func (t thing) shown(e *sim.Estate) string {
	if t.part != nil {
		return t.part.named(e, t, t.n)
	}
	return t.name(e)
}

// location is the region, or what stands for none.
func (t thing) location() string {
	if t.place.Region == "" {
		return "global"
	}
	return t.place.Region
}

// Assets lists all that a subscription has, type and id: the things that the
// estate counts, their parts, and the resource groups.
func Assets(e *sim.Estate, subscription string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for n := range groupCount(e, subscription) {
			if !yield("Microsoft.Resources/resourceGroups", groupID(subscription, n)) {
				return
			}
		}
		for _, k := range kinds {
			for _, p := range k.places(e, subscription) {
				for i := range e.Count(p, k.name) {
					t := thing{kind: k, place: p, i: i}
					if !yield(k.name, t.id(e)) {
						return
					}
					for part := range t.all(e) {
						if !yield(part.kindName(), part.id(e)) {
							return
						}
					}
				}
			}
		}
	}
}

// all lists the parts of a thing.
func (t thing) all(e *sim.Estate) iter.Seq[thing] {
	return func(yield func(thing) bool) {
		for _, p := range t.kind.parts {
			for n := range p.count(e, t) {
				if !yield(thing{kind: t.kind, place: t.place, i: t.i, part: p, n: n}) {
					return
				}
			}
		}
	}
}

func groupID(subscription string, n int) string {
	return "/subscriptions/" + subscription + "/resourceGroups/" + groupName(n)
}

// The epoch of everything's age; estates do not change from day to day.
var epoch = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// born is when a thing was made: within the three years before the epoch.
func (x *context) born(t thing) string {
	const days = 3 * 365
	seconds := x.draw(t, "born") % (days * 24 * 3600)
	return epoch.Add(-time.Duration(seconds) * time.Second).Format(time.RFC3339)
}

func (x *context) draw(t thing, aspect string) uint64 {
	return x.estate.Draw(t.place, t.kind.name, t.i, aspect)
}

// pick takes one of some words.
func (x *context) pick(t thing, aspect string, words ...string) string {
	return words[x.draw(t, aspect)%uint64(len(words))]
}

// guid draws one.
func (x *context) guid(t thing, aspect string) string {
	a, b := x.draw(t, aspect), x.draw(t, aspect+" too")
	return fmt.Sprintf("%08x-%04x-4%03x-%04x-%012x", a>>32, a>>16&0xffff, a&0xfff, 0x8000|b>>48&0x3fff, b&0xffffffffffff)
}

// tags of a thing; every fifth has none, as in life.
func (x *context) tags(t thing) map[string]string {
	if x.draw(t, "tagged")%5 == 0 {
		return nil
	}
	return map[string]string{
		"env":  x.pick(t, "env", "prod", "prod", "staging", "dev"),
		"team": x.pick(t, "team", "payments", "search", "platform", "data"),
	}
}

// other gives the thing of another kind that one belongs to, in the same place:
// they share them out evenly. False when there is none.
func (x *context) other(t thing, name string) (thing, bool) {
	n := x.estate.Count(t.place, name)
	if n == 0 {
		return thing{}, false
	}
	return thing{kind: byName[strings.ToLower(name)], place: t.place, i: t.i % n}, true
}
