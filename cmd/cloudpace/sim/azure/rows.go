package azure

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// row is a thing in few bytes: queries and lists of everything go over millions.
type row struct {
	subscription, region int16 // indices; region -1 is none
	kind                 int16 // index; -1 is a subscription or a resource group
	n                    int16 // of the part or group; -1 is none
	i                    int32
}

// rows are some of them, with what their indices mean.
type rows struct {
	estate        *sim.Estate
	subscriptions []string
	regions       []string
	list          []row
}

func (r *rows) thing(w row) thing {
	t := thing{kind: kinds[w.kind], place: sim.Place{Account: r.subscriptions[w.subscription]}, i: int(w.i)}
	if w.region >= 0 {
		t.place.Region = r.regions[w.region]
	}
	if w.n >= 0 {
		t.part, t.n = t.kind.parts[0], int(w.n)
	}
	return t
}

// add lists what a subscription has of the kinds that are asked for, with those
// parts that are resources too.
func (r *rows) add(subscription int, wanted func(kind string) bool) {
	for number, k := range kinds {
		parts := len(k.parts) > 0 && k.parts[0].flags&listed != 0 && wanted(k.name+"/"+k.parts[0].name)
		own := wanted(k.name)
		if k.is(apart) || !own && !parts {
			continue
		}
		for _, p := range k.places(r.estate, r.subscriptions[subscription]) {
			w := row{subscription: int16(subscription), region: int16(slices.Index(r.regions, p.Region)), kind: int16(number), n: -1}
			for i := range r.estate.Count(p, k.name) {
				w.i, w.n = int32(i), -1
				if own {
					r.list = append(r.list, w)
				}
				if !parts {
					continue
				}
				for n := range k.parts[0].count(r.estate, thing{kind: k, place: p, i: i}) {
					w.n = int16(n)
					r.list = append(r.list, w)
				}
			}
		}
	}
}

// containers lists a subscription and its resource groups.
func (r *rows) containers(subscription int) {
	w := row{subscription: int16(subscription), region: -1, kind: -1, n: -1}
	r.list = append(r.list, w)
	for n := range groupCount(r.estate, r.subscriptions[subscription]) {
		w.n = int16(n)
		r.list = append(r.list, w)
	}
}

// column gives what a column that is a text has; false is one that is not.
func (r *rows) column(w row, name string) (string, bool) {
	subscription := r.subscriptions[w.subscription]
	switch {
	case name == "subscriptionid":
		return subscription, true
	case name == "tenantid":
		return Tenant, true
	case w.kind >= 0:
		return r.ofThing(r.thing(w), name)
	case w.n >= 0:
		return map[string]string{
			"id": groupID(subscription, int(w.n)), "name": groupName(int(w.n)), "type": "microsoft.resources/subscriptions/resourcegroups",
			"resourcegroup": groupName(int(w.n)), "location": r.regions[int(w.n)%len(r.regions)],
		}[name], textColumn(name)
	}
	return map[string]string{
		"id": "/subscriptions/" + subscription, "name": subscriptionName(slices.Index(r.estate.Accounts(), subscription)), "type": "microsoft.resources/subscriptions",
	}[name], textColumn(name)
}

func (r *rows) ofThing(t thing, name string) (string, bool) {
	switch name {
	case "id":
		return t.id(r.estate), true
	case "name":
		return t.shown(r.estate), true
	case "type":
		return strings.ToLower(t.kindName()), true
	case "location":
		return t.location(), true
	case "resourcegroup":
		return t.group(r.estate), true
	}
	return "", textColumn(name)
}

// textColumns are those that can be compared and sorted by.
var textColumns = []string{"id", "name", "type", "location", "resourcegroup", "subscriptionid", "tenantid", "kind", "managedby"}

func textColumn(name string) bool { return slices.Contains(textColumns, name) }

// sortBy puts the rows in order. The texts are made once; a million of them are
// in memory only while they are sorted.
func (r *rows) sortBy(column string, descending bool) {
	type keyed struct {
		key string
		row row
	}
	all := make([]keyed, len(r.list))
	for i, w := range r.list {
		key, _ := r.column(w, column)
		all[i] = keyed{strings.ToLower(key), w}
	}
	slices.SortStableFunc(all, func(a, b keyed) int {
		if descending {
			return cmp.Compare(b.key, a.key)
		}
		return cmp.Compare(a.key, b.key)
	})
	for i := range all {
		r.list[i] = all[i].row
	}
}

// everything lists a subscription's resources, of one type if one is asked for. It is
// found once for all pages.
func (x *context) everything(subscription, wanted string) *rows {
	key := "list\x00" + subscription + "\x00" + wanted
	if r := x.front.sorted.get(x.estate, key); r != nil {
		return r
	}
	r := &rows{estate: x.estate, subscriptions: []string{subscription}, regions: x.estate.Regions()}
	r.add(0, func(kind string) bool { return wanted == "" || strings.ToLower(kind) == wanted })
	x.front.sorted.put(x.estate, key, r)
	return r
}

// ordered remembers the results of the last queries and lists, so that their next
// pages do not have to be found and sorted again.
type ordered struct {
	mu    sync.Mutex
	last  []orderedRows // the oldest first
	total int           // rows in all of them
}

type orderedRows struct {
	estate *sim.Estate
	query  string
	rows   *rows
}

// rememberRows and rememberResults bound what is remembered: rows in all, of twelve
// bytes, and results, since a run reads as many lists side by side as it has workers.
const (
	rememberRows    = 4_000_000
	rememberResults = 64
)

func (o *ordered) get(e *sim.Estate, query string) *rows {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, l := range o.last {
		if l.estate == e && l.query == query {
			return l.rows
		}
	}
	return nil
}

func (o *ordered) put(e *sim.Estate, query string, r *rows) {
	if len(r.list) > rememberRows {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last = append(o.last, orderedRows{e, query, r})
	for o.total += len(r.list); o.total > rememberRows || len(o.last) > rememberResults; o.last = o.last[1:] {
		o.total -= len(o.last[0].rows.list)
		o.last[0] = orderedRows{}
	}
}
