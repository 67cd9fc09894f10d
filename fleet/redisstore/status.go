package redisstore

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/cloudpace/cloudpace/fleet"
)

// Status implements [fleet.Store]. It goes through the keys of the whole database, which
// takes a while where there are millions that are not ours.
func (s *Store) Status(ctx context.Context) (fleet.Status, error) {
	st := fleet.Status{Store: s.server}
	keys, err := s.keys(ctx)
	if err != nil {
		return st, s.fault(ctx, "", err)
	}
	b := batch{s: s}
	var bad error // one key that is not ours does not hide the others
	members := &call{script: membersScript, key: s.membersKey(), args: []any{"status"}}
	b.add(members, func(reply []string) error { return readMembers(&st, reply) }, &bad)
	for _, key := range keys {
		switch kind, name, ok := s.name(key); {
		case ok && kind == "bucket":
			b.add(&call{script: bucketScript, key: key, args: []any{"status"}}, func(reply []string) error {
				return readBucket(&st, name, reply)
			}, &bad)
		case ok && kind == "learn":
			b.add(&call{script: learnScript, key: key, args: []any{"read"}}, func(reply []string) error {
				return readLearned(&st, name, reply)
			}, &bad)
		case ok && kind == "slots":
			b.add(&call{script: slotsScript, key: key, args: []any{"status"}}, func(reply []string) error {
				return readSlots(&st, name, reply)
			}, &bad)
		}
	}
	if err := b.run(ctx); err != nil {
		return st, err
	}
	st.Sort()
	return st, bad
}

// keys gives all that may be ours.
func (s *Store) keys(ctx context.Context) (keys []string, err error) {
	var mu sync.Mutex
	one := func(ctx context.Context, c redis.Cmdable) error {
		for cursor := uint64(0); ; {
			page, next, err := c.Scan(ctx, cursor, pattern.Replace(s.prefix)+":*", 1000).Result()
			if err != nil {
				return err
			}
			mu.Lock()
			keys = append(keys, page...)
			mu.Unlock()
			if cursor = next; cursor == 0 {
				return nil
			}
		}
	}
	seen := map[string]bool{}
	if cluster, ok := s.client.(*redis.ClusterClient); ok {
		err = cluster.ForEachMaster(ctx, func(ctx context.Context, c *redis.Client) error { return one(ctx, c) })
	} else {
		err = one(ctx, s.client)
	}
	unique := keys[:0] // a scan may give a key twice
	for _, k := range keys {
		if !seen[k] {
			unique = append(unique, k)
		}
		seen[k] = true
	}
	return unique, err
}

func readMembers(st *fleet.Status, reply []string) error {
	if len(reply)%3 != 0 {
		return errReply
	}
	for ; len(reply) > 0; reply = reply[3:] {
		var us int64
		var a about
		if err := scan(reply[1:], &us); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(reply[2]), &a); err != nil {
			return err
		}
		st.Members = append(st.Members, fleet.MemberStatus{
			Member: fleet.Member{ID: reply[0], Name: a.Name, Started: a.Started}, Left: micro(us).Seconds(),
		})
	}
	return nil
}

func readBucket(st *fleet.Status, name string, reply []string) error {
	if len(reply) == 0 {
		return nil // it has expired since
	}
	if len(reply) < 2 {
		return errReply
	}
	b := fleet.BucketStatus{Key: name, Active: slices.Sorted(slices.Values(reply[2:]))}
	if b.Active == nil {
		b.Active = []string{}
	}
	var paused, open, cooldown int64
	if err := scan(reply, &b.RPS, &b.MaxRPS, &b.Burst, &b.Tokens, &paused, &open, &cooldown); err != nil {
		return err
	}
	b.PausedSeconds, b.OpenSeconds = micro(paused).Seconds(), micro(open).Seconds()
	if open > 0 {
		b.Cause = reply[1]
	}
	st.Buckets = append(st.Buckets, b)
	return nil
}

func readSlots(st *fleet.Status, name string, reply []string) error {
	p := fleet.SlotsStatus{Key: name, Slots: map[string]int{}}
	if err := scan(reply, &p.Max); err != nil {
		return err
	}
	for reply = reply[1:]; len(reply) >= 2; reply = reply[2:] {
		n := 0
		if err := scan(reply[1:], &n); err != nil {
			return err
		}
		p.Slots[reply[0]] = n
	}
	if len(p.Slots) > 0 {
		st.Slots = append(st.Slots, p)
	}
	return nil
}
