package bucket

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// remembered is a bucket of 20 a second and burst 40 that was throttled at second 0,
// and what was remembered of it a second later.
func remembered(t *testing.T, hint time.Duration) Memory {
	t.Helper()
	b := New(Options{Rate: 20, Burst: 40, Adaptive: true, MinRate: 1, MaxPause: time.Minute}, nil, epoch)
	b.Throttled(epoch, Mark{}, hint)
	m, ok := b.Memory(epoch.Add(sec))
	if !ok {
		t.Fatal("there is nothing to remember")
	}
	return m
}

func recalled(m Memory, after time.Duration) (*Bucket, State) {
	now := epoch.Add(sec + after)
	b := New(Options{Rate: 20, Burst: 40, Adaptive: true, MinRate: 1, MaxPause: time.Minute}, nil, now)
	b.Recall(now, m)
	return b, b.State(now)
}

// A full bucket that has learned nothing leaves no memory.
func TestMemoryOfNothing(t *testing.T) {
	b := New(Options{Rate: 20, Burst: 40, Adaptive: true}, nil, epoch)
	if m, ok := b.Memory(epoch); ok {
		t.Errorf("it remembers %+v", m)
	}
}

// The rate comes back by a twentieth of the ceiling for every five calm seconds, and
// the tokens at the rate.
func TestRecallAges(t *testing.T) {
	m := remembered(t, 0)
	for _, c := range []struct {
		after        time.Duration
		rate, tokens float64
	}{
		{0, 10, 10},       // as it was: a second at 10 a second
		{2 * sec, 10, 20}, // full at the lower burst soon after
		{9 * sec, 11, 22}, // five seconds calm, and five more
		{14 * sec, 12, 24},
		{54 * sec, 20, 40},   // all of it
		{time.Hour, 20, 40},  // and never above
		{-time.Hour, 10, 10}, // the clock was set back
	} {
		_, s := recalled(m, c.after)
		if s.Rate != c.rate || math.Abs(s.Tokens-c.tokens) > 1e-6 {
			t.Errorf("after %s: %g a second and %g tokens, want %g and %g", c.after, s.Rate, s.Tokens, c.rate, c.tokens)
		}
	}
}

// When a memory is over, and not before, a bucket that is given it is as good as new.
func TestMemoryIsOver(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Float64Range(0.05, 1000).Draw(t, "rate")
		opt := Options{Rate: rate, Burst: rapid.Float64Range(1, 500).Draw(t, "burst"), Adaptive: true, MinRate: rate / 50, MaxPause: time.Hour}
		b := New(opt, nil, epoch)
		now := epoch
		for range rapid.IntRange(1, 12).Draw(t, "throttles") {
			now = now.Add(time.Duration(rapid.Int64Range(0, 3000).Draw(t, "ms")) * time.Millisecond)
			b.Throttled(now, Mark{}, time.Duration(rapid.IntRange(0, 20).Draw(t, "hint"))*sec)
		}
		m, ok := b.Memory(now)
		over := m.Over()
		if !ok || !over.After(now) {
			t.Fatalf("%+v is over at %s", m, over)
		}
		fresh := New(opt, nil, over)
		if fresh.Recall(over, m); !fresh.Idle(over) {
			t.Fatalf("%+v is not over at %s: %+v", m, over, fresh.State(over))
		}
	})
}

// A pause goes on until its end, no longer than any pause may last, and one that is
// past is over.
func TestRecallPauses(t *testing.T) {
	m := remembered(t, 30*sec)
	for _, c := range []struct {
		after, want time.Duration
	}{
		{0, 29 * sec}, {20 * sec, 9 * sec}, {29 * sec, 0}, {time.Hour, 0}, {-time.Hour, time.Minute},
	} {
		b, s := recalled(m, c.after)
		if s.PausedFor != c.want {
			t.Errorf("after %s: paused for %s, want %s", c.after, s.PausedFor, c.want)
		}
		if now := epoch.Add(sec + c.after); takes(b, now) && c.want > 0 {
			t.Errorf("after %s: a token in the pause", c.after)
		}
	}
}

// A memory never makes a bucket freer than it is.
func TestRecallOnlyHoldsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.Float64Range(-1e6, 1e6)
		moment := rapid.Map(rapid.Int64Range(-1e6, 1e6), func(s int64) time.Time { return epoch.Add(time.Duration(s) * sec) })
		b := New(Options{Rate: 20, Burst: 40, Adaptive: rapid.Bool().Draw(t, "adaptive"), MinRate: 1, MaxPause: time.Minute}, nil, epoch)
		if rapid.Bool().Draw(t, "throttled") {
			b.Throttled(epoch, Mark{}, sec)
		}
		was := b.State(epoch)
		m := Memory{
			At: moment.Draw(t, "at"), Rate: math.Abs(number.Draw(t, "rate")), Tokens: number.Draw(t, "tokens"),
			Throttled: moment.Draw(t, "throttled at"), Paused: moment.Draw(t, "paused"),
		}
		b.Recall(epoch, m)
		s := b.State(epoch)
		if s.Rate > was.Rate || s.Tokens > was.Tokens || s.PausedFor < was.PausedFor {
			t.Fatalf("%+v became %+v by %+v", was, s, m)
		}
		if s.Rate < 1 || s.Tokens < -s.Burst || s.PausedFor > time.Minute {
			t.Fatalf("%+v became %+v by %+v", was, s, m)
		}
	})
}
