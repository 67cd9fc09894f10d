package databricks

import (
	"fmt"
	"testing"
)

// TestBounded: clients that leave everything open, and make up texts, do not fill
// the memory.
func TestBounded(t *testing.T) {
	var s store[int]
	const n = 2 * mostOpen
	for i := range uint64(n) {
		s.add(newID(1, i), new(int))
	}
	items, order := 0, 0
	for i := range s.shards {
		items += len(s.shards[i].items)
		order += len(s.shards[i].order)
	}
	if items > mostOpen || items < mostOpen*9/10 || order > 2*mostOpen {
		t.Errorf("%d are kept, in a list of %d", items, order)
	}
	if s.get(newID(1, 0)) != nil || s.get(newID(1, n-1)) == nil {
		t.Error("it is not the oldest that are gone")
	}
	// What is closed makes room.
	s.clear()
	for i := range uint64(n) {
		s.add(newID(1, i), new(int))
		if s.remove(newID(1, i)) == nil {
			t.Fatal("it was not there")
		}
	}
	for i := range s.shards {
		if got := len(s.shards[i].order); got > 2*mostOpen/shards {
			t.Errorf("a list of %d that are gone", got)
		}
	}

	counts := &New().executed
	for i := range n {
		counts.count(fmt.Sprint(i))
	}
	all := counts.all()
	sum := 0
	for _, n := range all {
		sum += n
	}
	if len(all) > mostTexts+1 || sum != n || all[otherTexts] == 0 {
		t.Errorf("%d texts, %d executions", len(all), sum)
	}
}

func TestIDs(t *testing.T) {
	id := newID(7, 1)
	if got, ok := parseID(id.String()); !ok || got != id || len(id.String()) != 36 {
		t.Errorf("%s is read as %s, %v", id, got, ok)
	}
	if id != newID(7, 1) || id == newID(7, 2) || id == newID(8, 1) {
		t.Error("ids do not follow from seed and number alone")
	}
	for _, text := range []string{"", "x", "b84fb46b9fe34aff0b5a111c601e3d1a", "b84fb46b-9fe3-4aff-0b5a-111c601e3d1g"} {
		if _, ok := parseID(text); ok {
			t.Errorf("%q is an id", text)
		}
	}
}
