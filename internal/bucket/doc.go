// Package bucket is the token bucket, its queue and the rate control of one
// scope. It knows no scopes, providers or clocks: every method is given the time.
//
// Buckets form levels. A leaf may have a parent (its account's bucket), and that
// one a parent again (its provider's). A call needs a token from every level, and
// gets all of them in one step or none. Callers queue at the leaf, first come
// first served; a shared level goes to the caller that has waited longest among
// those whose leaf can grant now, so a slow leaf never blocks its neighbours.
//
// A waiter owns nothing until it is granted: one that leaves the queue costs the
// others nothing. Nothing here blocks or starts a goroutine. Among the waiters of
// connected buckets one is the driver, which is told when to look again; a look
// ([Waiter.Poll]) grants to everybody whose turn has come.
//
// A goroutine waits like this:
//
//	w, status := b.Join(now, bucket.Terms{Deadline: deadline})
//	for status == bucket.Waiting {
//		var wake time.Time // when this waiter must look again, zero for never
//		if status, wake = w.Poll(now); status == bucket.Waiting {
//			… wait for w.C, wake or the context (then w.Leave), and read the clock …
//		}
//	}
package bucket
