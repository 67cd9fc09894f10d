package cloudpace

import (
	"hash/maphash"
	"math"
	"math/bits"
	"sync/atomic"
	"time"
)

// lane is what a scope is resolved to, once: pointers to all that governs it.
type lane struct {
	// Its place among the lanes.
	hash    uint64
	next    atomic.Pointer[lane]
	written Scope // as the scope was written

	calls atomic.Int64 // in flight; below zero once the lane is claimed

	g        *Governor
	provider *provider
	leaf     *leaf
	account  *account
	service  *service
	scope    Scope // normal form

	// What forgetting has seen. Guarded by Governor.mu.
	counted int64     // calls of the service at the last look
	since   time.Time // when a look first found that number
}

// acquire enters a call into the lane. It fails where the lane is claimed: it is then to
// be looked for again, under Governor.mu.
func (l *lane) acquire() bool {
	if l.calls.Add(1) > 0 {
		return true
	}
	l.calls.Add(-1)
	return false
}

func (l *lane) release() { l.calls.Add(-1) }

// claim takes the lane if no call is in flight, so that none comes in any more. It needs
// Governor.mu, which those who were turned away wait for.
func (l *lane) claim() bool { return l.calls.CompareAndSwap(0, claimed) }

func (l *lane) unclaim() { l.calls.Add(-claimed) }

const claimed = math.MinInt64 / 2

// lanes is a hash table of chains that is read without a lock, for every call reads it.
// Governor.mu guards changes. A reader that meets one may miss what is there, never
// find what is not; who finds nothing looks again under the lock.
type lanes struct {
	seed  maphash.Seed
	heads atomic.Pointer[[]atomic.Pointer[lane]] // as many as a power of two
	n     int                                    // lanes; guarded by Governor.mu
	hand  int                                    // the chain that is looked at next for what is idle; guarded by Governor.mu
}

// fewest chains there are.
const fewest = 64

func (ls *lanes) init() {
	ls.seed = maphash.MakeSeed()
	ls.resize(fewest)
}

// hash is of the parts apart, which takes two thirds of the time of maphash.Comparable.
func (ls *lanes) hash(s Scope) uint64 {
	const turn = 13
	h := maphash.String(ls.seed, s.Provider)
	h = bits.RotateLeft64(h, turn) ^ maphash.String(ls.seed, s.Account)
	h = bits.RotateLeft64(h, turn) ^ maphash.String(ls.seed, s.Region)
	h = bits.RotateLeft64(h, turn) ^ maphash.String(ls.seed, s.Service)
	return bits.RotateLeft64(h, turn) ^ maphash.String(ls.seed, s.Operation)
}

// chain gives the head of the chain that a hash belongs to.
func (ls *lanes) chain(hash uint64) *atomic.Pointer[lane] {
	heads := *ls.heads.Load()
	return &heads[hash&uint64(len(heads)-1)]
}

func (ls *lanes) find(hash uint64, s Scope) *lane {
	l := ls.chain(hash).Load()
	for l != nil && (l.hash != hash || l.written != s) {
		l = l.next.Load()
	}
	return l
}

// add puts in a lane whose scope is not there.
func (ls *lanes) add(l *lane) {
	ls.n++
	if chains := len(*ls.heads.Load()); ls.n > chains || ls.n < chains/8 && chains > fewest {
		size := fewest
		for size < 2*ls.n {
			size *= 2
		}
		ls.resize(size)
	}
	ls.push(l)
}

func (ls *lanes) push(l *lane) {
	head := ls.chain(l.hash)
	l.next.Store(head.Load())
	head.Store(l)
}

// drop takes out a lane that is there. Its own next stays, for those who stand on it.
func (ls *lanes) drop(l *lane) {
	at := ls.chain(l.hash)
	for at.Load() != l {
		at = &at.Load().next
	}
	at.Store(l.next.Load())
	ls.n--
}

func (ls *lanes) resize(chains int) {
	var were []atomic.Pointer[lane]
	if heads := ls.heads.Load(); heads != nil {
		were = *heads
	}
	heads := make([]atomic.Pointer[lane], chains)
	ls.heads.Store(&heads)
	for i := range were {
		eachOf(&were[i], ls.push)
	}
	ls.hand = 0
}

// each calls f for every lane, which f may drop.
func (ls *lanes) each(f func(*lane)) {
	heads := *ls.heads.Load()
	for i := range heads {
		eachOf(&heads[i], f)
	}
}

func eachOf(head *atomic.Pointer[lane], f func(*lane)) {
	for l := head.Load(); l != nil; {
		next := l.next.Load()
		f(l)
		l = next
	}
}

// look calls f for the next few lanes in turn, which f may drop.
func (ls *lanes) look(few int, f func(*lane)) {
	heads := *ls.heads.Load()
	for range heads {
		if few <= 0 {
			return
		}
		eachOf(&heads[ls.hand], func(l *lane) {
			few--
			f(l)
		})
		ls.hand = (ls.hand + 1) % len(heads)
	}
}
