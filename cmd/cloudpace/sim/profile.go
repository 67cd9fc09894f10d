package sim

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

// Profile is all that a server is made of. Start from [Default] or [Load].
type Profile struct {
	Name string
	// Seed is what everything random is drawn from.
	Seed uint64
	// Speed is how many seconds of quotas, neighbours and latencies pass in one
	// second; 10 lets an hour pass in six minutes. Bursts stay what they are.
	Speed float64
	// Strict refuses operations that are not modelled as an emulator does.
	// Otherwise a listing of what is not modelled is empty.
	Strict     bool
	Estate     EstateConfig
	Quotas     []Quota // the first that matches counts
	Neighbours []Neighbour
	Faults     []Fault
	Warehouse  Warehouse // for fronts that run statements
}

// The estate of a profile that says nothing about it.
const (
	defaultAccounts = 1
	defaultAssets   = 1000
)

// Default has the quotas that the provider documents, no faults, no neighbours,
// and a small estate where the provider has one.
func Default(front Front) Profile {
	p := Profile{Name: front.Provider(), Seed: 1, Speed: 1, Quotas: front.Quotas()}
	if len(front.Kinds()) > 0 {
		p.Estate = EstateConfig{Accounts: ExamplesOf(front, defaultAccounts), Regions: front.Regions(), Assets: defaultAssets}
	}
	if _, ok := front.(Runner); ok {
		p.Warehouse = DefaultWarehouse()
	}
	return p
}

// Check finds all that is wrong with a profile; each fault is a
// [*cloudpace.ConfigError], joined. With an upstream, what can only be done to
// answers of the server's own is wrong too.
func (p Profile) Check(front Front, upstream bool) error {
	var c checker
	c.number("speed", p.Speed, p.Speed >= 0.001 && p.Speed <= 1000, "0.001 to 1000")
	if len(front.Kinds()) > 0 {
		c.estate(p.Estate, front)
	} else if e := p.Estate; len(e.Accounts)+len(e.Regions)+len(e.Types)+e.Assets != 0 {
		c.reject("estate", "an estate", "none: "+front.Provider()+" has no accounts here")
	}
	if _, ok := front.(Runner); ok {
		c.warehouse(p.Warehouse)
	} else if p.Warehouse != (Warehouse{}) {
		c.reject("warehouse", "a warehouse", "none: "+front.Provider()+" runs no statements")
	}
	for i, q := range p.Quotas {
		at := fmt.Sprintf("quotas[%d].", i)
		c.number(at+"burst", q.Burst, q.Burst >= 1 && q.Burst <= 1e9, "1 to 1e9")
		c.number(at+"rate", q.Rate, q.Rate > 0 && q.Rate <= 1e9 || q.Window > 0, "> 0, at most 1e9")
		c.number(at+"window", q.Window, q.Window >= 0 && q.Window <= 1e6, "0 to 1e6")
		c.number(at+"retry_after", q.RetryAfter, q.RetryAfter >= 0 && q.RetryAfter <= 3600, "0 to 3600")
		c.number(at+"throttle_cost", q.ThrottleCost, q.ThrottleCost >= 0 && q.ThrottleCost <= 1e6, "0 to 1e6")
		c.number(at+"floor", q.Floor, q.Floor <= 0 && q.Floor >= -1e6, "-1e6 to 0")
		c.page(at, q.Match, upstream)
	}
	for i, n := range p.Neighbours {
		at := fmt.Sprintf("neighbours[%d].", i)
		c.number(at+"rate", n.Rate, n.Rate > 0 && n.Rate <= 10_000, "> 0, at most 10000")
		c.number(at+"from", n.From, n.From >= 0 && n.From <= 1e8, "0 to 1e8")
		c.number(at+"to", n.To, n.To == 0 || n.To > n.From && n.To <= 1e8, "more than from, at most 1e8")
		c.page(at, n.Match, upstream)
	}
	for i, f := range p.Faults {
		at := fmt.Sprintf("faults[%d].", i)
		c.fault(at, f, upstream)
		if _, partial := front.(Partial); f.Kind == Unreachable && !partial {
			c.reject(at+"fault", string(f.Kind), "faults that "+front.Provider()+" can have: its lists say of no region that it is missing")
		}
	}
	return errors.Join(c.faults...)
}

type checker struct{ faults []error }

func (c *checker) reject(path string, value any, allowed string) {
	c.faults = append(c.faults, &cloudpace.ConfigError{Path: path, Value: value, Allowed: allowed})
}

func (c *checker) number(path string, x float64, ok bool, allowed string) {
	if !ok || math.IsNaN(x) {
		c.reject(path, x, allowed)
	}
}

func (c *checker) page(at string, m Match, upstream bool) {
	switch {
	case m.Page < 0:
		c.reject(at+"page", m.Page, "a page's number, from 1")
	case m.Page > 1 && upstream:
		c.reject(at+"page", m.Page, "1 in front of an upstream, whose page tokens do not tell the page")
	}
}

func (c *checker) fault(at string, f Fault, upstream bool) {
	all := FaultKinds()
	if !slices.Contains(all, f.Kind) {
		c.reject(at+"fault", string(f.Kind), oneOf(string(f.Kind), all))
		return
	}
	if upstream && slices.Contains(ofPage, f.Kind) {
		c.reject(at+"fault", string(f.Kind), "faults that change no answer: an upstream's pages are not edited")
	}
	c.page(at, f.Match, upstream)
	for _, x := range []struct {
		name string
		n    int
	}{{"after", f.After}, {"first", f.First}, {"every", f.Every}} {
		if x.n < 0 {
			c.reject(at+x.name, x.n, "0 or more")
		}
	}
	c.number(at+"probability", f.Probability, f.Probability >= 0 && f.Probability <= 1, "0 to 1")
	if f.Status != 0 && (f.Status < 200 || f.Status > 599) {
		c.reject(at+"status", f.Status, "200 to 599")
	}
	switch {
	case f.Kind == Latency || f.Kind == Idle:
		c.number(at+"seconds", f.Seconds, f.Seconds > 0 && f.Seconds <= 3600, "> 0, at most 3600")
	case f.Seconds != 0:
		c.reject(at+"seconds", f.Seconds, "only with fault: latency or idle")
	}
	if f.Kind == Error && f.Code == "" {
		c.reject(at+"code", nil, "the provider's error code, such as InternalFailure")
	}
	switch {
	case f.At != nil && !slices.Contains(ofConnection, f.Kind):
		c.reject(at+"at", *f.At, "only with fault: reset, close or hang")
	case f.At != nil && (*f.At < 0 || *f.At > maxAt):
		c.reject(at+"at", *f.At, fmt.Sprintf("0 to %d bytes", maxAt))
	}
	if _, refuses := f.refusal(); f.RetryAfter != "" && !refuses && f.Kind != HTML {
		c.reject(at+"retry_after", f.RetryAfter, "only with faults that are errors, and html")
	}
	c.hint(at+"retry_after", f.RetryAfter)
}

// hint takes any text that a header can carry: it need not make sense.
func (c *checker) hint(path, text string) {
	if len(text) > 100 || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
		c.reject(path, text, "at most 100 printable ASCII characters")
	}
}

func (c *checker) estate(e EstateConfig, front Front) {
	if n := len(e.Accounts); n < 1 || n > MaxAccounts {
		c.reject("estate.accounts", n, fmt.Sprintf("1 to %d", MaxAccounts))
	}
	if n := len(e.Regions); n < 1 || n > MaxRegions {
		c.reject("estate.regions", n, fmt.Sprintf("1 to %d", MaxRegions))
	}
	for i, a := range e.Accounts {
		switch err := front.CheckAccount(a); {
		case err != nil:
			c.reject(fmt.Sprintf("estate.accounts[%d]", i), a, err.Error())
		case slices.Contains(e.Accounts[:i], a):
			c.reject(fmt.Sprintf("estate.accounts[%d]", i), a, "each once")
		}
	}
	for i, r := range e.Regions {
		if r == "" || strings.ContainsAny(r, "/ \t\n") || slices.Contains(e.Regions[:i], r) {
			c.reject(fmt.Sprintf("estate.regions[%d]", i), r, "names of regions, each once")
		}
	}
	names := kindNames(front)
	total := float64(max(0, e.Assets))
	for _, k := range front.Kinds() {
		places := len(e.Accounts)
		if !k.Global {
			places *= len(e.Regions)
		}
		total += float64(places) * float64(max(0, e.Types[k.Name]))
	}
	for name, n := range e.Types {
		if !slices.Contains(names, name) {
			c.reject("estate.types."+name, n, oneOf(name, names))
		}
		if n < 0 {
			c.reject("estate.types."+name, n, "0 or more")
		}
	}
	if e.Assets < 0 {
		c.reject("estate.assets", e.Assets, "0 or more")
	}
	if total > MaxAssets {
		c.reject("estate.assets", fmt.Sprintf("%.0f in all", total), fmt.Sprintf("at most %d, of which a map fills about %d GB of disk", MaxAssets, MaxAssets*AssetBytes/1_000_000_000))
	}
}

func kindNames(front Front) []string {
	var names []string
	for _, k := range front.Kinds() {
		names = append(names, k.Name)
	}
	return names
}

// oneOf words what is allowed, with what was most likely meant in front.
func oneOf[T ~string](got string, all []T) string {
	list := make([]string, len(all))
	for i, a := range all {
		list[i] = string(a)
	}
	text := strings.Join(list, ", ")
	if near, ok := inventory.Nearest(cmp.Or(got, "?"), list); ok {
		return fmt.Sprintf("did you mean %s? %s", near, text)
	}
	return text
}
