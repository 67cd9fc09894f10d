package gcp

import (
	"encoding/binary"
	"fmt"
	"iter"
	"slices"

	"cloud.google.com/go/iam/apiv1/iampb"
	"google.golang.org/genproto/googleapis/type/expr"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// policy is the IAM policy that is set on a thing, nil where none is.
func (t thing) policy(e *sim.Estate) *iampb.Policy {
	if t.draw(e, "policy")%100 >= uint64(t.kind.iam) {
		return nil
	}
	p := &iampb.Policy{Version: 1, Etag: binary.BigEndian.AppendUint64(nil, t.draw(e, "etag"))}
	given := make(map[string]bool)
	for n := range 1 + t.draw(e, "bindings")%4 {
		role := t.pick(e, fmt.Sprint("role", n), t.kind.roles...)
		if given[role] {
			continue // a policy has one binding of a role and condition
		}
		given[role] = true
		b := &iampb.Binding{Role: role}
		for m := range 1 + t.draw(e, fmt.Sprint("members", n))%3 {
			if member := t.member(e, fmt.Sprint("member", n, m)); !slices.Contains(b.Members, member) {
				b.Members = append(b.Members, member)
			}
		}
		if t.draw(e, fmt.Sprint("condition", n))%8 == 0 {
			p.Version = 3
			b.Condition = &expr.Expr{Title: "until 2030", Expression: `request.time < timestamp("2030-01-01T00:00:00Z")`}
		}
		p.Bindings = append(p.Bindings, b)
	}
	return p
}

// member is somebody of example.com, or one of the project's service accounts, and
// now and then anybody who has an account.
func (t thing) member(e *sim.Estate, aspect string) string {
	n := t.draw(e, aspect)
	switch n % 16 {
	case 0:
		return "allAuthenticatedUsers"
	case 1:
		return "domain:example.com"
	case 2, 3, 4, 5:
		return "group:" + t.pick(e, aspect+"name", "admins", "developers", "auditors", "data") + "@example.com"
	case 6, 7, 8, 9, 10:
		if a, ok := t.other(e, accounts); ok {
			a.i = int(n>>8) % e.Count(a.place, accounts)
			return "serviceAccount:" + a.email(e)
		}
	}
	return fmt.Sprintf("user:user-%02d@example.com", n>>8%40)
}

// Binding is a member who has a role on a resource.
type Binding struct {
	Resource, Type string
	Role, Member   string
	Condition      string // its expression; empty is none
}

// Bindings lists the bindings of all policies at or below a project, a folder or
// the organization, each member by itself.
func Bindings(e *sim.Estate, parent string) iter.Seq[Binding] {
	return func(yield func(Binding) bool) {
		w := newWorld(e)
		s, ok := w.scope(parent)
		if !ok {
			return
		}
		for _, t := range w.walk(s, start, anything) {
			for _, b := range t.policy(e).GetBindings() {
				for _, m := range b.Members {
					if !yield(Binding{t.fullName(e), t.kind.name, b.Role, m, b.Condition.GetExpression()}) {
						return
					}
				}
			}
		}
	}
}
