// Package fleet lets the governors of several processes share the limits of their
// accounts, so that all of them together stay within what one may use: token buckets with
// their adaptive rate, pauses, open circuits and slots.
//
//	store, err := redisstore.Open(ctx, "redis://…", redisstore.Options{})
//	…
//	member, err := fleet.Join(ctx, governor, store, fleet.Options{})
//	if err != nil {
//		return err
//	}
//	defer member.Close()
//
// What is shared lives in a [Store]. A member leases tokens from it in batches, and never
// asks for a single call: queueing and the grant over several levels stay in the process.
// A busy process asks a few times a second for each bucket; one that has a token at hand
// does not ask at all. Under load all members of a bucket get the same.
//
// When the store is gone each process goes on alone within its share: the last rate
// divided by the members last seen. It is told once, and shares again when the store is
// back.
package fleet
