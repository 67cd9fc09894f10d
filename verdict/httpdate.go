package verdict

import (
	"strings"
	"time"
)

var (
	shortDays = []string{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"}
	longDays  = []string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"}
	months    = []string{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"}
)

// parseHTTPDate reads the three forms of RFC 9110, 5.6.7, all in GMT:
//
//	Sun, 06 Nov 1994 08:49:37 GMT    IMF-fixdate
//	Sunday, 06-Nov-94 08:49:37 GMT   RFC 850
//	Sun Nov  6 08:49:37 1994         asctime
//
// The whole text must match. A weekday must be one but need not be the right one.
// Second 60 is the instant after second 59. Two digits of a year mean the century of
// now, unless that is more than 50 years ahead of now; then the one before.
func parseHTTPDate(s string, now time.Time) (time.Time, bool) {
	day, rest, comma := strings.Cut(s, ", ")
	switch {
	case comma && index(shortDays, day) >= 0:
		// 06 Nov 1994 08:49:37 GMT
		if len(rest) != 24 || rest[2] != ' ' || rest[6] != ' ' || rest[11] != ' ' || rest[20:] != " GMT" {
			return time.Time{}, false
		}
		return instant(rest[7:11], rest[3:6], rest[:2], rest[12:20])
	case comma && index(longDays, day) >= 0:
		// 06-Nov-94 08:49:37 GMT
		if len(rest) != 22 || rest[2] != '-' || rest[6] != '-' || rest[9] != ' ' || rest[18:] != " GMT" || !digits(rest[7:9]) {
			return time.Time{}, false
		}
		now = now.UTC()
		year := now.Year()/100*100 + number(rest[7:9])
		t, ok := instant(fourDigits(year), rest[3:6], rest[:2], rest[10:18])
		if ok && !t.After(now.AddDate(50, 0, 0)) {
			return t, true
		}
		// Also where 29 February is in the other century only.
		if !ok && year <= now.Year()+50 {
			return time.Time{}, false
		}
		return instant(fourDigits(year-100), rest[3:6], rest[:2], rest[10:18])
	case len(s) == 24 && index(shortDays, s[:3]) >= 0:
		// Sun Nov  6 08:49:37 1994
		if s[3] != ' ' || s[7] != ' ' || s[10] != ' ' || s[19] != ' ' {
			return time.Time{}, false
		}
		date := s[8:10]
		if date[0] == ' ' {
			date = "0" + date[1:]
		}
		return instant(s[20:], s[4:7], date, s[11:19])
	}
	return time.Time{}, false
}

// instant puts a date together. No part is corrected: 30 February is no date.
func instant(year, month, day, clock string) (time.Time, bool) {
	m := index(months, month)
	if m < 0 || len(year) != 4 || !digits(year) || len(day) != 2 || !digits(day) ||
		len(clock) != 8 || clock[2] != ':' || clock[5] != ':' ||
		!digits(clock[:2]) || !digits(clock[3:5]) || !digits(clock[6:]) {
		return time.Time{}, false
	}
	hour, minute, second := number(clock[:2]), number(clock[3:5]), number(clock[6:])
	d := number(day)
	if hour > 23 || minute > 59 || second > 60 || d < 1 {
		return time.Time{}, false
	}
	date := time.Date(number(year), time.Month(m+1), d, hour, minute, 0, 0, time.UTC)
	if date.Day() != d {
		return time.Time{}, false
	}
	return date.Add(time.Duration(second) * time.Second), true
}

func index(names []string, s string) int {
	for i, n := range names {
		if n == s {
			return i
		}
	}
	return -1
}

// digits tells whether s is one or more ASCII digits.
func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// number reads a few digits.
func number(s string) int {
	n := 0
	for i := range len(s) {
		n = n*10 + int(s[i]-'0')
	}
	return n
}

func fourDigits(n int) string {
	b := [4]byte{'0', '0', '0', '0'}
	for i := 3; i >= 0 && n > 0; i-- {
		b[i] += byte(n % 10)
		n /= 10
	}
	return string(b[:])
}
