package sim

import (
	"slices"
	"strconv"
	"sync"
)

// FaultKind is a way in which an API misbehaves.
type FaultKind string

// The faults. Those of the connection come before the quota is asked, since such
// a request never reaches what counts it.
const (
	Latency FaultKind = "latency" // the answer comes Seconds later; other faults may follow

	// These three come instead of an answer, or with At within it.
	Reset FaultKind = "reset" // the connection is reset
	Close FaultKind = "close" // the connection is closed
	Hang  FaultKind = "hang"  // no more until the client gives up
	// GoAway is of HTTP/2: the connection takes no new streams, that of the request
	// included.
	GoAway FaultKind = "goaway"
	// Idle is of HTTP/2 too: a request that comes after so many seconds without any
	// finds its connection reset.
	Idle FaultKind = "idle"

	Error          FaultKind = "error"            // Code and Status, in the protocol's form
	HTTP500        FaultKind = "http_500"         // an internal error, in the protocol's form
	HTTP503        FaultKind = "http_503"         // unavailable, in the protocol's form
	HTML           FaultKind = "html"             // a page of HTML, with status 200 unless Status says otherwise
	Wrong          FaultKind = "wrong"            // a body that is well formed and something else
	Truncated      FaultKind = "truncated"        // half of the answer, and a header that says it is all
	Cut            FaultKind = "cut"              // half of the answer, and a header that promises all
	CloseMidBody   FaultKind = "close_mid_body"   // half of the answer in chunks, and no end
	Expired        FaultKind = "expired"          // the credentials have expired
	Denied         FaultKind = "denied"           // no policy allows the call
	DeniedByPolicy FaultKind = "denied_by_policy" // a policy of the organization forbids the call
	RegionDisabled FaultKind = "region_disabled"  // the account has not enabled the region

	RepeatToken FaultKind = "repeat_token" // the page's token leads to the page itself
	EmptyPage   FaultKind = "empty_page"   // a page with nothing on it but a token
	// Unreachable is for a front that is [Partial]: the list leaves its last region
	// out, and says so.
	Unreachable FaultKind = "unreachable"
)

// FaultKinds lists them all.
func FaultKinds() []FaultKind {
	return slices.Concat([]FaultKind{Latency}, ofConnection, []FaultKind{GoAway, Idle}, ofAnswer, ofPage)
}

var (
	ofConnection = []FaultKind{Reset, Close, Hang}
	ofAnswer     = []FaultKind{Error, HTTP500, HTTP503, HTML, Wrong, Truncated, Cut, CloseMidBody, Expired, Denied, DeniedByPolicy, RegionDisabled}
	ofPage       = []FaultKind{RepeatToken, EmptyPage, Unreachable}
)

// Fault makes the calls it matches go wrong. Without First, After, Every and
// Probability it does so always. They count the matching calls of one operation,
// in an account and region: the hundredth there is the hundredth whatever others
// do.
type Fault struct {
	Kind FaultKind
	Match

	After       int     // so many calls pass first
	First       int     // then so many may go wrong; 0 is no limit
	Every       int     // of those, one in so many
	Probability float64 // of those, this share, drawn from the seed; 0 is all

	Code    string  // for Error; for other refusals instead of the usual one
	Status  int     // likewise, and for HTML
	Message string  // likewise
	Seconds float64 // for Latency and Idle

	// At lets Reset, Close and Hang strike so many bytes into the answer, counted
	// from the first of its head: the request was carried out. With 0 no byte comes;
	// with more than there are, all do. Without At it is not carried out.
	At *int
	// RetryAfter is the value of that header in refusals and pages of HTML, as it is:
	// "5", a date, or what no client can read. Empty is no header.
	RetryAfter string
}

// stage is when in a request's life a fault comes.
type stage int

const (
	onArrival  stage = iota // latency
	asGoAway                // before anything is made of the request
	asIdle                  // likewise
	unanswered              // nothing was carried out
	asRefusal               // the quota was charged; the answer is another, or part of it
	onPage                  // the answer is a changed page
)

func (f *Fault) stage() stage {
	switch {
	case f.Kind == Latency:
		return onArrival
	case f.Kind == GoAway:
		return asGoAway
	case f.Kind == Idle:
		return asIdle
	case slices.Contains(ofConnection, f.Kind) && f.At == nil:
		return unanswered
	case slices.Contains(ofPage, f.Kind):
		return onPage
	}
	return asRefusal
}

// faults decides which calls go wrong.
type faults struct {
	rules []Fault
	seed  uint64

	mu   sync.Mutex
	seen map[faultKey]int
}

type faultKey struct {
	rule                                int
	account, region, service, operation string
}

// manyScopes bounds what is remembered for clients that make names up.
const manyScopes = 1 << 16

func newFaults(rules []Fault, seed uint64) *faults {
	return &faults{rules: rules, seed: seed, seen: make(map[faultKey]int)}
}

// find gives the first fault of a stage that strikes a call.
func (f *faults) find(c *Call, at stage) *Fault {
	for i := range f.rules {
		if r := &f.rules[i]; r.stage() == at && r.hits(c) && r.rested(c) && f.strikes(i, c) {
			return r
		}
	}
	return nil
}

// rested tells whether the connection was idle for as long as the fault wants.
func (f *Fault) rested(c *Call) bool { return f.Kind != Idle || c.idle >= seconds(f.Seconds) }

// have tells whether there are faults of a stage at all.
func (f *faults) have(at stage) bool {
	return slices.ContainsFunc(f.rules, func(r Fault) bool { return r.stage() == at })
}

func (f *faults) strikes(i int, c *Call) bool {
	r := &f.rules[i]
	n := f.count(i, c) - r.After
	switch {
	case n <= 0:
		return false
	case r.First > 0 && n > r.First:
		return false
	case r.Every > 0 && n%r.Every != 0:
		return false
	case r.Probability > 0:
		return unit(hash(f.seed, "fault", strconv.Itoa(i), c.Account, c.Region, c.Service, c.Operation, strconv.Itoa(n))) < r.Probability
	}
	return true
}

func (f *faults) count(i int, c *Call) int {
	key := faultKey{i, c.Account, c.Region, c.Service, c.Operation}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.seen) >= manyScopes && f.seen[key] == 0 {
		clear(f.seen)
	}
	f.seen[key]++
	return f.seen[key]
}

func (f *faults) reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.seen)
}

// refusal words those faults that are refusals.
func (f *Fault) refusal() (Refusal, bool) {
	why, ok := map[FaultKind]Why{
		Error: WhyError, HTTP500: WhyInternal, HTTP503: WhyUnavailable, Expired: WhyExpired,
		Denied: WhyDenied, DeniedByPolicy: WhyDeniedByPolicy, RegionDisabled: WhyRegionDisabled,
	}[f.Kind]
	return Refusal{Why: why, Code: f.Code, Status: f.Status, Message: f.Message}, ok
}
