package azure

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// maxBody bounds what is read of a request to find out what it asks.
const maxBody = 1 << 20

// request is what was read of a request: the front's own part of a call.
type request struct {
	route
	method string
	base   string // scheme and host, for links
	raw    string // the path as it was asked
	query  url.Values
	id     string     // that the client gave it
	graphQ *graphBody // of a query
	graphE *problem   // why there is none

	page     cursor
	badToken bool
}

// read finds out what is asked. The body can be read again afterwards.
func read(r *http.Request) *request {
	q := &request{
		method: r.Method, raw: r.URL.Path, query: lowerKeys(r.URL.Query()),
		base: "http://" + r.Host, id: name(r.Header.Get("X-Ms-Client-Request-Id")),
	}
	if r.TLS != nil {
		q.base = "https://" + r.Host
	}
	q.route = parse(r.Method, r.URL.EscapedPath())
	if q.path == graphPath {
		text, _ := sim.Peek(r, maxBody)
		q.graphQ, q.graphE = readGraph(text)
	}
	return q
}

// lowerKeys makes the names of parameters lower case: Resource Manager does not
// mind how they are written.
func lowerKeys(v url.Values) url.Values {
	lower := make(url.Values, len(v))
	for k, values := range v {
		k = strings.ToLower(k)
		lower[k] = append(lower[k], values...)
	}
	return lower
}

// listing names what is paged, for tokens to be good for nothing else.
func (q *request) listing() string {
	if q.graphQ != nil {
		return strings.Join([]string{graphPath, q.graphQ.Query, strings.Join(q.graphQ.Subscriptions, ","), strings.Join(q.graphQ.ManagementGroups, ",")}, "\x00")
	}
	return strings.ToLower(q.raw) + " " + q.query.Get("$filter")
}

// pages tells whether what is asked comes in pages.
func (q *request) pages() bool { return q.verb == "list" || q.graphQ != nil }

// readToken reads which page is asked for.
func (q *request) readToken(c *sim.Call, s sim.Setting) {
	token := q.query.Get("$skiptoken")
	if q.graphQ != nil {
		token = q.graphQ.Options.SkipToken
	}
	if token == "" {
		return
	}
	c.Token = true
	if s.Upstream {
		return // its tokens are its own
	}
	var ok bool
	if q.page, ok = parseCursor(token, salt(s.Estate, q.listing())); !ok {
		q.badToken = true
		return
	}
	c.Page = q.page.page + 1
}

// Classes of calls, by what they do: they have quotas of their own.
const (
	reading  = "read"
	writing  = "write"
	deleting = "delete"
	querying = "query"
)

func (q *request) class() string {
	switch {
	case q.path == graphPath:
		return querying
	case q.method == http.MethodGet || q.method == http.MethodHead:
		return reading
	case q.method == http.MethodDelete:
		return deleting
	}
	return writing
}

// service is the namespace without the maker's name: "storage". What belongs to
// none is Resource Manager's own.
func (q *request) service() string {
	_, short, ok := strings.Cut(strings.ToLower(q.namespace), ".")
	if !ok {
		return "resources"
	}
	return name(short)
}

// operation is the type and what is done: "virtualMachines.list".
func (q *request) operation() string {
	if len(q.types) == 0 {
		return name(q.verb)
	}
	return name(strings.Join(q.types, "/") + "." + q.verb)
}

// item is what one thing is asked about: its id.
func (q *request) item() string {
	if q.verb == "list" || q.verb == "query" {
		return ""
	}
	return q.raw
}

// name makes what a client calls something fit to be shown and counted.
func name(text string) string { return sim.Shown(text, 100) }
