package backoff

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"
)

func TestS7_2_NextStaysInItsBounds(t *testing.T) {
	previous := time.Duration(0)
	for range 10_000 {
		d := Next(time.Second, time.Minute, previous)
		if d < time.Second || d > min(time.Minute, 3*max(time.Second, previous)) {
			t.Fatalf("%s after %s", d, previous)
		}
		previous = d
	}
	if d := Next(time.Minute, time.Second, 0); d != time.Second {
		t.Errorf("a base above the limit: %s, want the limit", d)
	}
	if d := Next(time.Second, math.MaxInt64, math.MaxInt64/2); d != math.MaxInt64 {
		t.Errorf("an overflow: %s, want the limit", d)
	}
}

func TestRestEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		if err := Rest(t.Context(), time.Minute); err != nil || time.Since(start) != time.Minute {
			t.Errorf("%v after %s, want the whole minute", err, time.Since(start))
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if err := Rest(ctx, time.Hour); !errors.Is(err, context.Canceled) || time.Since(start) != 61*time.Second {
			t.Errorf("%v after %s, want the cancel at 61 s", err, time.Since(start))
		}
	})
}
