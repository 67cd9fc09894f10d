package sim

import (
	"fmt"
	"iter"
	"slices"
)

// Kind is a type of thing that a provider's accounts have.
type Kind struct {
	Name   string  // the provider's own: "AWS::EC2::Volume"
	Global bool    // belongs to no region
	Weight float64 // its share of an estate, against the others' weights
	// ID makes what a map has as the thing's id.
	ID func(e *Estate, p Place, i int) string
}

// Place is an account in a region; without a region, what in the account belongs
// to none.
type Place struct{ Account, Region string }

// EstateConfig says what an estate has.
type EstateConfig struct {
	Accounts []string
	Regions  []string
	// Assets is how many things there are in all accounts and regions together,
	// apart from those that Types counts.
	Assets int
	// Types sets how many of a type there are in each account and region (in each
	// account, for types that belong to no region).
	Types map[string]int
}

// The most that an estate can have. Nothing of it is stored, but a map of it is.
const (
	MaxAssets   = 50_000_000
	MaxAccounts = 5_000
	MaxRegions  = 64
	// AssetBytes is about what a line of assets.jsonl takes.
	AssetBytes = 700
)

// Estate is what the accounts have. Only the numbers are kept; each thing is
// computed when it is asked for, so a million cost nothing.
type Estate struct {
	config   EstateConfig
	seed     uint64
	kinds    []Kind
	byName   map[string]int
	accounts map[string]int
	regions  map[string]int
	counts   []int32 // by account, region (the one after the last for none) and kind
	total    int
}

func newEstate(c EstateConfig, kinds []Kind, seed uint64) *Estate {
	e := &Estate{
		config: c, seed: seed, kinds: kinds,
		byName: make(map[string]int), accounts: make(map[string]int), regions: make(map[string]int),
		counts: make([]int32, len(c.Accounts)*(len(c.Regions)+1)*len(kinds)),
	}
	for i, k := range kinds {
		e.byName[k.Name] = i
	}
	for i, a := range c.Accounts {
		e.accounts[a] = i
	}
	for i, r := range c.Regions {
		e.regions[r] = i
	}
	// Every cell has a weight; it gets what lies between its sum of weights and the
	// next one's, rounded down both, so that all together are exactly the number.
	weights := make([]float64, len(e.counts))
	sum := 0.0
	for cell := range e.counts {
		weights[cell] = e.weight(cell)
		sum += weights[cell]
	}
	before, done := 0.0, 0
	for cell, w := range weights {
		if n, ok := e.fixed(cell); ok {
			e.counts[cell] = int32(n)
		} else if w > 0 {
			before += w
			upTo := int(before / sum * float64(c.Assets)) // at the end the same sum: all of them
			e.counts[cell] = int32(upTo - done)
			done = upTo
		}
		e.total += int(e.counts[cell])
	}
	return e
}

// at takes a cell apart.
func (e *Estate) at(cell int) (p Place, global bool, k Kind) {
	k = e.kinds[cell%len(e.kinds)]
	cell /= len(e.kinds)
	r := cell % (len(e.config.Regions) + 1)
	p.Account = e.config.Accounts[cell/(len(e.config.Regions)+1)]
	if r < len(e.config.Regions) {
		p.Region = e.config.Regions[r]
	}
	return p, p.Region == "", k
}

// weight makes some places several times as large as others.
func (e *Estate) weight(cell int) float64 {
	p, global, k := e.at(cell)
	if global != k.Global {
		return 0
	}
	if _, fixed := e.config.Types[k.Name]; fixed {
		return 0
	}
	w := k.Weight * (0.25 + 1.5*unit(hash(e.seed, "size", p.Account, p.Region)))
	if global {
		w *= float64(len(e.config.Regions))
	}
	return w
}

func (e *Estate) fixed(cell int) (int, bool) {
	_, global, k := e.at(cell)
	n, ok := e.config.Types[k.Name]
	return n, ok && global == k.Global
}

// Accounts lists the accounts.
func (e *Estate) Accounts() []string { return slices.Clone(e.config.Accounts) }

// Regions lists the regions, which every account has enabled.
func (e *Estate) Regions() []string { return slices.Clone(e.config.Regions) }

// HasAccount tells whether an account is one of the estate.
func (e *Estate) HasAccount(id string) bool { _, ok := e.accounts[id]; return ok }

// HasRegion tells whether a region is one of the estate.
func (e *Estate) HasRegion(name string) bool { _, ok := e.regions[name]; return ok }

// Total is how many things there are.
func (e *Estate) Total() int { return e.total }

// Kinds lists the types.
func (e *Estate) Kinds() []Kind { return slices.Clone(e.kinds) }

// Count tells how many of a type there are in a place; 0 for a place or type that
// the estate does not have.
func (e *Estate) Count(p Place, kind string) int {
	a, ok := e.accounts[p.Account]
	if !ok {
		return 0
	}
	r := len(e.config.Regions)
	if p.Region != "" {
		if r, ok = e.regions[p.Region]; !ok {
			return 0
		}
	}
	k, ok := e.byName[kind]
	if !ok {
		return 0
	}
	return int(e.counts[(a*(len(e.config.Regions)+1)+r)*len(e.kinds)+k])
}

// IDs lists the ids of all of a type in a place.
func (e *Estate) IDs(p Place, kind string) iter.Seq[string] {
	return func(yield func(string) bool) {
		n := e.Count(p, kind)
		if n == 0 {
			return
		}
		id := e.kinds[e.byName[kind]].ID
		for i := range n {
			if !yield(id(e, p, i)) {
				return
			}
		}
	}
}

// Places lists every account with each region, and without one.
func (e *Estate) Places() iter.Seq[Place] {
	return func(yield func(Place) bool) {
		for _, a := range e.config.Accounts {
			for _, r := range append(e.Regions(), "") {
				if !yield(Place{a, r}) {
					return
				}
			}
		}
	}
}

// Draw is a number that is always the same for one aspect of one thing, and has
// nothing to do with that of another.
func (e *Estate) Draw(p Place, kind string, i int, aspect string) uint64 {
	return mix(hash(e.seed, p.Account, p.Region, kind, aspect) + uint64(i))
}

// Hide makes a number of 64 bits of an index that tells nothing about it, and
// differs from place to place.
func (e *Estate) Hide(p Place, kind string, i int) uint64 {
	return mix(mix(uint64(i)+1) ^ hash(e.seed, "id", p.Account, p.Region, kind))
}

// Find takes back Hide; false when it is none of the place's.
func (e *Estate) Find(p Place, kind string, hidden uint64) (int, bool) {
	i := unmix(unmix(hidden)^hash(e.seed, "id", p.Account, p.Region, kind)) - 1
	if i >= uint64(e.Count(p, kind)) {
		return 0, false
	}
	return int(i), true
}

// ExamplesOf makes ids of accounts that nobody has, in the form that a front's
// provider gives them.
func ExamplesOf(front Front, n int) []string {
	if own, ok := front.(interface{ ExampleAccounts(n int) []string }); ok {
		return own.ExampleAccounts(n)
	}
	return ExampleAccounts(n)
}

// ExampleAccounts makes ids of AWS accounts that nobody has.
func ExampleAccounts(n int) []string {
	list := []string{"111122223333", "444455556666", "777788889999"}
	for i := len(list); i < n; i++ {
		list = append(list, fmt.Sprintf("9999%08d", i))
	}
	return list[:max(0, n)]
}
