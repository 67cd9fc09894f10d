package redisstore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/cloudpace/cloudpace/fleet"
	"github.com/cloudpace/cloudpace/internal/backoff"
	"github.com/cloudpace/cloudpace/internal/sharing"
)

// attempts is how often an ask of a bucket that learns is worked out, at most: once, and
// again each time that another member was quicker.
const attempts = 16

// learned is what a key of a bucket that learns holds, and an ask for it on its way.
type learned struct {
	key   string
	ask   sharing.Ask
	grant *fleet.BucketGrant

	now    time.Time // the server's
	sum    string    // of the state, as it names it
	bucket sharing.Bucket
	given  sharing.Grant // if what was made of the bucket is kept
	done   bool
}

// open tells that it has come to no end.
func (l *learned) open() bool { return !l.done && l.grant.Err == nil }

// read is the first call.
func (l *learned) read() *call {
	return &call{script: learnScript, key: l.key, args: []any{"read"}}
}

// take reads an answer that has the state in it.
func (l *learned) take(reply []string) error {
	if len(reply) != 3 {
		return errReply
	}
	var us int64
	if err := scan(reply, &us); err != nil {
		return err
	}
	l.now, l.sum = time.UnixMicro(us), reply[1]
	l.bucket = sharing.Bucket{}
	if reply[2] == "" {
		return nil
	}
	// What cannot be read begins anew; but where members of two versions share, the older
	// is not to throw away what the newer has learned.
	if err := l.bucket.UnmarshalBinary([]byte(reply[2])); errors.Is(err, sharing.ErrNewer) {
		return fmt.Errorf("FOREIGN %w", err)
	}
	return nil
}

// write answers the ask, and makes the call that keeps what comes of it.
func (l *learned) write(member string) (*call, error) {
	l.given = l.bucket.Ask(l.now, member, l.ask)
	state, err := l.bucket.MarshalBinary()
	if err != nil {
		return nil, err
	}
	lasts := (l.bucket.Lasts(l.now) + time.Millisecond - 1).Milliseconds()
	return &call{script: learnScript, key: l.key, args: []any{"write", l.sum, state, lasts}}, nil
}

// written reads the answer to a write.
func (l *learned) written(reply []string) error {
	if len(reply) != 1 {
		return l.take(reply)
	}
	l.grant.Grant, l.done = l.given, true
	return nil
}

// learn brings asks to an end that were read: all that are left in one message, until each
// is kept or has failed. Where another member was quicker the answer has what is there now;
// where that happens again they are in each other's way, and come apart by waiting.
func (s *Store) learn(ctx context.Context, member string, asks []*learned) error {
	trip := time.Duration(0)
	for attempt := range attempts {
		if !slices.ContainsFunc(asks, (*learned).open) {
			return nil
		}
		if attempt > 1 {
			if err := backoff.Rest(ctx, rand.N(1+time.Duration(attempt)*trip)); err != nil {
				return err
			}
			if err := s.each(ctx, asks, func(l *learned) (*call, error) { return l.read(), nil }, (*learned).take); err != nil {
				return err
			}
		}
		began := time.Now()
		if err := s.each(ctx, asks, func(l *learned) (*call, error) { return l.write(member) }, (*learned).written); err != nil {
			return err
		}
		trip = time.Since(began)
	}
	for _, l := range asks {
		if l.open() {
			l.grant.Err = s.fault(ctx, l.key, errBusy)
		}
	}
	return nil
}

// each makes a call for each ask that is open.
func (s *Store) each(ctx context.Context, asks []*learned, next func(*learned) (*call, error), read func(*learned, []string) error) error {
	b := batch{s: s}
	for _, l := range asks {
		if !l.open() {
			continue
		}
		c, err := next(l)
		if err != nil {
			l.grant.Err = err
			continue
		}
		b.add(c, func(reply []string) error { return read(l, reply) }, &l.grant.Err)
	}
	return b.run(ctx)
}

// errBusy is an ask that came to nothing.
var errBusy = fmt.Errorf("others changed the bucket %d times while this was worked out", attempts)

// readLearned is what a status says of such a bucket.
func readLearned(st *fleet.Status, name string, reply []string) error {
	var l learned
	if err := l.take(reply); err != nil {
		return err
	}
	if l.sum == "" {
		return nil // it has expired since
	}
	s := l.bucket.Status(l.now)
	if s.MaxRate == 0 {
		return nil // it cannot be read, and begins anew with the next ask
	}
	b := fleet.BucketStatus{
		Key: name, RPS: s.Rate, MaxRPS: s.MaxRate, Burst: s.Burst, Tokens: s.Tokens,
		PausedSeconds: s.Paused.Seconds(), Active: s.Active,
	}
	if s.Circuit != nil {
		b.OpenSeconds, b.Cause = s.Circuit.Left.Seconds(), s.Circuit.Cause
	}
	st.Buckets = append(st.Buckets, b)
	return nil
}
