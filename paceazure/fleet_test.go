package paceazure_test

import (
	"sync"
	"testing"
	"time"

	"github.com/cloudpace/cloudpace/paceazure"
)

// Five subscriptions times sixteen goroutines against Resource Manager's documented
// buckets (250 tokens and 25 a second for a subscription's reads), in virtual time:
// nothing is throttled, and it takes as long as the limits of the governor say.
func TestFiveSubscriptionsTimesSixteen(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const subscriptions, callers, calls = 5, 16, 150 // calls of each caller
		var mu sync.Mutex
		type state struct {
			tokens float64
			last   time.Time
		}
		buckets := map[string]*state{}
		throttled := 0
		f := newFake(func(_ int, a arrival) answer {
			time.Sleep(50 * time.Millisecond)
			mu.Lock()
			defer mu.Unlock()
			id := a.path[:len("/subscriptions/")+len(subscription)]
			b := buckets[id]
			if b == nil {
				b = &state{250, time.Now()}
				buckets[id] = b
			}
			now := time.Now()
			b.tokens, b.last = min(250, b.tokens+25*now.Sub(b.last).Seconds()), now
			if b.tokens < 1 {
				throttled++
				return retryAfter(429, "1")
			}
			b.tokens--
			return ok()
		})
		g := governor(t, nil)
		c := bareClient(t, paceazure.ClientOptions(f.inProcess(), paceazure.WithGovernor(g)))
		namespaces := []string{"Compute", "Network", "Sql", "Web"}
		var wg sync.WaitGroup
		for s := range subscriptions {
			for caller := range callers {
				wg.Go(func() {
					for range calls {
						path := "/subscriptions/00000000-0000-0000-0000-00000000000" + string(rune('1'+s)) +
							"/providers/Microsoft." + namespaces[caller%len(namespaces)] + "/things"
						if err := c.get(path); err != nil {
							t.Error(err)
						}
					}
				})
			}
		}
		wg.Wait()
		const own = (callers*calls - 200) / 20.0   // burst 200 and 20 a second, for each subscription
		const quota = (callers*calls - 250) / 25.0 // what the server would have allowed
		took := time.Since(f.start).Seconds()
		t.Logf("%d calls in %.1f s: %.3f times the governor's limit, %.3f times the quota; %d throttled", len(f.at()), took, took/own, took/quota, throttled)
		if throttled != 0 || len(f.at()) != subscriptions*callers*calls || took > 1.02*own {
			t.Errorf("%d requests in %.1f s, %d throttled", len(f.at()), took, throttled)
		}
		clean(t, g)
	})
}
