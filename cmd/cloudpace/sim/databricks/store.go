package databricks

import (
	"encoding/hex"
	"hash/maphash"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
)

// guid is the id of a session or a statement, in both APIs.
type guid [16]byte

// newID makes the nth id of a seed.
func newID(seed, n uint64) (id guid) {
	random := rand.NewPCG(seed, n)
	for i := range 2 {
		x := random.Uint64()
		for j := range 8 {
			id[8*i+j] = byte(x >> (8 * j))
		}
	}
	return id
}

// String writes it as a UUID.
func (id guid) String() string {
	h := hex.EncodeToString(id[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

func parseID(text string) (id guid, ok bool) {
	b, err := hex.DecodeString(strings.ReplaceAll(text, "-", ""))
	if err != nil || len(b) != len(id) || len(text) != 36 {
		return guid{}, false
	}
	return guid(b), true
}

// shards keep callers out of each other's way.
const (
	shards = 64
	// mostOpen bounds what clients leave open; the oldest go first.
	mostOpen = 1 << 18
	// mostTexts bounds the texts that are counted one by one.
	mostTexts = 1 << 18
	// longestText is how much of a text is remembered.
	longestText = 4096
)

// store has what is open, by id.
type store[T any] struct {
	shards [shards]struct {
		mu    sync.Mutex
		items map[guid]*T
		order []guid // as they came, some of them gone
	}
}

func (s *store[T]) add(id guid, x *T) {
	h := &s.shards[id[0]%shards]
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.items == nil {
		h.items = make(map[guid]*T)
	}
	if len(h.order) >= 2*mostOpen/shards {
		h.order = slices.DeleteFunc(h.order, func(id guid) bool { return h.items[id] == nil })
	}
	for len(h.items) >= mostOpen/shards {
		delete(h.items, h.order[0])
		h.order = h.order[1:]
	}
	if h.items[id] == nil {
		h.order = append(h.order, id)
	}
	h.items[id] = x
}

func (s *store[T]) get(id guid) *T {
	h := &s.shards[id[0]%shards]
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.items[id]
}

// remove gives what it took out, nil if it was not there.
func (s *store[T]) remove(id guid) *T {
	h := &s.shards[id[0]%shards]
	h.mu.Lock()
	defer h.mu.Unlock()
	x := h.items[id]
	delete(h.items, id)
	return x
}

func (s *store[T]) clear() {
	for i := range s.shards {
		h := &s.shards[i]
		h.mu.Lock()
		h.items, h.order = nil, nil
		h.mu.Unlock()
	}
}

// tally counts executions by text.
type tally struct {
	seed   maphash.Seed
	shards [shards]struct {
		mu     sync.Mutex
		counts map[string]int
	}
}

// otherTexts gathers what comes after the first so many.
const otherTexts = "(others)"

func (t *tally) count(text string) {
	if len(text) > longestText {
		text = strings.ToValidUTF8(text[:longestText], "") + "…"
	}
	h := &t.shards[maphash.String(t.seed, text)%shards]
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.counts == nil {
		h.counts = make(map[string]int)
	}
	if h.counts[text] == 0 && len(h.counts) >= mostTexts/shards {
		text = otherTexts
	}
	h.counts[text]++
}

func (t *tally) all() map[string]int {
	all := make(map[string]int)
	for i := range t.shards {
		h := &t.shards[i]
		h.mu.Lock()
		for text, n := range h.counts {
			all[text] += n
		}
		h.mu.Unlock()
	}
	return all
}

func (t *tally) clear() {
	for i := range t.shards {
		h := &t.shards[i]
		h.mu.Lock()
		h.counts = nil
		h.mu.Unlock()
	}
}
