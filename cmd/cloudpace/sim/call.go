package sim

import (
	"cmp"
	"net/http"
	"slices"
	"time"
)

// Call is what a request asks for, as the front read it.
type Call struct {
	Account, Region, Service, Operation string

	// Class is the provider's own class of the operation, where quotas differ by
	// it: "mutating", "unpaginated".
	Class string
	// Page is the page of a listing that is asked for, from 1; 0 for what is no
	// listing.
	Page int
	// Item is what the request is about, for what asks about one thing: an id, a
	// name, an ARN.
	Item string
	// Token tells whether it is a token that asks for the page.
	Token bool

	// Payers are who is charged, by the layer of the quotas, where that is not the
	// account that is asked about.
	Payers map[string]string

	// Left is what the quotas that the call was charged to have left, for fronts
	// that tell. The server sets it, in the clock's time.
	Left []Left

	// Native is the front's own.
	Native any

	// idle is for how long nothing was asked on the connection, in the model's time.
	idle time.Duration
}

// payer is who is charged in a layer of the quotas.
func (c *Call) payer(layer string) string { return cmp.Or(c.Payers[layer], c.Account) }

// Answer is a whole response.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
	// Trailer follows the body.
	Trailer http.Header
	// As is the status that the answer amounts to, where its protocol has another
	// place to say so; 0 is Status.
	As int
}

func (a Answer) write(w http.ResponseWriter) {
	for name, values := range a.Header {
		w.Header()[name] = values
	}
	for name, values := range a.Trailer {
		w.Header()[http.TrailerPrefix+name] = values
	}
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Body) // a client that has left is no concern here
}

// amounts is the status to count it by.
func (a Answer) amounts() int { return cmp.Or(a.As, a.Status) }

// Refusal is a reason not to answer. A front words it in its protocols.
type Refusal struct {
	Why     Why
	Code    string // for WhyError, and to override the usual code
	Status  int    // likewise
	Message string
	// Of a throttle: Wait is how long it takes until there is a token again, to be
	// told where the service documents it; RetryAfter is to be told in any case,
	// unless 0; Quota is the one that is used up.
	Wait, RetryAfter time.Duration
	Quota            *Quota
}

// Why is a kind of refusal.
type Why int

// The kinds of refusals.
const (
	WhyError          Why = iota // Code and Status say what it is
	WhyThrottled                 // a quota is used up
	WhyInternal                  // 500
	WhyUnavailable               // 503
	WhyBadGateway                // 502: the upstream does not answer
	WhyExpired                   // the credentials were good once
	WhyDenied                    // no policy allows it
	WhyDeniedByPolicy            // a policy of the organization forbids it
	WhyRegionDisabled            // what a region says that the account has not enabled
)

// Edit is a change to a page that a front makes when asked to.
type Edit struct {
	RepeatToken bool // the page's token leads to the same page
	EmptyPage   bool // nothing on the page, and a token to what should have been there
	Unreachable bool // the last region is missing, and the list says so
}

// Partial is a front with lists that can say that a region is missing.
type Partial interface {
	Front
	Partial()
}

// Front speaks a provider's protocols.
type Front interface {
	// Provider is the name in scopes and profiles: "aws".
	Provider() string
	// Quotas are the documented ones, first match first.
	Quotas() []Quota
	// Kinds are the types of things that an estate has. A front without any has no
	// estate: neither accounts nor regions.
	Kinds() []Kind
	// Regions are those that an estate has unless it says otherwise.
	Regions() []string
	// CheckAccount tells whether a text can be an account's id, nil if so.
	CheckAccount(id string) error
	// Identify reads what is asked. It may read and replace the request's body. An
	// answer that is not nil settles the request: it was malformed, or not signed.
	Identify(r *http.Request, s Setting) (*Call, *Answer)
	// Answer answers from the estate.
	Answer(c *Call, s Setting, e Edit) Answer
	// Refuse words a refusal.
	Refuse(c *Call, why Refusal) Answer
	// Wrong is a body that is well formed and of another shape than the operation
	// has.
	Wrong(c *Call) Answer
}

// Setting is what a front answers from.
type Setting struct {
	Estate *Estate
	// Strict refuses operations that are not modelled; otherwise listings of what
	// is not modelled are empty.
	Strict bool
	// Upstream says that somebody else answers: who is asking matters only for
	// counting.
	Upstream bool
	// Seed and Speed are the profile's.
	Seed  uint64
	Speed float64
	// Warehouse is for fronts that run statements.
	Warehouse Warehouse
}

// Patterns are alternatives with * for any text and ? for one character. None
// match everything.
type Patterns []string

func (p Patterns) match(text string) bool {
	return len(p) == 0 || slices.ContainsFunc(p, func(pattern string) bool { return glob(pattern, text) })
}

// glob matches byte by byte, going back only to the last star.
func glob(pattern, text string) bool {
	star, resume, i := -1, 0, 0
	for j := 0; j < len(text); {
		switch {
		case i < len(pattern) && pattern[i] == '*':
			star, resume = i, j
			i++
		case i < len(pattern) && (pattern[i] == '?' || pattern[i] == text[j]):
			i++
			j++
		case star >= 0:
			resume++
			i, j = star+1, resume
		default:
			return false
		}
	}
	for i < len(pattern) && pattern[i] == '*' {
		i++
	}
	return i == len(pattern)
}

// Match selects calls. What is left empty matches everything.
type Match struct {
	Account, Region, Service, Operation Patterns
	Class, Item                         Patterns
	Page                                int // of a listing, from 1; 0 is any
}

func (m Match) hits(c *Call) bool { return m.hitsOf(c.Account, c) }

// hitsOf takes the call for one of another account, such as the one that is
// charged.
func (m Match) hitsOf(account string, c *Call) bool {
	return (m.Page == 0 || m.Page == c.Page) && m.covers(account, c) &&
		m.Operation.match(c.Operation) && m.Class.match(c.Class) && m.Item.match(c.Item)
}

// covers looks at the place alone.
func (m Match) covers(account string, c *Call) bool {
	return m.Account.match(account) && m.Region.match(c.Region) && m.Service.match(c.Service)
}
