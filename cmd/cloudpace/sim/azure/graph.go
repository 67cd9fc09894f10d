package azure

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// graphBody is what a query of Resource Graph says.
type graphBody struct {
	Query            string   `json:"query"`
	Subscriptions    []string `json:"subscriptions"`
	ManagementGroups []string `json:"managementGroups"`
	Options          struct {
		Skip         int    `json:"$skip"`
		Top          int    `json:"$top"`
		SkipToken    string `json:"$skipToken"`
		ResultFormat string `json:"resultFormat"`
	} `json:"options"`
}

// readGraph reads a body; the problem is told later, since a query that cannot be
// read counts as one.
func readGraph(text []byte) (*graphBody, *problem) {
	var b graphBody
	if err := json.Unmarshal(text, &b); err != nil {
		return nil, &problem{status: http.StatusBadRequest, code: "InvalidRequestContent", message: "The request content was invalid and could not be deserialized."}
	}
	return &b, nil
}

// graph answers a query.
func (x *context) graph(a *sim.Answer) *problem {
	b := x.graphQ
	if x.method != http.MethodPost {
		return &problem{status: http.StatusMethodNotAllowed, code: "HttpMethodNotSupported", message: "The http method '" + name(x.method) + "' is not supported."}
	}
	if b == nil {
		return x.graphE
	}
	q, wrong := parseQuery(b.Query)
	if wrong != nil {
		return x.graphProblem(
			object{"code": "InvalidQuery", "message": "Query is invalid. Please refer to the documentation for the Azure Resource Graph service and fix the error before retrying."},
			object{"code": wrong.code, "message": wrong.code, "line": wrong.line, "characterPositionInLine": wrong.column, "token": wrong.token},
		)
	}
	top := b.Options.Top
	switch {
	case top < 0 || top > queryRows || b.Options.Skip < 0:
		return x.graphProblem(object{"code": "InvalidQueryOptions", "message": fmt.Sprintf("$top is 1 to %d, and $skip 0 or more.", queryRows)})
	case x.badToken:
		return x.graphProblem(object{"code": "CouldNotDecodeSkipToken", "message": "Skip token could not be decoded."})
	case top == 0:
		top = queryRows
	}
	subscriptions, hit := x.reach(b)
	if len(subscriptions) == 0 {
		return x.graphProblem(object{"code": "NoValidSubscriptionsInQueryRequest", "message": "There must be at least one subscription that is eligible to contain resources. Given: '" + name(strings.Join(b.Subscriptions, ",")) + "'."})
	}
	r := x.result(q, b.Query, subscriptions)
	x.render(a, x.pageOf(q, r, top))
	if hit {
		a.Header.Set("X-Ms-Tenant-Subscription-Limit-Hit", "true")
	}
	return nil
}

func (x *context) graphProblem(details ...any) *problem {
	return &problem{status: http.StatusBadRequest, code: "BadRequest", message: x.support(), details: details}
}

// reach finds the subscriptions that a query is about; hit is that there are more
// than one query reaches.
func (x *context) reach(b *graphBody) (list []string, hit bool) {
	switch {
	case len(b.Subscriptions) > 0:
		for _, s := range b.Subscriptions {
			if s = strings.ToLower(s); x.estate.HasAccount(s) && !slices.Contains(list, s) {
				list = append(list, s)
			}
		}
	case len(b.ManagementGroups) > 0:
		for _, g := range b.ManagementGroups {
			in, _ := under(x.estate, g)
			list = append(list, in...)
		}
		slices.Sort(list)
		list = slices.Compact(list)
	default:
		list = x.estate.Accounts()
	}
	if len(list) > x.front.most {
		return list[:x.front.most], true
	}
	return list, false
}

// result finds the rows of a query, in order.
func (x *context) result(q *query, text string, subscriptions []string) *rows {
	key := text + "\x00" + strings.Join(subscriptions, ",")
	if r := x.front.sorted.get(x.estate, key); r != nil {
		return r
	}
	r := &rows{estate: x.estate, subscriptions: subscriptions, regions: x.estate.Regions()}
	for s := range subscriptions {
		if q.table == "resourcecontainers" {
			r.containers(s)
		} else {
			r.add(s, q.mayHave)
		}
	}
	r.list = slices.DeleteFunc(r.list, func(w row) bool { return !q.fits(r, w) })
	if q.by != "" {
		r.sortBy(q.by, q.descending)
	}
	x.front.sorted.put(x.estate, key, r)
	return r
}

// pageOf writes a page of the result.
func (x *context) pageOf(q *query, r *rows, top int) object {
	total := len(r.list)
	if q.limit >= 0 {
		total = min(total, q.limit)
	}
	here := x.page
	if x.graphQ.Options.Skip > 0 {
		here.offset = x.graphQ.Options.Skip // wins over the token
	}
	from := min(here.offset, total)
	to := min(from+top, total)
	if x.edit.EmptyPage {
		to = from
	}
	data := make([]any, 0, to-from)
	for _, w := range r.list[from:to] {
		data = append(data, q.project(x.full(r, w)))
	}
	o := object{"totalRecords": total, "count": len(data), "data": data, "facets": []any{}, "resultTruncated": "false"}
	if strings.EqualFold(x.graphQ.Options.ResultFormat, "table") {
		o["data"] = table(q, data)
	}
	next := cursor{offset: to, page: here.page + 1}
	more := to < total
	if x.edit.RepeatToken {
		next, more = here, true
	}
	switch {
	case !more && !x.edit.EmptyPage:
	case q.limit >= 0 || !q.pageable():
		o["resultTruncated"] = "true" // and no way to the rest
	default:
		o["$skipToken"] = next.token(salt(x.estate, x.listing()))
	}
	return o
}

// full is all that there is of a row.
func (x *context) full(r *rows, w row) object {
	subscription := r.subscriptions[w.subscription]
	var o object
	switch {
	case w.kind >= 0:
		t := r.thing(w)
		o = x.write(t)
		o["resourceGroup"] = t.group(x.estate)
		o["location"] = t.location()
	case w.n >= 0:
		o = x.groupOf(subscription, int(w.n))
		o["resourceGroup"] = groupName(int(w.n))
	default:
		i := x.number(subscription)
		o = object{"id": "/subscriptions/" + subscription, "name": subscriptionName(i), "properties": object{"state": x.state(subscription)}}
	}
	o["type"], _ = r.column(w, "type")
	o["subscriptionId"], o["tenantId"] = subscription, Tenant
	delete(o, "etag")
	for _, c := range columns {
		if _, ok := o[c]; !ok && c != "etag" {
			o[c] = nothing(c)
		}
	}
	return o
}

// nothing is what a column has where a thing has nothing: texts are empty.
func nothing(column string) any {
	if textColumn(strings.ToLower(column)) {
		return ""
	}
	return nil
}

// table writes rows in the other format.
func table(q *query, data []any) object {
	names := q.columns
	if len(names) == 0 {
		names = columns
	}
	head := make([]any, len(names))
	for i, c := range names {
		kind := "object"
		if textColumn(strings.ToLower(c)) {
			kind = "string"
		}
		head[i] = object{"name": c, "type": kind}
	}
	lines := make([]any, len(data))
	for i, d := range data {
		line := make([]any, len(names))
		for j, c := range names {
			line[j] = d.(object)[c]
		}
		lines[i] = line
	}
	return object{"columns": head, "rows": lines}
}
