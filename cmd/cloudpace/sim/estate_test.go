package sim

import (
	"fmt"
	"slices"
	"testing"
)

var testKinds = []Kind{
	{Name: "disk", Weight: 10, ID: testID("disk")},
	{Name: "net", Weight: 1, ID: testID("net")},
	{Name: "person", Global: true, Weight: 2, ID: testID("person")},
}

func testID(kind string) func(e *Estate, p Place, i int) string {
	return func(e *Estate, p Place, i int) string { return fmt.Sprintf("%s-%016x", kind, e.Hide(p, kind, i)) }
}

// sum adds the counts up.
func sum(e *Estate) int {
	n := 0
	for p := range e.Places() {
		for _, k := range e.Kinds() {
			n += e.Count(p, k.Name)
		}
	}
	return n
}

// TestEstateIsExact: the parts are exactly the whole, for any number.
func TestEstateIsExact(t *testing.T) {
	for _, assets := range []int{0, 1, 2, 7, 99, 1000, 12_345, 1_000_000} {
		e := newEstate(EstateConfig{Accounts: ExampleAccounts(20), Regions: []string{"a", "b", "c"}, Assets: assets}, testKinds, 3)
		if got := sum(e); got != assets || e.Total() != assets {
			t.Errorf("%d assets wanted: the places have %d, the total is %d", assets, got, e.Total())
		}
	}
}

func TestEstateTypes(t *testing.T) {
	e := newEstate(EstateConfig{Accounts: ExampleAccounts(2), Regions: []string{"a", "b"}, Assets: 100, Types: map[string]int{"net": 5, "person": 3}}, testKinds, 3)
	for p := range e.Places() {
		net, person := 5, 0
		if p.Region == "" {
			net, person = 0, 3
		}
		if e.Count(p, "net") != net || e.Count(p, "person") != person {
			t.Errorf("%v has %d nets and %d persons", p, e.Count(p, "net"), e.Count(p, "person"))
		}
	}
	if e.Total() != 100+4*5+2*3 || sum(e) != e.Total() {
		t.Errorf("%d in all, %d counted", e.Total(), sum(e))
	}
}

// TestEstateSeeds: one seed gives one estate, another gives another; ids differ
// between places and lead back.
func TestEstateSeeds(t *testing.T) {
	config := EstateConfig{Accounts: ExampleAccounts(3), Regions: []string{"a", "b"}, Assets: 3000}
	one, again, other := newEstate(config, testKinds, 1), newEstate(config, testKinds, 1), newEstate(config, testKinds, 2)
	seen := make(map[string]bool)
	differ := false
	for p := range one.Places() {
		for _, k := range testKinds {
			ids := slices.Collect(one.IDs(p, k.Name))
			if !slices.Equal(ids, slices.Collect(again.IDs(p, k.Name))) {
				t.Errorf("%v has other ids of %s with the same seed", p, k.Name)
			}
			if len(ids) != one.Count(p, k.Name) {
				t.Errorf("%v has %d ids and %d of %s", p, len(ids), one.Count(p, k.Name), k.Name)
			}
			differ = differ || one.Count(p, k.Name) != other.Count(p, k.Name)
			for i, id := range ids {
				if seen[id] {
					t.Fatalf("%s is there twice", id)
				}
				seen[id] = true
				if j, ok := one.Find(p, k.Name, one.Hide(p, k.Name, i)); !ok || j != i {
					t.Fatalf("%s leads to %d, %v; want %d", id, j, ok, i)
				}
				if _, ok := other.Find(p, k.Name, one.Hide(p, k.Name, i)); ok {
					t.Fatalf("%s is found in another estate", id)
				}
			}
		}
	}
	if !differ || len(seen) != 3000 {
		t.Errorf("%d ids; another seed makes another estate: %v", len(seen), differ)
	}
}

// TestEstateCostsNothing: a million things in 200 places are a few thousand
// numbers.
func TestEstateCostsNothing(t *testing.T) {
	config := EstateConfig{Accounts: ExampleAccounts(50), Regions: []string{"a", "b", "c", "d"}, Assets: 1_000_000}
	e := newEstate(config, testKinds, 1)
	if e.Total() != 1_000_000 || len(e.counts) > 1000 {
		t.Errorf("%d things, %d numbers", e.Total(), len(e.counts))
	}
	p := Place{ExampleAccounts(50)[49], "d"}
	n := e.Count(p, "disk")
	if n == 0 {
		t.Fatal("the last place has no disk")
	}
	allocated := testing.AllocsPerRun(100, func() { e.Draw(p, "disk", n-1, "size") })
	if allocated != 0 {
		t.Errorf("%v allocations for one draw", allocated)
	}
}
