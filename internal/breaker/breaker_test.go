package breaker

import (
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var (
	t0      = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	errDown = errors.New("errDown")
)

func at(seconds float64) time.Time { return t0.Add(time.Duration(seconds * float64(time.Second))) }

func enter(t *testing.T, b *Breaker, now time.Time) Ticket {
	t.Helper()
	ticket, ok, wait, _ := b.Enter(now, Ticket{})
	if !ok {
		t.Fatalf("refused for %s", wait)
	}
	return ticket
}

func refused(t *testing.T, b *Breaker, now time.Time, want time.Duration) {
	t.Helper()
	_, ok, wait, cause := b.Enter(now, Ticket{})
	if ok || wait != want || !errors.Is(cause, errDown) {
		t.Fatalf("ok %v, wait %s, cause %v: want a refusal for %s", ok, wait, cause, want)
	}
}

// opened is a breaker whose circuit opened at second 0, after three failures.
func opened(t *testing.T) *Breaker {
	t.Helper()
	b := New(3, 60*time.Second)
	for range 3 {
		b.Report(t0, enter(t, b, t0), Failure, errDown)
	}
	return b
}

func TestS6_2_FailuresInARowOpen(t *testing.T) {
	for name, c := range map[string]struct {
		outcomes []Outcome
		want     Phase
	}{
		"three in a row":         {[]Outcome{Failure, Failure, Failure}, Open},
		"two":                    {[]Outcome{Failure, Failure}, Closed},
		"a success starts anew":  {[]Outcome{Failure, Failure, Success, Failure, Failure}, Closed},
		"neutral counts neither": {[]Outcome{Failure, Neutral, Failure, Neutral, Failure}, Open},
	} {
		b := New(3, time.Minute)
		for _, o := range c.outcomes {
			b.Report(t0, enter(t, b, t0), o, errDown)
		}
		if s := b.State(t0); s.Phase != c.want {
			t.Errorf("%s: %v, want %v", name, s.Phase, c.want)
		}
	}
}

func TestS6_3_OpenRefuses(t *testing.T) {
	b := New(3, 60*time.Second)
	signal := b.Opened()
	for range 3 {
		b.Report(t0, enter(t, b, t0), Failure, errDown)
	}
	select {
	case <-signal:
	default:
		t.Error("those who queue were not told")
	}
	refused(t, b, at(10), 50*time.Second)
	if ok, wait, _ := b.Holds(at(59), Ticket{}); ok || wait != time.Second {
		t.Errorf("check: %v, %s", ok, wait)
	}
}

// Looking takes no lease; entering does.
func TestS6_4_OneTry(t *testing.T) {
	b := opened(t)
	for range 3 {
		if ok, _, _ := b.Holds(at(60), Ticket{}); !ok {
			t.Fatal("a look took the lease")
		}
		b.State(at(60))
	}
	probe := enter(t, b, at(60))
	refused(t, b, at(61), 59*time.Second)
	if ok, _, _ := b.Holds(at(70), probe); !ok {
		t.Error("the probe may not go on")
	}
	refused(t, b, at(71), 59*time.Second) // Holds renewed the lease
	if _, closed := b.Report(at(80), probe, Success, nil); !closed || !b.Idle() {
		t.Error("a success did not close the circuit")
	}
}

func TestS6_4_FailedTriesDouble(t *testing.T) {
	b := opened(t)
	now, cooldown := t0, 60*time.Second
	for _, want := range []time.Duration{120, 240, 480, 600, 600} {
		now = now.Add(cooldown)
		b.Report(now, enter(t, b, now), Failure, errDown)
		cooldown = want * time.Second
		refused(t, b, now, cooldown)
	}
	now = now.Add(cooldown)
	b.Report(now, enter(t, b, now), Success, nil)
	for range 3 {
		b.Report(now, enter(t, b, now), Failure, errDown)
	}
	refused(t, b, now, 60*time.Second) // closing restored the cooldown
}

// E13: a probe that hangs loses its lease, and its late answer decides nothing.
func TestS6_4_AHungProbe(t *testing.T) {
	b := opened(t)
	hung := enter(t, b, at(60))
	next := enter(t, b, at(120))
	for _, o := range []Outcome{Success, Failure, Neutral} {
		if op, cl := b.Report(at(121), hung, o, errDown); op || cl {
			t.Errorf("the late answer %v decided", o)
		}
	}
	refused(t, b, at(121), 59*time.Second)
	if _, closed := b.Report(at(122), next, Success, nil); !closed {
		t.Error("the second probe did not close")
	}
}

func TestS6_4_ANeutralEndFreesTheTry(t *testing.T) {
	b := opened(t)
	b.Report(at(61), enter(t, b, at(60)), Neutral, nil)
	enter(t, b, at(61))
}

// Calls begun before the circuit opened decide nothing, then and later.
func TestS6_4_LateAnswers(t *testing.T) {
	b := New(1, 60*time.Second)
	early := enter(t, b, t0)
	b.Report(t0, enter(t, b, t0), Failure, errDown)
	b.Report(at(1), early, Success, nil)
	refused(t, b, at(2), 58*time.Second)
	b.Report(at(61), enter(t, b, at(60)), Success, nil)
	b.Report(at(62), early, Failure, errDown)
	if s := b.State(at(62)); s.Phase != Closed {
		t.Errorf("%v after a late failure, want closed", s.Phase)
	}
	if ok, _, _ := b.Holds(at(62), early); !ok {
		t.Error("the early call may not retry on a closed circuit")
	}
}

func TestACooldownOfZeroNeverRefuses(t *testing.T) {
	b := New(1, 0)
	for range 5 {
		b.Report(t0, enter(t, b, t0), Failure, errDown)
	}
}

// TestAtMostOneProbe: whatever happens, between two closings no two calls hold the
// lease at once, and an open circuit always lets somebody try in the end.
func TestAtMostOneProbe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := New(2, 10*time.Second)
		now := t0
		var held []Ticket
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 8).Draw(t, "pass")) * time.Second)
			if len(held) == 0 || rapid.Bool().Draw(t, "enter") {
				wasOpen := b.State(now).Phase != Closed
				ticket, ok, wait, _ := b.Enter(now, Ticket{})
				if !ok && (wait <= 0 || wait > maxCooldown) {
					t.Fatalf("refused for %s", wait)
				}
				if ok && wasOpen {
					if !ticket.probe {
						t.Fatal("let through an open circuit without a lease")
					}
					if _, again, _, _ := b.Enter(now, Ticket{}); again {
						t.Fatal("two probes at once")
					}
				}
				if ok {
					held = append(held, ticket)
				}
				continue
			}
			i := rapid.IntRange(0, len(held)-1).Draw(t, "which")
			b.Report(now, held[i], Outcome(rapid.IntRange(0, 2).Draw(t, "outcome")), errDown)
			held = append(held[:i], held[i+1:]...)
		}
		if _, ok, wait, _ := b.Enter(now.Add(2*maxCooldown), Ticket{}); !ok {
			t.Fatalf("wedged: still refused for %s", wait)
		}
	})
}

func TestTheCalmPathAllocatesNothing(t *testing.T) {
	b := New(5, time.Minute)
	if n := testing.AllocsPerRun(100, func() {
		_, _, _ = b.Holds(t0, Ticket{})
		ticket, _, _, _ := b.Enter(t0, Ticket{})
		b.Report(t0, ticket, Success, nil)
	}); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

func BenchmarkCalm(b *testing.B) {
	br := New(5, time.Minute)
	b.ReportAllocs()
	for b.Loop() {
		_, _, _ = br.Holds(t0, Ticket{})
		ticket, _, _, _ := br.Enter(t0, Ticket{})
		br.Report(t0, ticket, Success, nil)
	}
}
