package gcp

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// projectsRequest asks Resource Manager for projects
// (GET /v3/projects:search).
type projectsRequest struct {
	query, token string
	size         int
}

// largestProjects is what a page has at most. Resource Manager documents none;
// gcloud asks for as many.
const largestProjects = 500

func (q *request) readProjects(v url.Values) {
	p := &projectsRequest{query: v.Get("query"), token: v.Get("pageToken")}
	for key := range v {
		if !system[key] && !slices.Contains([]string{"query", "pageToken", "pageSize"}, key) {
			q.problem = &problem{code: codes.InvalidArgument, message: "Invalid JSON payload received. Unknown name \"" + shown(key) + "\": Cannot bind query parameter."}
			return
		}
	}
	if text := v.Get("pageSize"); text != "" {
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil || n < 0 {
			q.problem = invalid("pageSize", text)
			return
		}
		p.size = int(n)
	}
	q.projects, q.ask = p, (*context).searchProjects
}

// searchProjects answers a page of projects. All of them are active.
func (x *context) searchProjects() (any, *problem) {
	if x.stale != nil {
		return nil, x.stale
	}
	matches, no := readProjectQuery(x.projects.query)
	if no != nil {
		return nil, no
	}
	n := min(x.projects.size, largestProjects)
	if n == 0 {
		n = usualPage
	}
	begun := x.begun()
	here := cursor{position: x.page.position, page: x.page.page, begun: begun}
	next := cursor{position: here.position, page: here.page + 1, begun: begun}
	list := []any{}
	for ; !x.edit.EmptyPage && next.i < len(x.world.projects) && len(list) < n; next.i++ {
		if p := x.world.projects[next.i]; matches(p, folderOf(next.i)) {
			list = append(list, x.project(next.i))
		}
	}
	more := next.i < len(x.world.projects)
	if x.edit.RepeatToken {
		next, more = here, true
	}
	o := object{"projects": list}
	if more {
		o["nextPageToken"] = next.token(salt(x.world.estate, x.listing()))
	}
	return o, nil
}

func (x *context) project(i int) object {
	e, id := x.world.estate, x.world.projects[i]
	t := thing{kind: projectKind, place: sim.Place{Account: id}, project: i}
	o := object{
		"name": "projects/" + Number(e, id), "projectId": id, "displayName": id, "parent": folderOf(i), "state": "ACTIVE",
		"createTime": t.created(e).Format(time.RFC3339), "updateTime": t.updated(e).Format(time.RFC3339), "etag": "W/\"" + t.number(e) + "\"",
	}
	if labels := t.labels(e); labels != nil {
		o["labels"] = labels
	}
	return o
}

// readProjectQuery reads the terms that the simulator knows: a state, a parent, and
// an id with or without a star at its end.
func readProjectQuery(query string) (func(id, parent string) bool, *problem) {
	var terms []func(id, parent string) bool
	for word := range strings.FieldsSeq(query) {
		if strings.EqualFold(word, "AND") {
			continue
		}
		i := strings.IndexAny(word, ":=")
		if i < 0 {
			return nil, badQuery(word)
		}
		value := strings.Trim(word[i+1:], `"`)
		switch strings.ToLower(word[:i]) {
		case "state", "lifecyclestate":
			live := strings.EqualFold(value, "ACTIVE")
			terms = append(terms, func(string, string) bool { return live })
		case "parent":
			terms = append(terms, func(_, parent string) bool { return parent == value })
		case "id", "projectid", "name", "displayname":
			terms = append(terms, func(id, _ string) bool { return like(id, value) })
		default:
			return nil, badQuery(word)
		}
	}
	return func(id, parent string) bool {
		return !slices.ContainsFunc(terms, func(fits func(id, parent string) bool) bool { return !fits(id, parent) })
	}, nil
}

// like compares without case, and with a star for whatever follows.
func like(text, pattern string) bool {
	text, pattern = strings.ToLower(text), strings.ToLower(pattern)
	if start, open := strings.CutSuffix(pattern, "*"); open {
		return strings.HasPrefix(text, start)
	}
	return text == pattern
}

func badQuery(word string) *problem {
	return &problem{code: codes.InvalidArgument, message: "The simulator does not understand '" + shown(word) + "' in the query."}
}
