package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// decimal writes a number with at most so many digits after the point.
func decimal(f float64, digits int) string {
	text := strconv.FormatFloat(f, 'f', digits, 64)
	if digits > 0 {
		text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// rps writes a rate with the digits that tell something.
func rps(f float64) string {
	switch {
	case f >= 100:
		return decimal(f, 0)
	case f >= 1:
		return decimal(f, 1)
	}
	return decimal(f, 3)
}

// span writes a duration given in seconds: "0.4 s", "12 s", "3 min 20 s", "2 h 5 min".
func span(seconds float64) string {
	if seconds < 10 {
		return decimal(seconds, 1) + " s"
	}
	n := int(math.Round(seconds))
	switch {
	case n < 60:
		return fmt.Sprintf("%d s", n)
	case n < 7200:
		return strings.TrimSuffix(fmt.Sprintf("%d min %d s", n/60, n%60), " 0 s")
	}
	n /= 60
	return strings.TrimSuffix(fmt.Sprintf("%d h %d min", n/60, n%60), " 0 min")
}

// clock writes a moment.
func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }
