package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/fleet/learned"
)

// part is a part of the cloud: all scopes that agree with it in what it names. The zero
// part is all of it.
type part struct{ cloudpace.Scope }

// parsePart reads a scope of which the end may be left out.
func parsePart(text string) (part, error) {
	var s cloudpace.Scope
	full, err := text, error(nil)
	for range 4 { // an account such as projects/ID has a slash of its own
		if s, err = cloudpace.ParseScope(full); err == nil {
			break
		}
		full += "/*"
	}
	if err != nil || s.Provider == "" || strings.TrimSpace(s.Provider) != s.Provider {
		return part{}, usage("scope %q (allowed: PROVIDER[/ACCOUNT[/REGION[/SERVICE[/OPERATION]]]] with * for any but the provider, which is %s, or one of your own)",
			text, strings.Join(slices.Sorted(maps.Keys(cloudpace.DefaultConfig().Providers)), ", "))
	}
	return part{s}, nil
}

// short is as much of it as says something.
func (p part) short() string {
	text := p.String()
	for strings.HasSuffix(text, "/*") {
		text = strings.TrimSuffix(text, "/*")
	}
	return text
}

// leaves gives the part that has the leaf of a call in p, where calls of several
// operations share one.
func (p part) leaves(g *cloudpace.Governor) part {
	if p.Operation == "" {
		return p
	}
	for _, b := range g.Look(p.Scope).Breakers {
		if s, err := cloudpace.ParseScope(b.Scope); err == nil {
			p.Operation = s.Operation
		}
	}
	return p
}

// contains tells whether what was learned is of this part alone.
func (p part) contains(e cloudpace.LearnedScope) bool {
	s, err := cloudpace.ParseScope(e.Scope)
	if err != nil {
		return false
	}
	agrees := func(want, have string) bool { return want == "" || want == have }
	return agrees(p.Provider, s.Provider) && agrees(p.Account, s.Account) && agrees(p.Region, s.Region) &&
		agrees(p.Service, s.Service) && agrees(p.Operation, s.Operation)
}

// meets tells whether calls in this part meet what was learned: it is of this part, or of
// the account or provider around it.
func (p part) meets(e cloudpace.LearnedScope) bool {
	switch e.Level {
	case levelProvider:
		return part{cloudpace.Scope{Provider: p.Provider}}.contains(e)
	case levelAccount:
		return part{cloudpace.Scope{Provider: p.Provider, Account: p.Account}}.contains(e)
	}
	return p.contains(e)
}

// whole tells whether it is all of a provider, whose retry budget is then of it alone.
func (p part) whole() bool { return p.Scope == cloudpace.Scope{Provider: p.Provider} }

// without takes out what was learned of this part.
func (p part) without(l cloudpace.Learned) cloudpace.Learned {
	l.Scopes = slices.DeleteFunc(l.Scopes, p.contains)
	l.Budgets = slices.DeleteFunc(l.Budgets, func(b cloudpace.LearnedBudget) bool { return p.whole() && b.Provider == p.Provider })
	return l
}

// completeParts gives the scopes that go on from what was typed: providers, their
// services, and all that something was learned of.
func completeParts(typed string) (list []string) {
	seen := make(map[string]bool)
	add := func(name string) {
		if strings.HasPrefix(name, typed) && !seen[name] {
			seen[name] = true
			list = append(list, name)
		}
	}
	for name, p := range cloudpace.DefaultConfig().Providers {
		add(name)
		for service := range p.Services {
			service, operation, _ := strings.Cut(service, ".")
			add(cloudpace.Scope{Provider: name, Service: service, Operation: operation}.String())
		}
	}
	if file, err := learned.DefaultPath(); err == nil {
		l, _ := learned.Read(file) // there is nobody to tell
		for _, e := range l.Scopes {
			s, err := cloudpace.ParseScope(e.Scope)
			if err != nil {
				continue
			}
			add(s.Provider)
			add(strings.TrimSuffix(cloudpace.Scope{Provider: s.Provider, Account: s.Account}.String(), "/*/*"))
			if e.Level == levelLeaf {
				add(e.Scope)
			}
		}
	}
	slices.Sort(list)
	return list
}
