package azure

import (
	"cmp"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

const (
	// Token is a bearer token that identifies nobody and is accepted.
	Token = "simulated"
	// ExpiredToken is refused as one that was good once.
	ExpiredToken = "expired"
	// Audience is what the SDK is to ask a token for.
	Audience = "https://management.azure.com"
	// Tenant is the one that every subscription belongs to.
	Tenant = "00000000-0000-0000-0000-0000000000ff"
	// OperationTime is how long it takes until a change is done.
	OperationTime = 3 * time.Second
)

// Front speaks Resource Manager's protocol.
type Front struct {
	// most is how many subscriptions one query reaches.
	most int
	// disabled are the subscriptions that may be read and not changed.
	disabled map[string]bool
	links    string        // scheme and host of links, where it is not what was asked
	requests atomic.Uint64 // that were answered, to number them
	sorted   ordered
}

// Option changes a front.
type Option func(*Front)

// WithDisabled disables subscriptions: they are listed as such, and can be read
// and not changed.
func WithDisabled(subscriptions ...string) Option {
	return func(f *Front) {
		for _, s := range subscriptions {
			f.disabled[strings.ToLower(s)] = true
		}
	}
}

// WithQueryLimit lets a query of Resource Graph reach so many subscriptions
// instead of the documented 10,000. The rest is left out, and a header says so.
func WithQueryLimit(n int) Option { return func(f *Front) { f.most = max(1, n) } }

// WithLinks makes links lead to a scheme and host, "https://management.azure.com", and
// not to what was asked: so they come through a proxy that passes answers on as they are.
func WithLinks(base string) Option { return func(f *Front) { f.links = base } }

// New makes one.
func New(options ...Option) *Front {
	f := &Front{most: querySubscriptions, disabled: make(map[string]bool)}
	for _, o := range options {
		o(f)
	}
	return f
}

// Provider is "azure".
func (*Front) Provider() string { return "azure" }

// Regions are four that every subscription can use.
func (*Front) Regions() []string { return []string{"eastus", "westus2", "northeurope", "westeurope"} }

var subscriptionID = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// CheckAccount wants a subscription's id.
func (*Front) CheckAccount(id string) error {
	if subscriptionID.MatchString(id) {
		return nil
	}
	return errors.New("a subscription's id in lower case, such as 00000000-0000-0000-0000-000000000001")
}

// ExampleAccounts makes ids of subscriptions that nobody has.
func (*Front) ExampleAccounts(n int) []string {
	list := make([]string, max(0, n))
	for i := range list {
		list[i] = example(i + 1)
	}
	return list
}

// Identify reads what is asked, and settles what is not allowed in at all.
func (f *Front) Identify(r *http.Request, s sim.Setting) (*sim.Call, *sim.Answer) {
	q := read(r)
	q.base = cmp.Or(f.links, q.base)
	c := &sim.Call{
		Account: "*", Region: "*", Service: q.service(), Operation: q.operation(),
		Class: q.class(), Item: q.item(), Native: q,
	}
	if q.subscription != "" {
		c.Account = name(q.subscription)
	}
	if q.pages() {
		c.Page = 1
		q.readToken(c, s)
	}
	if s.Upstream {
		return c, nil
	}
	no := f.gate(q, r, s)
	if no == nil {
		return c, nil
	}
	if no.status == http.StatusUnauthorized || no.code == "SubscriptionNotFound" || no.code == "InvalidSubscriptionId" {
		c.Account = "*" // nobody's, so that made-up ones fill no report
	}
	a := f.fail(q, *no)
	return c, &a
}

// gate is what Resource Manager looks at before anything else.
func (f *Front) gate(q *request, r *http.Request, s sim.Setting) *problem {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	switch token = strings.TrimSpace(token); {
	case r.Header.Get("Authorization") == "":
		return &missingToken
	case !strings.EqualFold(scheme, "Bearer") || token == "":
		return &badToken
	case token == ExpiredToken:
		return &expiredToken
	case !q.query.Has("api-version"):
		return &problem{status: http.StatusBadRequest, code: "MissingApiVersionParameter", message: "The api-version query parameter (?api-version=) is required for all requests."}
	case !apiVersion.MatchString(q.query.Get("api-version")):
		return &problem{status: http.StatusBadRequest, code: "InvalidApiVersionParameter", message: "The api-version '" + name(q.query.Get("api-version")) + "' is invalid."}
	case q.subscription == "":
	case !subscriptionID.MatchString(q.subscription):
		return &problem{status: http.StatusBadRequest, code: "InvalidSubscriptionId", message: "The provided subscription identifier '" + name(q.subscription) + "' is malformed or invalid."}
	case !s.Estate.HasAccount(q.subscription):
		return &problem{status: http.StatusNotFound, code: "SubscriptionNotFound", message: "The subscription '" + q.subscription + "' could not be found."}
	case f.disabled[q.subscription] && q.class() != reading && q.verb != "query":
		no := readOnly(q.subscription)
		return &no
	}
	return nil
}

var apiVersion = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}(-[a-z]{1,16})?$`)

// Answer answers from the estate.
func (f *Front) Answer(c *sim.Call, s sim.Setting, e sim.Edit) sim.Answer {
	q, ok := c.Native.(*request)
	if !ok {
		panic("sim: a call of another front")
	}
	x := &context{request: q, front: f, estate: s.Estate, edit: e, strict: s.Strict}
	var a sim.Answer
	if no := x.answer(&a); no != nil {
		a = f.fail(q, *no)
	}
	tellLeft(a.Header, c)
	return a
}

// context is a request with what it is answered from.
type context struct {
	*request
	front  *Front
	estate *sim.Estate
	edit   sim.Edit
	strict bool
}

// answer finds who answers.
func (x *context) answer(a *sim.Answer) *problem {
	switch {
	case x.path == graphPath:
		return x.graph(a)
	case x.class() != reading:
		return x.change(a)
	case x.verb == "poll":
		return x.poll(a)
	case x.tenant != nil:
		return x.tenant(x, a)
	}
	return x.resource(a)
}
