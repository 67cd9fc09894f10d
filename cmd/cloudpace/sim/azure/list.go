package azure

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// listing is what a list is made of: things in order, of which some are shown.
type listing struct {
	total    int
	each     func(i int) (any, bool) // false where the thing is not in the list
	size     int
	filtered bool // by the $filter that was given; of others that is refused
}

// resource answers what is about resources: lists, and one thing.
func (x *context) resource(a *sim.Answer) *problem {
	if no := x.groupMissing(); no != nil {
		return no
	}
	switch {
	case x.kind == nil:
		return x.unknown(a)
	case x.kind == roleDefinitions && x.part == nil:
		return x.roles(a)
	case x.verb == "list" && len(x.names) == 0:
		return x.list(a, x.ofKind())
	case x.part != nil:
		return x.partOf(a)
	}
	return x.one(a)
}

// one answers with a thing.
func (x *context) one(a *sim.Answer) *problem {
	if x.verb != "get" || len(x.names) != 1 {
		return x.missing()
	}
	t, ok := x.kind.find(x.estate, x.subscription, x.names[0])
	if !ok || x.group != "" && t.group(x.estate) != x.group {
		return x.missing()
	}
	x.render(a, x.write(t))
	return nil
}

// unknown answers for what the table does not have.
func (x *context) unknown(a *sim.Answer) *problem {
	switch {
	case x.strict:
		return &problem{status: http.StatusNotFound, code: "InvalidResourceType", message: fmt.Sprintf("The resource type '%s' could not be found in the namespace '%s' for api version '%s'.", name(strings.Join(x.types, "/")), name(x.namespace), x.query.Get("api-version"))}
	case x.verb == "list":
		return x.list(a, listing{size: assumedPage})
	}
	return x.missing()
}

func (x *context) missing() *problem {
	if x.subscription == "" {
		return &problem{status: http.StatusNotFound, code: "NotFound", message: "The simulator does not have '" + name(x.raw) + "'."}
	}
	what := name(x.namespace + "/" + strings.Join(x.types, "/") + "/" + strings.Join(x.names, "/"))
	return &problem{status: http.StatusNotFound, code: "ResourceNotFound", message: "The Resource '" + what + "' under resource group '" + name(x.group) + "' was not found. For more details please go to https://aka.ms/ARMResourceNotFoundFix"}
}

// groupMissing tells when there is no such resource group.
func (x *context) groupMissing() *problem {
	if x.group == "" || x.groupIndex() >= 0 {
		return nil
	}
	return &problem{status: http.StatusNotFound, code: "ResourceGroupNotFound", message: "Resource group '" + name(x.group) + "' could not be found."}
}

func (x *context) groupIndex() int {
	for n := range groupCount(x.estate, x.subscription) {
		if groupName(n) == x.group {
			return n
		}
	}
	return -1
}

// cell is all of a kind in a place.
type cell struct {
	kind  *kind
	place sim.Place
	n     int
}

// cells counts a subscription's things of some kinds.
func (x *context) cells(subscription string, of ...*kind) (list []cell, total int) {
	for _, k := range of {
		for _, p := range k.places(x.estate, subscription) {
			if x.location != "" && !strings.EqualFold(p.Region, x.location) {
				continue
			}
			n := x.estate.Count(p, k.name)
			list = append(list, cell{k, p, n})
			total += n
		}
	}
	return list, total
}

// at finds a thing by its place in a row of cells.
func at(cells []cell, i int) thing {
	for _, c := range cells {
		if i < c.n {
			return thing{kind: c.kind, place: c.place, i: i}
		}
		i -= c.n
	}
	panic("sim: a thing beyond the last")
}

// ofKind is the list of a kind in a subscription or a group.
func (x *context) ofKind() listing {
	if x.kind.is(byGroup) && x.group == "" {
		return listing{size: assumedPage} // Resource Manager has no such list
	}
	cells, total := x.cells(x.subscription, x.kind)
	return listing{total: total, size: x.size(x.kind.pageSize(), x.kind.top), each: func(i int) (any, bool) {
		t := at(cells, i)
		if x.group != "" && (t.kind.is(loose) || t.group(x.estate) != x.group) {
			return nil, false
		}
		return x.write(t), true
	}}
}

// size is what a page has: $top where the list heeds it.
func (x *context) size(usual, most int) int {
	if n, err := strconv.Atoi(x.query.Get("$top")); err == nil && n > 0 && most > 0 {
		return min(n, most)
	}
	return usual
}

// partOf answers for the parts of a thing.
func (x *context) partOf(a *sim.Answer) *problem {
	t, ok := x.kind.find(x.estate, x.subscription, x.names[0])
	if !ok || x.group != "" && t.group(x.estate) != x.group {
		no := x.missing()
		no.code = "ParentResourceNotFound"
		return no
	}
	parts := make([]thing, 0, 8)
	for p := range t.all(x.estate) {
		parts = append(parts, p)
	}
	// A record set has its type in the place of "recordsets".
	word := ""
	if x.part.kinds != nil && x.part.is(x.lastWord) {
		word = strings.ToLower(x.lastWord)
	}
	fits := func(p thing) bool { return word == "" || strings.ToLower(p.lastType()) == word }
	if x.verb == "list" {
		size := x.part.page
		if size == 0 {
			size = assumedPage
		}
		return x.list(a, listing{total: len(parts), size: size, each: func(i int) (any, bool) {
			if !fits(parts[i]) {
				return nil, false
			}
			return x.write(parts[i]), true
		}})
	}
	for _, p := range parts {
		if fits(p) && strings.EqualFold(p.shown(x.estate), x.names[1]) {
			x.render(a, x.write(p))
			return nil
		}
	}
	return x.missing()
}

var byType = regexp.MustCompile(`(?i)^\s*resourceType\s+eq\s+'([^']{1,200})'\s*$`)

// allResources answers the list of all that a subscription or a group has.
func (x *context) allResources(a *sim.Answer) *problem {
	if no := x.groupMissing(); no != nil {
		return no
	}
	wanted := ""
	if filter := x.query.Get("$filter"); filter != "" {
		m := byType.FindStringSubmatch(filter)
		if m == nil {
			return x.badFilter()
		}
		wanted = strings.ToLower(m[1])
	}
	list := x.everything(x.subscription, wanted)
	return x.list(a, listing{total: len(list.list), size: x.size(1000, 1000), filtered: true, each: func(i int) (any, bool) {
		t := list.thing(list.list[i])
		if x.group != "" && t.group(x.estate) != x.group {
			return nil, false
		}
		return x.brief(t), true
	}})
}

// badFilter refuses a filter: what is not understood must not pass for one that finds
// everything.
func (x *context) badFilter() *problem {
	return &problem{status: http.StatusBadRequest, code: "InvalidFilterInQueryString", message: "Invalid $filter '" + name(x.query.Get("$filter")) + "' specified in the query string. It is not one that the simulator knows here."}
}

// list writes a page.
func (x *context) list(a *sim.Answer, l listing) *problem {
	if x.query.Get("$filter") != "" && !l.filtered {
		return x.badFilter()
	}
	if x.badToken {
		return &problem{status: http.StatusBadRequest, code: "InvalidSkipToken", message: "The skip token is invalid or has expired."}
	}
	here := x.page
	next := cursor{offset: here.offset, page: here.page + 1}
	items := make([]any, 0, min(l.size, max(0, l.total-here.offset)))
	for ; next.offset < l.total && len(items) < l.size && !x.edit.EmptyPage; next.offset++ {
		if o, ok := l.each(next.offset); ok {
			items = append(items, o)
		}
	}
	more := next.offset < l.total
	if x.edit.RepeatToken {
		next, more = here, true
	}
	if x.edit.EmptyPage {
		more = true
	}
	o := object{"value": items}
	if more {
		o["nextLink"] = x.link(next)
	}
	x.render(a, o)
	return nil
}

// link is where the next page is.
func (x *context) link(next cursor) string {
	q := make(url.Values, len(x.query)+1)
	for key, values := range x.query {
		q[key] = values
	}
	q.Set("$skiptoken", next.token(salt(x.estate, x.listing())))
	return x.base + (&url.URL{Path: x.raw}).EscapedPath() + "?" + q.Encode()
}

// render writes an answer.
func (x *context) render(a *sim.Answer, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // of values that this package makes
	}
	*a = sim.Answer{Status: http.StatusOK, Header: x.front.header(x.request), Body: text}
}
