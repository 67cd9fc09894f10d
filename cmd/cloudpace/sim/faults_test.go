package sim

import (
	"fmt"
	"slices"
	"testing"
)

// struck gives the numbers of those of n calls that a fault strikes.
func struck(f Fault, seed uint64, n int) []int {
	fs := newFaults([]Fault{f}, seed)
	var list []int
	for i := 1; i <= n; i++ {
		if fs.find(&Call{Account: "111122223333", Service: "ec2", Operation: "DescribeVpcs"}, f.stage()) != nil {
			list = append(list, i)
		}
	}
	return list
}

func TestTriggers(t *testing.T) {
	for _, c := range []struct {
		name string
		f    Fault
		want []int
	}{
		{"always", Fault{}, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}},
		{"first", Fault{First: 3}, []int{1, 2, 3}},
		{"after", Fault{After: 8}, []int{9, 10}},
		{"every", Fault{Every: 3}, []int{3, 6, 9}},
		{"after, first", Fault{After: 2, First: 2}, []int{3, 4}},
		{"after, every", Fault{After: 1, Every: 4}, []int{5, 9}},
		{"first, every", Fault{First: 4, Every: 2}, []int{2, 4}},
		{"another operation", Fault{Match: Match{Operation: Patterns{"DescribeSubnets"}}}, nil},
		{"another page", Fault{Match: Match{Page: 2}}, nil},
	} {
		c.f.Kind = Denied
		if got := struck(c.f, 1, 10); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestProbability: a share of the calls, the same ones for the same seed and
// others for another.
func TestProbability(t *testing.T) {
	f := Fault{Kind: Reset, Probability: 0.1}
	one, again, other := struck(f, 1, 10_000), struck(f, 1, 10_000), struck(f, 2, 10_000)
	if !slices.Equal(one, again) {
		t.Error("the same seed strikes others")
	}
	if slices.Equal(one, other) {
		t.Error("another seed strikes the same")
	}
	for _, list := range [][]int{one, other} {
		if n := len(list); n < 900 || n > 1100 {
			t.Errorf("%d of 10,000 struck, want about 1,000", n)
		}
	}
}

// TestFaultsCountByScope: what others call does not shift what strikes somebody.
func TestFaultsCountByScope(t *testing.T) {
	fs := newFaults([]Fault{{Kind: Denied, Every: 2}}, 1)
	for i := 1; i <= 10; i++ {
		for _, region := range []string{"us-east-1", "eu-west-1"} {
			hit := fs.find(&Call{Account: "111122223333", Region: region, Operation: "X"}, asRefusal) != nil
			if hit != (i%2 == 0) {
				t.Fatalf("call %d in %s: %v", i, region, hit)
			}
		}
	}
}

// TestFaultsForget: a client that makes up names fills no memory.
func TestFaultsForget(t *testing.T) {
	fs := newFaults([]Fault{{Kind: Denied, First: 1}}, 1)
	for i := range 3 * manyScopes {
		fs.find(&Call{Operation: fmt.Sprint(i)}, asRefusal)
	}
	if n := len(fs.seen); n > manyScopes {
		t.Errorf("%d scopes are remembered", n)
	}
}
