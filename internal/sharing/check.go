package sharing

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"
)

// What a store takes from a member. One that is wrong must not be able to spoil a bucket
// for the others: what has no meaning is an error for that ask alone, and what is too
// much is cut to what can still be reckoned with.
const (
	leastRate = 1e-6 // tokens a second, one in eleven days
	mostRate  = 1e9
	mostCount = 1_000_000_000
	Longest   = 7 * 24 * time.Hour // any pause, cooldown and lease
	mostCause = 500                // bytes
)

// Sane gives an ask as [Bucket.Ask] takes it, or says what is wrong with its limits.
// Numbers below zero count as zero.
func (a Ask) Sane() (Ask, error) {
	l := &a.Limits
	if !(l.Rate >= leastRate && l.Rate <= mostRate) {
		return a, fmt.Errorf("a rate of %v cannot be shared (allowed: %v to %v)", l.Rate, leastRate, mostRate)
	}
	if !(l.Burst >= 0 && l.Burst <= mostCount) {
		return a, fmt.Errorf("a burst of %v cannot be shared (allowed: 0 to %d)", l.Burst, mostCount)
	}
	if math.IsNaN(l.MinRate) {
		return a, fmt.Errorf("a lowest rate of %v cannot be shared", l.MinRate)
	}
	l.Burst = math.Max(1, l.Burst)
	l.MinRate = math.Min(l.Rate, math.Max(leastRate, l.MinRate))
	l.MaxPause = span(l.MaxPause)
	for _, n := range []*int{&a.Want, &a.Back, &a.Debt, &a.Served, &a.Unknown, &a.Refused, &a.Dropped} {
		*n = count(*n)
	}
	for _, d := range []*time.Duration{&a.Ago, &a.Hint, &a.Pause, &a.Last, &a.First, &a.Trip} {
		*d = span(*d)
	}
	if a.Opened != nil {
		c := *a.Opened
		c.Left, c.Cooldown, c.Cause = span(c.Left), span(c.Cooldown), cut(c.Cause)
		a.Opened = &c
	}
	return a, nil
}

// Sane does the same for an ask for slots.
func (a SlotAsk) Sane() (SlotAsk, error) {
	a.Max, a.InUse, a.Want, a.Lasts = count(a.Max), count(a.InUse), count(a.Want), span(a.Lasts)
	if a.Lasts == 0 && (a.InUse > 0 || a.Want > 0) {
		return a, fmt.Errorf("slots without a lease cannot be shared")
	}
	return a, nil
}

func count(n int) int { return min(max(0, n), mostCount) }

// span is in whole microseconds, rounded up.
func span(d time.Duration) time.Duration {
	d = min(max(0, d), Longest)
	return (d + time.Microsecond - 1).Truncate(time.Microsecond)
}

// cut shortens a text, between characters.
func cut(s string) string {
	s = strings.ToValidUTF8(s, "?")
	if len(s) <= mostCause {
		return s
	}
	n := mostCause
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
