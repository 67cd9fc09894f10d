package gcp

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"

	"google.golang.org/grpc/codes"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// ExpiredToken is a bearer token that is refused as one that was good once.
const ExpiredToken = "expired"

// Front speaks the protocols of Google's APIs.
type Front struct {
	mu   sync.Mutex
	last *world // of the estate that was asked about last
}

// New makes one.
func New() *Front { return &Front{} }

// Provider is "gcp".
func (*Front) Provider() string { return "gcp" }

// Regions are four that every project can use.
func (*Front) Regions() []string {
	return []string{"us-central1", "us-east1", "europe-west1", "asia-northeast1"}
}

var projectID = regexp.MustCompile(`^[a-z][a-z0-9-]{4,28}[a-z0-9]$`)

// Partial says that there are lists that tell what is missing: those of clusters.
func (*Front) Partial() {}

// CheckAccount wants a project's id.
func (*Front) CheckAccount(id string) error {
	if projectID.MatchString(id) {
		return nil
	}
	return errors.New("a project's id, such as example-1: 6 to 30 lower-case letters, digits and hyphens")
}

// ExampleAccounts makes ids of projects.
func (*Front) ExampleAccounts(n int) []string {
	list := make([]string, max(0, n))
	for i := range list {
		list[i] = fmt.Sprintf("example-%d", i+1)
	}
	return list
}

// world gives what is known of an estate.
func (f *Front) world(e *sim.Estate) *world {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.last == nil || f.last.estate != e {
		f.last = newWorld(e)
	}
	return f.last
}

// Identify reads what is asked, and settles what is not allowed in at all.
func (f *Front) Identify(r *http.Request, s sim.Setting) (*sim.Call, *sim.Answer) {
	q := read(r)
	c := &sim.Call{Account: "*", Region: "*", Service: q.service, Operation: q.operation, Native: q}
	if q.pages() {
		c.Page = 1
		c.Token = q.token() != ""
	}
	if s.Upstream {
		if q.parent != "" {
			c.Account = q.parent
		}
		q.payer = payer(r, q.parent, nil)
		q.consumer = q.payer
		c.Payers = map[string]string{"": q.payer}
		return c, nil
	}
	w := f.world(s.Estate)
	q.payer = payer(r, q.parent, w)
	q.consumer = w.consumer(q.payer)
	c.Payers = map[string]string{"": q.payer, organizationLayer: Organization, dayLayer: Organization}
	no := q.problem
	if no == nil {
		no = q.gate(r, w, s)
	}
	if no != nil {
		a := q.fail(*no)
		return c, &a
	}
	if q.parent != "" {
		c.Account = q.parent
	}
	if c.Token {
		c.Page = q.readToken(w, s)
	}
	return c, nil
}

// gate is what is looked at before anything else.
func (q *request) gate(r *http.Request, w *world, s sim.Setting) *problem {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	switch {
	case strings.EqualFold(scheme, "Bearer") && strings.TrimSpace(token) == ExpiredToken:
		return &expiredCredentials
	case q.payer == "":
		no := q.userProjectDenied("projects/" + shown(r.Header.Get(userProject)))
		return &no
	case q.ask == nil && (s.Strict || !q.reads()):
		return &problem{code: codes.Unimplemented, message: "The simulator does not model " + q.service + " " + q.operation + "."}
	case !q.about():
		return nil
	}
	scope, ok := w.scope(q.parent)
	switch {
	case !ok && !nameOfParent.MatchString(q.parent):
		return &problem{code: codes.InvalidArgument, message: "Request contains an invalid argument: " + q.parentField() + " '" + shown(q.parent) + "' is no project, folder or organization."}
	case !ok:
		no := q.denied()
		return &no
	}
	q.scope = scope
	return nil
}

var nameOfParent = regexp.MustCompile(`^(projects/[a-z0-9:.-]{1,64}|(folders|organizations)/[0-9]{1,19})$`)

// Answer answers from the estate.
func (f *Front) Answer(c *sim.Call, s sim.Setting, e sim.Edit) sim.Answer {
	q := native(c)
	if q.ask == nil {
		return q.empty()
	}
	m, no := q.ask(&context{request: q, world: f.world(s.Estate), edit: e, speed: s.Speed})
	if no != nil {
		return q.fail(*no)
	}
	return q.respond(m)
}

// context is a request with what it is answered from.
type context struct {
	*request
	world *world
	edit  sim.Edit
	speed float64
}

func native(c *sim.Call) *request {
	q, ok := c.Native.(*request)
	if !ok {
		panic("sim: a call of another front")
	}
	return q
}

// shown makes what a client calls something fit to be shown.
func shown(text string) string { return sim.Shown(text, 100) }
