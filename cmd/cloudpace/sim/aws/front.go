package aws

import (
	"cmp"
	"errors"
	"net/http"
	"strings"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// Front speaks AWS's protocols. It holds nothing.
type Front struct{}

// New makes one.
func New() Front { return Front{} }

// Provider is "aws".
func (Front) Provider() string { return "aws" }

// Regions are four that every account has.
func (Front) Regions() []string {
	return []string{"us-east-1", "us-west-2", "eu-central-1", "eu-west-1"}
}

// CheckAccount wants twelve digits.
func (Front) CheckAccount(id string) error {
	if len(id) == 12 && twelve.MatchString(id) {
		return nil
	}
	return errors.New("twelve digits, in quotes where they start with 0")
}

// AccessKey makes the id of an access key of an account.
func AccessKey(account string) string { return "AKIA" + account + "EXAM" }

// sessionKey makes that of a role's session.
func sessionKey(account string) string { return "ASIA" + account + "ROLE" }

// Identify reads what is asked, and settles what is not signed or not known.
func (f Front) Identify(r *http.Request, s sim.Setting) (*sim.Call, *sim.Answer) {
	sig, ok := signed(r)
	q := read(r, signature{sig.key, cmp.Or(sig.region, "us-east-1"), cmp.Or(sig.service, unsigned)})
	q.account = twelve.FindString(sig.key)
	if q.account == "" && !s.Upstream {
		q.account = s.Estate.Accounts()[0]
	}
	c := &sim.Call{
		Account: cmp.Or(q.account, "*"), Region: q.region, Service: q.service.name, Operation: q.name,
		Class: class(r, q), Native: q,
	}
	q.op = q.service.operations[q.name]
	if q.op != nil {
		q.identify(c, s)
	}
	if s.Upstream {
		return c, nil
	}
	var no problem
	switch {
	case !ok:
		c.Account = "*"
		no = problem{http.StatusForbidden, "MissingAuthenticationToken", "Request is missing Authentication Token"}
	case !s.Estate.HasAccount(q.account):
		no = q.service.unknownKey()
	default:
		return c, nil
	}
	a := q.fail(no)
	return c, &a
}

// identify reads what the table knows how to read: the page, and what thing is
// asked about.
func (q *request) identify(c *sim.Call, s sim.Setting) {
	if q.op.item != "" {
		c.Item = q.param(q.op.item)
	}
	if q.op.about != nil {
		c.Item = q.op.about(q)
	}
	if q.op.pages == nil {
		return
	}
	c.Page = 1
	token := q.param(q.op.pages.token)
	if token == "" {
		return
	}
	c.Token = true
	if s.Upstream {
		return // its tokens are its own
	}
	var ok bool
	if q.page, ok = parseCursor(token, q.salt(s.Estate)); !ok {
		q.badToken = true
		return
	}
	c.Page = q.page.page + 1
}

// Classes of EC2's operations, which have quotas of their own.
const (
	mutating    = "mutating"
	unpaginated = "unpaginated"
	console     = "console"
)

// class tells EC2's classes of operations apart. What the console calls is known
// by its user agent.
func class(r *http.Request, q *request) string {
	if q.service.name != "ec2" {
		return ""
	}
	switch {
	case !reads(q.name):
		return mutating
	case strings.Contains(r.UserAgent(), "console.ec2.amazonaws.com") || strings.Contains(r.UserAgent(), "EC2ConsoleFrontend"):
		return console
	case q.param("MaxResults") == "" && q.param("NextToken") == "" && !q.has("Filter.") && !q.byID():
		return unpaginated
	}
	return ""
}

// byID tells whether things are asked about by their ids.
func (q *request) byID() bool {
	for k := range q.form {
		if before, after, ok := strings.Cut(k, "."); ok && strings.HasSuffix(before, "Id") && after == "1" {
			return true
		}
	}
	return false
}

// reads tells whether an operation changes nothing, by its name.
func reads(op string) bool {
	for _, verb := range []string{"Describe", "List", "Search", "Get", "Head", "BatchGet", "Lookup", "GET", "HEAD"} {
		if strings.HasPrefix(op, verb) {
			return true
		}
	}
	return false
}

// Answer answers from the estate.
func (f Front) Answer(c *sim.Call, s sim.Setting, e sim.Edit) sim.Answer {
	q, ok := c.Native.(*request)
	if !ok {
		panic("sim: a call of another front")
	}
	x := &context{request: q, estate: s.Estate, place: sim.Place{Account: q.account, Region: q.region}, edit: e}
	if q.op == nil {
		switch {
		case s.Strict || !reads(q.name):
		case q.service.protocol == restXML:
			// The name is a method's and a path's. Each listing has a root and a list of its
			// own; those a client does not know it passes over.
			return q.render(fields("Buckets", object{}, "DistributionList", object{}, "HostedZones", object{}, "ResourceRecordSets", object{}), "Answer")
		default:
			return q.render(nil, q.name)
		}
		return q.fail(problem{http.StatusNotImplemented, "NotImplemented", "The simulator does not model " + q.service.name + ":" + q.name + "."})
	}
	return q.op.answer(x)
}
