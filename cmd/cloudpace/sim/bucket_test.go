package sim

import (
	"math"
	"testing"
	"time"
)

// TestBucketGivesBurstAndRate: over any time exactly the burst and what came in
// pass, however fast somebody asks.
func TestBucketGivesBurstAndRate(t *testing.T) {
	for _, c := range []struct {
		burst, rate float64
		step, last  time.Duration
		want        int
	}{
		{100, 20, time.Millisecond, 10 * time.Second, 300},
		{100, 20, 7 * time.Millisecond, 10 * time.Second, 299}, // the last request is at 9.996 s
		{50, 5, 100 * time.Millisecond, time.Minute, 350},
		{1, 0.1, 10 * time.Millisecond, 100 * time.Second, 11},
		{5, 2, 600 * time.Millisecond, time.Minute, 101}, // asked slower than it gains
	} {
		b := bucket{burst: c.burst, rate: c.rate, tokens: c.burst}
		passed := 0
		for now := time.Duration(0); now <= c.last; now += c.step {
			if ok, wait := b.take(now); ok {
				passed++
			} else if wait <= 0 || wait > time.Duration(float64(time.Second)/c.rate)+1 {
				t.Fatalf("%v: refused with a wait of %s", c, wait)
			}
		}
		if passed != c.want {
			t.Errorf("burst %v, rate %v, asked every %s for %s: %d passed, want %d", c.burst, c.rate, c.step, c.last, passed, c.want)
		}
	}
}

// TestNeighbour: what the neighbour and the client get together is what the
// bucket has, and each is refused when it is empty.
func TestNeighbour(t *testing.T) {
	b := bucket{burst: 100, rate: 20, tokens: 100, neighbours: []*stream{newStream(10, 0, 0, 7)}}
	passed := 0
	const last = 100 * time.Second
	for now := time.Duration(0); now <= last; now += 10 * time.Millisecond {
		if ok, _ := b.take(now); ok {
			passed++
		}
	}
	n := b.neighbours[0]
	if got := passed + n.asked - n.refused; got != 2100 {
		t.Errorf("%d and %d of %d passed, %d together; want 2,100", passed, n.asked-n.refused, n.asked, got)
	}
	if n.asked < 900 || n.asked > 1100 || n.refused == 0 {
		t.Errorf("the neighbour asked %d times and was refused %d times; 10 a second for 100 s, and some refused, were to be", n.asked, n.refused)
	}
}

// TestNeighbourComesAndGoes: outside his time he takes nothing.
func TestNeighbourComesAndGoes(t *testing.T) {
	b := bucket{burst: 100, rate: 20, tokens: 100, neighbours: []*stream{newStream(1000, 60*time.Second, 120*time.Second, 7)}}
	count := func(until time.Duration) int {
		b.advance(until)
		return b.neighbours[0].asked
	}
	before, during, after := count(60*time.Second), count(120*time.Second), count(time.Hour)
	if before != 0 || during < 59_000 || during > 61_000 || after != during {
		t.Errorf("%d before, %d during, %d after", before, during, after)
	}
	if b.tokens != 100 {
		t.Errorf("%v tokens at the end, want all", b.tokens)
	}
}

// TestThrottleCost: where refused requests cost, who hammers gets nothing.
func TestThrottleCost(t *testing.T) {
	b := bucket{burst: 100, rate: 20, tokens: 100, cost: 0.5, floor: -20}
	passed := 0
	for now := time.Duration(0); now < 10*time.Second; now += 10 * time.Millisecond {
		if ok, _ := b.take(now); ok {
			passed++
		}
	}
	if passed > 130 || b.tokens >= 0 || b.tokens < -20 {
		t.Errorf("%d passed at 100 a second, %v tokens left", passed, b.tokens)
	}
	if ok, wait := b.take(10 * time.Second); ok || math.Abs(wait.Seconds()-(1-b.tokens)/20) > 1e-6 {
		t.Errorf("%v, %s with %v tokens", ok, wait, b.tokens)
	}
}

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"*", "", true}, {"", "", true}, {"", "a", false}, {"a", "", false},
		{"Describe*", "DescribeVpcs", true}, {"Describe*", "describeVpcs", false}, {"*Tags", "ListRoleTags", true},
		{"*a*b*c", "xxaxxbxxbxc", true}, {"*a*b*c", "xxaxxbxxbx", false}, {"i-?f", "i-0f", true}, {"i-?f", "i-f", false},
		{"arn:*:role/*", "arn:aws:iam::111122223333:role/a/b", true}, {"**", "x", true}, {"?", "", false},
	} {
		if got := glob(c.pattern, c.text); got != c.want {
			t.Errorf("glob(%q, %q) is %v", c.pattern, c.text, got)
		}
	}
}

func TestUnmix(t *testing.T) {
	for x := uint64(0); x < 1000; x++ {
		for _, y := range []uint64{x, x << 40, ^x, x * 0x9e3779b97f4a7c15} {
			if unmix(mix(y)) != y {
				t.Fatalf("unmix(mix(%#x)) is %#x", y, unmix(mix(y)))
			}
		}
	}
}
