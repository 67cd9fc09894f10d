package main

import (
	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/plan"
)

// planLimits gives what calls have to pass, one limit for each line of the
// configuration.
type planLimits struct {
	tables     tables
	providers  map[string]providerLimits
	operations map[cloudpace.Scope]*plan.Operation
	limits     map[string]*plan.Limit
	from       map[*plan.Limit]string // where each is from, as limits says it
}

func newPlanLimits(t tables) *planLimits {
	return &planLimits{
		tables: t, providers: make(map[string]providerLimits), operations: make(map[cloudpace.Scope]*plan.Operation),
		limits: make(map[string]*plan.Limit), from: make(map[*plan.Limit]string),
	}
}

// of gives what calls of an operation have to pass, wherever they are.
func (p *planLimits) of(provider, service, operation string) *plan.Operation {
	s := cloudpace.Scope{Provider: provider, Account: "any", Region: "any", Service: service, Operation: operation}
	if op := p.operations[s]; op != nil {
		return op
	}
	op := new(plan.Operation)
	p.operations[s] = op
	settings := p.tables.config.Provider(provider)
	if !p.tables.config.Enabled || !settings.Enabled {
		return op
	}
	known, ok := p.providers[provider]
	if !ok {
		known = p.tables.provider(provider)
		p.providers[provider] = known
	}
	path := "ratelimit." + provider + "."
	for _, b := range p.tables.force.Look(s).Buckets {
		from := ""
		if i := governing(s, b, known.Buckets); i >= 0 {
			from = origin(known.Buckets[i].RPS, known.Buckets[i].Burst)
		}
		limit := func(key, name string) *plan.Limit {
			return p.limit(plan.Limit{Key: path + key, Name: name, Rate: b.MaxRPS, Burst: b.Burst}, from)
		}
		switch b.Level {
		case levelProvider:
			op.Provider = limit("global_max_rps", provider+", all calls together")
		case levelAccount:
			op.Account = limit("account_max_rps", provider+", all calls of an account")
		default:
			name := service
			if leaf, err := cloudpace.ParseScope(b.Scope); err == nil && leaf.Operation != "" {
				name += "." + leaf.Operation
			}
			op.Leaf = limit("services."+name+".max_rps", provider+" "+name)
		}
	}
	if n := settings.MaxConcurrency; n > 0 {
		key := path + "max_concurrency"
		op.Slots = p.limit(plan.Limit{Key: key, Name: provider + ", calls in flight in an account", Slots: n}, p.tables.at(key, n).origin())
	}
	op.Held = provider == "gcp" // a listing of Google's keeps its slot (S5.2)
	return op
}

func (p *planLimits) limit(l plan.Limit, from string) *plan.Limit {
	known := p.limits[l.Key]
	if known == nil {
		known = &l
		p.limits[l.Key], p.from[known] = known, from
	}
	return known
}
