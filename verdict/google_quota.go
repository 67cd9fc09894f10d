package verdict

import (
	"regexp"
	"strings"
)

// This file tells a quota per day, which no wait of minutes mends, from one per minute.
// Being wrong is dear either way: a day without calls, or a day of calls in vain.

// span is what a quota is counted per.
type span int

const (
	unsaid span = iota
	shorter
	day
)

// counts takes in one detail's names for its quota, the surest first. Of several
// details one that says day counts: that quota is used up, whatever else is.
func (g *googleError) counts(said ...span) {
	for _, s := range said {
		if s != unsaid {
			g.span = max(g.span, s)
			return
		}
	}
}

// unitSpan reads ErrorInfo's quota_unit: 1/d/{project}, 1/min/{project}/{user}.
func unitSpan(unit string) span {
	if unit == "" {
		return unsaid
	}
	for _, part := range strings.Split(head(unit, maxText), "/")[1:] {
		if part == "d" {
			return day
		}
	}
	return shorter
}

var (
	perDay     = regexp.MustCompile(`(?i)per_?day`)
	perShorter = regexp.MustCompile(`(?i)per[_ ]?([0-9]+[_ ]?)?(second|minute|hour)`)
)

// nameSpan reads the name of a limit or a metric: ListAssetsPerDayPerProject,
// requests_per_minute. The name of a resource is none, whatever it says.
func nameSpan(name string) span {
	name = head(name, maxText)
	switch {
	case perShorter.MatchString(name):
		return shorter
	case perDay.MatchString(name):
		return day
	}
	return unsaid
}

// wordsSpan reads a message for people, in lower case. Names of resources are in it
// too (projects/daily-etl), so only whole words count: "per day", and "daily" beside the
// limit or quota that it is about.
func wordsSpan(text string) span {
	if perShorter.MatchString(text) {
		return shorter
	}
	words := strings.Fields(text)
	for i, w := range words {
		words[i] = strings.Trim(w, ".,:;!?'\"`()[]")
	}
	for i, w := range words {
		next := strings.Join(words[min(i+1, len(words)):min(i+3, len(words))], " ")
		switch w {
		case "per":
			if next == "day" || strings.HasPrefix(next, "day ") {
				return day
			}
		case "daily":
			if strings.Contains(next, "limit") || strings.Contains(next, "quota") || i > 0 && (words[i-1] == "limit" || words[i-1] == "quota") {
				return day
			}
		}
	}
	return unsaid
}

// exhaustedForLong tells what more a quota error says: a daily quota, or a message
// that is too large, which no waiting makes smaller. A detail that names what the quota
// is counted per decides before any words.
func (ev *evidence) exhaustedForLong() (string, bool) {
	switch ev.google.span {
	case day:
		return dailyQuota, true
	case shorter:
		return "", false
	}
	for _, t := range append(ev.google.texts, strings.ToLower(head(ev.words(), maxText))) {
		if wordsSpan(t) == day {
			return dailyQuota, true
		}
		for _, p := range []string{"larger than max", "exceeds maximum size", "message size", "message too large"} {
			if strings.Contains(t, p) {
				return "the message is too large", true
			}
		}
	}
	return "", false
}
