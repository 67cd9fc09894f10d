// Package redisstore is a [fleet.Store] on Redis or Valkey, version 6.2 or later: one
// server, one with replicas that Sentinel watches, or a Cluster.
//
//	store, err := redisstore.Open(ctx, "rediss://user:password@redis.example.com:6379/0", redisstore.Options{})
//	if err != nil {
//		return err
//	}
//	defer store.Close()
//
// What members share is in one hash for each bucket and each pool of slots, and one for
// who is there, all named "cloudpace:…" (a bucket that learns: "cloudpace:learn:…"). Scripts change them by the law of the fleet, and
// by Redis's clock alone; they use nothing but the key they are given, so that any node of
// a cluster can run them. Every key expires, soon after it has nothing to say any more.
// All buckets of a call go in one message, or one to each node of a cluster.
//
// A bucket that learns is another matter: its law is too much for a script, so that Redis
// only keeps it, as bytes. A member reads it, with Redis's time, works out its own answer,
// and writes back what comes of it, unless another was quicker: then it does it again on
// what that one wrote, 16 times at most. So a question takes two messages, for all buckets
// together, and one more for each time that another was quicker. Bytes that cannot be read
// begin anew; those of a later version of this program are left alone, and are the error of
// that bucket. What was learned is kept for an hour after the last question.
//
// A call is sent once. Where its answer is lost what it granted counts as granted. Only a
// call that certainly was not carried out is sent again: one whose script the server does
// not know, after a restart or failover, and one that a cluster sends elsewhere.
//
// A failover loses what the replica had not received yet, at most what was granted in that
// moment, and a restart without a disk loses all: buckets begin full then, so that it may
// grant a burst twice. Where the new server's clock is behind, time stands still for the
// shared buckets once; where it is ahead, they fill that much sooner, up to their burst.
//
// A user with few rights needs:
//
//	~cloudpace:* +hello +eval +evalsha +time +hgetall +hset +hdel +del +pexpire +scan
//
// and for a cluster +cluster|slots. Where Redis evicts keys for want of memory, a bucket
// that is evicted begins anew, full and unpaused: give it room.
package redisstore
