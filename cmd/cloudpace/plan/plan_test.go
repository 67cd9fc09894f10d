package plan

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

const latency = 100 * time.Millisecond

// bucketOf gives calls that one bucket holds.
func bucketOf(rate, burst float64) *Operation {
	return &Operation{Leaf: &Limit{Key: "k", Rate: rate, Burst: burst}}
}

func run(t *testing.T, tasks []Task, o Options) Result {
	t.Helper()
	o.Latency = latency
	r, err := Run(t.Context(), tasks, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// near forgives the rounding up of single waits.
func near(t *testing.T, what string, got, want time.Duration) {
	t.Helper()
	if d := got - want; d < -time.Millisecond || d > time.Millisecond {
		t.Errorf("%s: %s, want %s", what, got, want)
	}
}

// Where the answer can be told by hand, it is that.
func TestByHand(t *testing.T) {
	free := &Operation{}
	for name, c := range map[string]struct {
		work     Listing
		requests int
		takes    time.Duration
	}{
		"an empty listing is one call":          {Listing{Operation: free, Page: 10}, 1, latency},
		"pages one after another":               {Listing{Operation: free, Page: 10, Items: 95}, 10, 10 * latency},
		"all at once":                           {Listing{Operation: free, Items: 95}, 1, latency},
		"pages that are known":                  {Listing{Operation: free, Page: 10, Items: 95, Pages: 20}, 20, 20 * latency},
		"details sixteen at a time":             {Listing{Operation: free, Page: 100, Items: 64, Each: []Ask{{Operation: free}}}, 65, 5 * latency},
		"two details of an item in turn":        {Listing{Operation: free, Page: 100, Items: 16, Each: []Ask{{Operation: free}, {Operation: free}}}, 33, 3 * latency},
		"the next page waits for room":          {Listing{Operation: free, Page: 16, Items: 32, Each: []Ask{{Operation: free}}}, 34, 3 * latency},
		"one call for many":                     {Listing{Operation: free, Page: 100, Items: 60, Each: []Ask{{Operation: free, Many: 20}}}, 4, 2 * latency},
		"half of the details":                   {Listing{Operation: free, Page: 100, Items: 32, Each: []Ask{{Operation: free}}, Asked: 0.5}, 17, 2 * latency},
		"no details":                            {Listing{Operation: free, Page: 100, Items: 32, Each: []Ask{{Operation: free}}, Asked: -1}, 1, latency},
		"a listing for each item, eight a time": {Listing{Operation: free, Page: 10, Items: 16, Under: &Listing{Operation: free, Page: 100, Items: 16}}, 17, 3 * latency},
		// 200 tokens are needed, 50 are there.
		"a bucket": {Listing{Operation: free, Page: 1000, Items: 200, Each: []Ask{{Operation: bucketOf(20, 50)}}}, 201, 2*latency + 150*time.Second/20},
	} {
		t.Run(name, func(t *testing.T) {
			r := run(t, []Task{{Provider: "p", Account: "a", Work: &c.work}}, Options{})
			if r.Requests != c.requests {
				t.Errorf("%d requests, want %d", r.Requests, c.requests)
			}
			near(t, "takes", r.Takes, c.takes)
			on := r.Calls
			for _, w := range r.Waits {
				on += w.OnWay
			}
			near(t, "the way to the end", on, r.Takes)
		})
	}
}

// What is named as that which binds is what would help.
func TestBinds(t *testing.T) {
	leaf, account, provider := &Limit{Key: "leaf", Rate: 20, Burst: 1}, &Limit{Key: "account", Rate: 20, Burst: 1}, &Limit{Key: "provider", Rate: 20, Burst: 1}
	slots := &Limit{Key: "slots", Slots: 4}
	tasks := func() (list []Task) {
		op := &Operation{Leaf: leaf, Account: account, Provider: provider, Slots: slots}
		for a := range 3 {
			for region := range 3 {
				list = append(list, Task{Provider: "p", Account: fmt.Sprint(a), Region: fmt.Sprint(region), Service: "s", Work: &Listing{Operation: op, Page: 1, Items: 100}})
			}
		}
		return list
	}
	for name, set := range map[string]struct {
		binds                   *Limit
		leaf, account, provider float64
		slots                   int
		takes                   time.Duration
	}{
		"leaf":     {leaf, 2, 1e3, 1e4, 100, 99 * time.Second / 2},
		"account":  {account, 20, 6, 1e4, 100, 299 * time.Second / 6},
		"provider": {provider, 20, 60, 18, 100, 899 * time.Second / 18},
		"slots":    {slots, 1e3, 1e3, 1e4, 1, 300 * latency},
		"nothing":  {nil, 1e3, 1e3, 1e4, 100, 100 * latency},
	} {
		t.Run(name, func(t *testing.T) {
			leaf.Rate, account.Rate, provider.Rate, slots.Slots = set.leaf, set.account, set.provider, set.slots
			r := run(t, tasks(), Options{})
			if r.Requests != 900 || r.Binds() != set.binds {
				t.Errorf("%d requests, bound by %+v, %+v", r.Requests, r.Binds(), r.Waits)
			}
			if d := r.Takes - set.takes; d < 0 || d > 3*latency {
				t.Errorf("takes %s, want %s", r.Takes, set.takes)
			}
			if set.binds == nil {
				return
			}
			// Of what binds twice as much is half the time; of anything else nothing changes.
			for _, l := range []*Limit{leaf, account, provider, slots} {
				twice := run(t, tasks(), Options{Twice: l}).Takes
				share := twice.Seconds() / r.Takes.Seconds()
				if l == set.binds && share > 0.52 || l != set.binds && share < 0.99 {
					t.Errorf("with twice the %s it takes %s instead of %s", l.Key, twice, r.Takes)
				}
			}
		})
	}
}

// A task that keeps its slot keeps others out until its end.
func TestHeldSlots(t *testing.T) {
	op := &Operation{Slots: &Limit{Slots: 1}, Held: true}
	var tasks []Task
	for range 3 {
		tasks = append(tasks, Task{Provider: "p", Account: "a", Work: &Listing{Operation: op, Page: 1, Items: 5}})
	}
	near(t, "takes", run(t, tasks, Options{}).Takes, 15*latency)
}

// Who pays is who waits: accounts that have one payer share its bucket.
func TestPayer(t *testing.T) {
	op := bucketOf(10, 1)
	var tasks []Task
	for i := range 10 {
		tasks = append(tasks, Task{Provider: "p", Account: fmt.Sprint(i), Payer: "quota", Work: &Listing{Operation: op, Page: 1, Items: 10}})
	}
	near(t, "takes", run(t, tasks, Options{}).Takes, 99*time.Second/10+latency)
}

// No more tasks are under way than there are workers, and each account has its times.
func TestWorkers(t *testing.T) {
	var tasks []Task
	for i := range 10 {
		tasks = append(tasks, Task{Provider: "p", Account: fmt.Sprint(i), Work: &Listing{Operation: &Operation{}, Page: 1, Items: 2}})
	}
	tasks = append(tasks, Task{Provider: "p", Account: "none"})
	r := run(t, tasks, Options{Workers: 5})
	near(t, "takes", r.Takes, 4*latency)
	if len(r.Accounts) != 10 || r.Accounts[0].Account != "5" || r.Accounts[0].Begins != 2*latency || r.Accounts[9].Ends != 2*latency || r.Tasks != 11 {
		t.Errorf("%+v", r)
	}
}

// Who does not want to know any more is not kept.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	tasks := []Task{{Work: &Listing{Operation: &Operation{}, Page: 1, Items: 1 << 40}}}
	_, err := Run(ctx, tasks, Options{Latency: latency, Progress: func(int) { cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Who comes late to a line that is long already has the line to thank, and not what kept
// it until then: had it come sooner, it would have waited longer.
func TestBindsLateComer(t *testing.T) {
	early, line := &Limit{Key: "early", Rate: 2, Burst: 1}, &Limit{Key: "line", Rate: 1, Burst: 1}
	slots := &Limit{Key: "slots", Slots: 1}
	task := func(n int, op Operation) Task {
		return Task{Provider: "p", Account: "a", Work: &Listing{Operation: &op, Page: 1, Items: n}}
	}
	for name, last := range map[*Limit]Operation{line: {Leaf: line}, slots: {Slots: slots}} {
		per := 1
		if name == slots {
			per = int(time.Second / latency)
		}
		tasks := []Task{task(37*per, last), task(37*per, last), task(100, Operation{Leaf: early}), task(14*per, last)}
		r := run(t, tasks, Options{Workers: 3})
		if r.Binds() != name {
			t.Errorf("what binds is %+v, not %+v: %+v", r.Binds(), name, r.Waits)
		}
		if twice := run(t, tasks, Options{Workers: 3, Twice: early}).Takes; twice < r.Takes*97/100 {
			t.Errorf("with twice as early a start it takes %s instead of %s", twice, r.Takes)
		}
		if twice := run(t, tasks, Options{Workers: 3, Twice: name}).Takes; twice > r.Takes*70/100 {
			t.Errorf("with twice of what binds it takes %s instead of %s", twice, r.Takes)
		}
	}
}
