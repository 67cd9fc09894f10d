package eventloop

import (
	"slices"
	"testing"
	"time"
)

func TestOrder(t *testing.T) {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	l := New(start)
	var got []string
	note := func(what string) func() {
		return func() { got = append(got, what+" "+l.Now().Sub(start).String()) }
	}
	l.After(2*time.Second, note("second"))
	l.After(time.Second, func() {
		note("first")()
		l.At(start, note("late"))
		l.After(time.Second, note("third"))
	})
	stopped := l.After(time.Second, note("never"))
	stopped.Stop()
	for l.Step() {
	}
	want := []string{"first 1s", "late 1s", "second 2s", "third 2s"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
