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
// Where the controller is learn, the store has the model of the server's bucket: a token
// that it hands out is a call that goes, members tell with their next question what became
// of theirs, and a member that is gone leaves calls of which nothing is known. All learn
// from each of them, and a throttle of one is measured once. A token is handed out 20 ms
// before its moment at most, and batches reach 50 ms ahead, so that little is under way
// when a throttle is heard of: each member asks a slow bucket about once a token, and a
// fast one up to forty times a second.
//
// When the store is gone each process goes on alone within its share: the last rate
// divided by the members last seen. It is told once, and shares again when the store is
// back.
package fleet
