package verdict

import (
	"math"
	"strings"
	"time"
)

// hint is the server's wish for the pause before the next try.
type hint struct {
	wait     time.Duration
	ok       bool
	noRepeat bool
}

// hint asks the sources in the order of S2.7; the first that gives something usable
// wins. What cannot be read, lies in the past or is below zero is no hint.
//
//	retry-after-ms, x-ms-retry-after-ms, x-amz-retry-after   milliseconds
//	Retry-After                                              seconds or an HTTP date
//	x-ms-user-quota-resets-after                             [d.]hh:mm:ss[.f]
//	google.rpc.RetryInfo                                     "53.5s"
//	grpc-retry-pushback-ms                                   milliseconds, whole
//	endTime in the body                                      Azure Compute's throttling window
//
// Numbers in message texts ("try again after '372' seconds") are not read: they are
// not documented and the header says the same.
func (ev *evidence) hint(now time.Time) hint {
	base := now
	for _, line := range values(ev.header, "Date") {
		if t, ok := parseHTTPDate(strings.Trim(line, " \t"), now); ok {
			base = t
			break
		}
	}
	var h hint
	for _, source := range []func() (time.Duration, bool){
		func() (time.Duration, bool) { return ev.lines("retry-after-ms", parseMillis) },
		func() (time.Duration, bool) { return ev.lines("x-ms-retry-after-ms", parseMillis) },
		func() (time.Duration, bool) { return ev.lines("x-amz-retry-after", parseMillis) },
		func() (time.Duration, bool) {
			return ev.lines("Retry-After", func(s string) (time.Duration, bool) { return parseRetryAfter(s, base) })
		},
		ev.quotaReset,
		ev.retryInfo,
		func() (time.Duration, bool) { return ev.pushback(&h) },
		func() (time.Duration, bool) { return ev.bodyEnd(base) },
	} {
		// Every source is asked, because pushback may forbid another try besides.
		if d, ok := source(); ok && !h.ok {
			h.wait, h.ok = d, true
		}
	}
	return h
}

// lines reads a header: of several lines the larger valid one counts, and a line
// "a, b" is valid if every part of it is. parse gives a negative duration for what
// is readable but in the past.
func (ev *evidence) lines(key string, parse func(string) (time.Duration, bool)) (time.Duration, bool) {
	best := time.Duration(-1)
	for _, line := range values(ev.header, key) {
		if d, ok := parseList(line, parse); ok && d > best {
			best = d
		}
	}
	return best, best >= 0
}

func parseList(line string, parse func(string) (time.Duration, bool)) (time.Duration, bool) {
	line = strings.Trim(line, " \t")
	if d, ok := parse(line); ok {
		return d, true
	}
	if len(line) > 4<<10 || !strings.Contains(line, ",") {
		return 0, false
	}
	best := time.Duration(math.MinInt64)
	parts := strings.Split(line, ",")
	for i := 0; i < len(parts); i++ {
		part := strings.Trim(parts[i], " \t")
		if i+1 < len(parts) && (index(shortDays, part) >= 0 || index(longDays, part) >= 0) {
			i++ // the comma of a date
			part += "," + strings.TrimRight(parts[i], " \t")
		}
		d, ok := parse(part)
		if !ok {
			return 0, false
		}
		best = max(best, d)
	}
	return best, true
}

// parseRetryAfter reads seconds, or a date that is measured from base.
func parseRetryAfter(s string, base time.Time) (time.Duration, bool) {
	if d, ok := parseDecimal(s, 9); ok {
		return d, true
	}
	t, ok := parseHTTPDate(s, base)
	if !ok {
		return 0, false
	}
	return t.Sub(base), true // Sub saturates
}

func parseMillis(s string) (time.Duration, bool) { return parseDecimal(s, 6) }

// parseDecimal reads ASCII digits with an optional fraction, in units of ten to the
// power of exp nanoseconds. What is finer than a nanosecond is rounded up: a wait
// must not be shorter than asked for. A number too large is the largest Duration.
func parseDecimal(s string, exp int) (time.Duration, bool) {
	whole, fraction, dot := strings.Cut(s, ".")
	if !digits(whole) || dot && !digits(fraction) {
		return 0, false
	}
	d := time.Duration(0)
	for i := range len(whole) + exp {
		digit := byte('0')
		switch {
		case i < len(whole):
			digit = whole[i]
		case i-len(whole) < len(fraction):
			digit = fraction[i-len(whole)]
		}
		n := time.Duration(digit - '0')
		if d > (math.MaxInt64-n)/10 {
			return math.MaxInt64, true
		}
		d = d*10 + n
	}
	if len(fraction) > exp && strings.Trim(fraction[exp:], "0") != "" && d < math.MaxInt64 {
		d++
	}
	return d, true
}

// quotaReset reads Resource Graph's header, which stands on every answer: it is a
// wish to wait when nothing is left, when that is not said, or on a 429.
func (ev *evidence) quotaReset() (time.Duration, bool) {
	if ev.status != 429 {
		for _, line := range values(ev.header, "x-ms-user-quota-remaining") {
			line = strings.Trim(line, " \t")
			if digits(line) && strings.Trim(line, "0") != "" {
				return 0, false
			}
		}
	}
	return ev.lines("x-ms-user-quota-resets-after", parseTimeSpan)
}

// parseTimeSpan reads .NET's constant form, [d.]hh:mm:ss[.f].
func parseTimeSpan(s string) (time.Duration, bool) {
	hours, rest, ok := strings.Cut(s, ":")
	minutes, seconds, ok2 := strings.Cut(rest, ":")
	if !ok || !ok2 {
		return 0, false
	}
	days := "0"
	if d, h, ok := strings.Cut(hours, "."); ok {
		days, hours = d, h
	}
	second, _, _ := strings.Cut(seconds, ".")
	if !digits(days) || len(hours) != 2 || !digits(hours) || len(minutes) != 2 || !digits(minutes) || len(second) != 2 {
		return 0, false
	}
	d, ok := parseDecimal(seconds, 9)
	if !ok || number(hours) > 23 || number(minutes) > 59 || d >= time.Minute {
		return 0, false
	}
	d += time.Duration(number(hours))*time.Hour + time.Duration(number(minutes))*time.Minute
	const day = 24 * time.Hour
	if days = strings.TrimLeft(days, "0"); len(days) > 6 || len(days) > 0 && time.Duration(number(days)) > (math.MaxInt64-d)/day {
		return math.MaxInt64, true
	}
	return d + time.Duration(number(days))*day, true
}

// retryInfo reads google.rpc.RetryInfo's retryDelay: JSON's "53.5s", or the fields of
// the message. Zero says nothing.
func (ev *evidence) retryInfo() (time.Duration, bool) {
	best := time.Duration(0)
	for _, delay := range ev.google.delays {
		switch v := delay.(type) {
		case string:
			if number, ok := strings.CutSuffix(v, "s"); ok {
				if d, ok := parseDecimal(number, 9); ok {
					best = max(best, d)
				}
			}
		case map[string]any:
			best = max(best, durationFields(v))
		}
	}
	return best, best > 0
}

func durationFields(m map[string]any) time.Duration {
	var d time.Duration
	switch s := m["seconds"].(type) {
	case string:
		var ok bool
		if d, ok = parseDecimal(s, 9); !ok {
			return 0
		}
	case float64:
		if s < 0 {
			return 0
		}
		if s >= math.MaxInt64/1e9 {
			return math.MaxInt64
		}
		d = time.Duration(s * 1e9)
	}
	if n, ok := m["nanos"].(float64); ok && n > 0 && n < 1e9 {
		if d > math.MaxInt64-time.Duration(n) {
			return math.MaxInt64
		}
		d += time.Duration(n)
	}
	return d
}

// pushback reads the trailer by which a gRPC server steers retries (gRFC A6): a
// number is the wait, anything else forbids another try.
func (ev *evidence) pushback(h *hint) (time.Duration, bool) {
	best, found := time.Duration(0), false
	for _, line := range values(ev.header, "grpc-retry-pushback-ms") {
		line = strings.Trim(line, " \t")
		if !digits(line) {
			h.noRepeat = true
			continue
		}
		d, _ := parseDecimal(line, 6)
		best, found = max(best, d), true
	}
	return best, found && !h.noRepeat
}

// bodyEnd reads the end of a throttling window that a provider documents.
func (ev *evidence) bodyEnd(base time.Time) (time.Duration, bool) {
	best := time.Duration(-1)
	for _, end := range ev.azure.ends {
		best = max(best, end.Sub(base))
	}
	return best, best >= 0
}
