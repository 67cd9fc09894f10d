package cloudpace

import (
	"strconv"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// TestLanesAreAMap: what was put in is found until it is taken out, whatever else comes
// and goes, and each and look meet every lane once.
func TestLanesAreAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var ls lanes
		ls.init()
		m := map[Scope]*lane{}
		check := func(s Scope) {
			if got := ls.find(ls.hash(s), s); got != m[s] {
				t.Fatalf("%s: found %p, want %p", s, got, m[s])
			}
		}
		scope := rapid.Custom(func(t *rapid.T) Scope {
			return Scope{Provider: "aws", Account: strconv.Itoa(rapid.IntRange(0, 300).Draw(t, "account"))}
		})
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				for range rapid.IntRange(1, 100).Draw(t, "n") {
					s := scope.Draw(t, "scope")
					if m[s] == nil {
						m[s] = &lane{written: s, hash: ls.hash(s)}
						ls.add(m[s])
					}
				}
			},
			"drop": func(t *rapid.T) {
				for range rapid.IntRange(1, 100).Draw(t, "n") {
					s := scope.Draw(t, "scope")
					if l := m[s]; l != nil {
						ls.drop(l)
						delete(m, s)
					}
				}
			},
			"each": func(t *rapid.T) {
				seen := map[*lane]bool{}
				ls.each(func(l *lane) {
					if seen[l] || m[l.written] != l {
						t.Fatalf("%s is met twice, or was taken out", l.written)
					}
					seen[l] = true
					if rapid.IntRange(0, 9).Draw(t, "drop") == 0 {
						ls.drop(l)
						delete(m, l.written)
					}
				})
				if len(seen) < len(m) {
					t.Fatalf("%d met of %d", len(seen), len(m))
				}
			},
			"look": func(t *rapid.T) {
				seen := map[*lane]bool{}
				for len(seen) < len(m) { // ends, since the turn goes around
					ls.look(looks, func(l *lane) { seen[l] = true })
				}
			},
			"": func(t *rapid.T) {
				if ls.n != len(m) {
					t.Fatalf("%d lanes counted, want %d", ls.n, len(m))
				}
				check(scope.Draw(t, "scope"))
				for s := range m {
					check(s)
				}
			},
		})
	})
}

// TestLanesAreReadWhileTheyChange: a reader never gets another scope's lane or one that
// is claimed, and who stays finds what stays, at the latest under the lock.
func TestLanesAreReadWhileTheyChange(t *testing.T) {
	var ls lanes
	ls.init()
	var mu sync.Mutex
	const stay, all, hot = 100, 2000, 5000
	put := func(i int) *lane {
		s := Scope{Account: strconv.Itoa(i)}
		l := &lane{written: s, hash: ls.hash(s), service: &service{}} // whose calls mark it as claimed
		ls.add(l)
		return l
	}
	take := func(l *lane) {
		for !l.claim() { // a reader is in
		}
		l.service.calls.Store(1)
	}
	for i := range stay {
		put(i)
	}
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for r := range 4 {
		readers.Go(func() {
			for i := r; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				n := hot
				if i%4 == 0 {
					n = i / 4 % all
				}
				s := Scope{Account: strconv.Itoa(n)}
				hash := ls.hash(s)
				l := ls.find(hash, s)
				if l == nil && n < stay {
					mu.Lock()
					if l = ls.find(hash, s); l == nil {
						t.Error("a lane that stays is not found under the lock")
					}
					mu.Unlock()
				}
				if l == nil || !l.acquire() {
					continue
				}
				if l.written != s || l.service.calls.Load() != 0 {
					t.Errorf("%s: got the lane of %s, claimed %d times", s, l.written, l.service.calls.Load())
				}
				l.release()
			}
		})
	}
	locked := func(f func()) {
		mu.Lock()
		defer mu.Unlock()
		f()
	}
	for range 10 {
		var added []*lane
		for i := stay; i < all; i++ { // grows the table several times
			locked(func() { added = append(added, put(i)) })
		}
		for _, l := range added {
			locked(func() { take(l); ls.drop(l) })
		}
		for range 10_000 {
			locked(func() {
				l := put(hot)
				take(l)
				l.service.calls.Store(0)
				l.unclaim() // it was not idle after all
				take(l)
				ls.drop(l)
			})
		}
	}
	close(stop)
	readers.Wait()
	ls.each(func(l *lane) {
		if n := l.calls.Load(); n != 0 {
			t.Errorf("%s: %d calls remain in flight", l.written, n)
		}
	})
	if ls.n != stay {
		t.Errorf("%d lanes remain, want %d", ls.n, stay)
	}
}
