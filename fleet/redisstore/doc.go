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
// who is there, all named "cloudpace:…". Scripts change them by the law of the fleet, and
// by Redis's clock alone; they use nothing but the key they are given, so that any node of
// a cluster can run them. Every key expires, soon after it has nothing to say any more.
// All buckets of a call go in one message, or one to each node of a cluster.
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
