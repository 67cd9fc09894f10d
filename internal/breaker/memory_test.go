package breaker

import (
	"errors"
	"testing"
	"time"
)

// A circuit that opened in one process is open in the next, for what is left.
func TestRecallOpens(t *testing.T) {
	was := opened(t)
	m, ok := was.Memory()
	if !ok || !m.Until.Equal(at(60)) || m.Cooldown != time.Minute || !errors.Is(m.Cause, errDown) {
		t.Fatalf("it remembers %+v, %v", m, ok)
	}
	b := New(3, 60*time.Second)
	b.Recall(at(20), m)
	refused(t, b, at(20), 40*time.Second)
	refused(t, b, at(59), time.Second)

	probe := enter(t, b, at(60))
	refused(t, b, at(61), 59*time.Second)
	b.Report(at(62), probe, Failure, errDown)
	refused(t, b, at(62), 120*time.Second) // the cooldown was remembered too
}

// The first call after the end tries, and its success closes as ever.
func TestRecallHalfOpen(t *testing.T) {
	m, _ := opened(t).Memory()
	b := New(3, 60*time.Second)
	b.Recall(at(100), m)
	if s := b.State(at(100)); s.Phase != HalfOpen {
		t.Fatalf("it is %s", s.Phase)
	}
	if _, closed := b.Report(at(101), enter(t, b, at(100)), Success, nil); !closed || !b.Idle() {
		t.Errorf("closed: %v", closed)
	}
}

// What is long past, empty or beyond all measure does no harm.
func TestRecallOfLittleUse(t *testing.T) {
	for name, m := range map[string]Memory{
		"nothing":        {},
		"ten minutes":    {Until: at(-601), Cooldown: time.Minute},
		"cooldown below": {Until: at(-601), Cooldown: -time.Minute},
	} {
		b := New(3, 60*time.Second)
		b.Recall(at(0), m)
		if !b.Idle() {
			t.Errorf("%s: %+v", name, b.State(at(0)))
		}
	}
	b := New(3, 60*time.Second)
	b.Recall(at(0), Memory{Until: at(1e9), Cooldown: 1e6 * time.Second, Cause: errDown}) // another clock
	refused(t, b, at(0), maxCooldown)

	if _, ok := New(3, time.Minute).Memory(); ok {
		t.Error("a closed circuit has something to remember")
	}
}

// A circuit that has opened by itself knows better.
func TestRecallLeavesAnOpenCircuit(t *testing.T) {
	b := opened(t)
	b.Recall(at(1), Memory{Until: at(500), Cooldown: 500 * time.Second})
	refused(t, b, at(1), 59*time.Second)
}
