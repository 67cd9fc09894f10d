package sim

import (
	"math/rand/v2"
	"time"
)

// bucket is a token bucket on a server. Time is a parameter: that of the model,
// since the server started.
type bucket struct {
	burst, rate float64
	cost, floor float64       // what a refused request takes, and down to what
	window      time.Duration // if not 0, it fills at once when one ends
	ends        time.Duration // when the present one does

	tokens     float64
	at         time.Duration
	neighbours []*stream
}

// nearly forgives what adding many small amounts loses.
const nearly = 1e-6

func (b *bucket) refill(now time.Duration) {
	switch {
	case b.window > 0:
		if now >= b.ends {
			b.tokens = b.burst
		}
		b.at = max(b.at, now)
	case now > b.at:
		b.tokens = min(b.burst, b.tokens+b.rate*(now-b.at).Seconds())
		b.at = now
	}
}

// draw takes a token if there is one.
func (b *bucket) draw() bool {
	if b.window > 0 && b.at >= b.ends {
		b.ends = b.at + b.window
	}
	if b.tokens >= 1-nearly {
		b.tokens--
		return true
	}
	if b.cost > 0 {
		b.tokens = max(b.floor, b.tokens-b.cost)
	}
	return false
}

// advance lets pass what happened until now: tokens come, neighbours take them.
func (b *bucket) advance(now time.Duration) {
	for {
		var first *stream
		for _, s := range b.neighbours {
			if s.next <= now && (first == nil || s.next < first.next) {
				first = s
			}
		}
		if first == nil {
			break
		}
		b.refill(first.next)
		first.asked++
		if !b.draw() {
			first.refused++
		}
		first.step()
	}
	b.refill(now)
}

// take asks for a token; wait is how long it takes until there is one.
func (b *bucket) take(now time.Duration) (ok bool, wait time.Duration) {
	b.advance(now)
	if b.draw() {
		return true, 0
	}
	if b.window > 0 {
		return false, b.ends - now
	}
	return false, seconds((1 - b.tokens) / b.rate)
}

// resets tells how long it takes until the bucket is full.
func (b *bucket) resets(now time.Duration) time.Duration {
	if b.window > 0 {
		return max(0, b.ends-now)
	}
	return seconds((b.burst - b.tokens) / b.rate)
}

// full tells whether a bucket is as a new one would be.
func (b *bucket) full(now time.Duration) bool {
	b.advance(now)
	return len(b.neighbours) == 0 && b.tokens >= b.burst-nearly
}

// stream is a neighbour's requests to one bucket: as irregular as those of many
// clients together, which is what an exponential distribution of gaps makes.
type stream struct {
	rate           float64
	to             time.Duration
	next           time.Duration
	random         *rand.Rand
	asked, refused int
}

const never = time.Duration(1<<63 - 1)

func newStream(rate float64, from, to time.Duration, seed uint64) *stream {
	s := &stream{rate: rate, to: to, next: from, random: rand.New(rand.NewPCG(seed, 0))}
	s.step()
	return s
}

func (s *stream) step() {
	s.next += time.Duration(s.random.ExpFloat64() / s.rate * float64(time.Second))
	if s.to > 0 && s.next >= s.to {
		s.next = never
	}
}
