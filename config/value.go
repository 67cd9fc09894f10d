package config

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// value is one value of any source: a scalar, a mapping, or something that no key
// takes.
type value struct {
	at     place
	null   bool
	scalar bool
	text   string // of a scalar
	plain  bool   // a scalar without quotes or tag, which may be more than a text
	fields []*field
	other  string // what it is when it is none of these: "a list"
}

// field is one key of a mapping. A key that was written twice appears once.
type field struct {
	name  string
	at    place
	value *value
}

func (v *value) mapping() bool { return !v.null && !v.scalar && v.other == "" }

func (v *value) field(name string) *field {
	for _, f := range v.fields {
		if f.name == name {
			return f
		}
	}
	return nil
}

// shown is the value as errors show it, bounded.
func (v *value) shown() any {
	switch {
	case v.null:
		return nil
	case v.other != "":
		return v.other
	case !v.scalar:
		return "a mapping"
	}
	if x, ok := v.number(); ok {
		return x
	}
	if v.plain && (strings.EqualFold(v.text, "true") || strings.EqualFold(v.text, "false")) {
		return strings.EqualFold(v.text, "true")
	}
	const most = 80
	text := []rune(v.text)
	if len(text) > most {
		return string(text[:most]) + "…"
	}
	return v.text
}

// number reads a decimal number, or an infinite one. It does not use the rules of
// YAML 1.1, by which 010 is eight and 1:30 ninety.
func (v *value) number() (float64, bool) {
	if !v.scalar || !v.plain {
		return 0, false
	}
	digits := strings.TrimLeft(v.text, "+-")
	if len(v.text)-len(digits) > 1 {
		return 0, false
	}
	if strings.EqualFold(digits, ".inf") {
		if v.text[0] == '-' {
			return math.Inf(-1), true
		}
		return math.Inf(1), true
	}
	whole, _, _ := strings.Cut(digits, ".")
	if len(whole) > 1 && whole[0] == '0' || strings.Trim(digits, "0123456789.eE+-") != "" {
		return 0, false
	}
	x, err := strconv.ParseFloat(v.text, 64)
	if err != nil && !math.IsInf(x, 0) {
		return 0, false
	}
	return x, true // too large a number is infinite, and still a number
}

// integer reads a whole number. One that no int holds is cut to the nearest, which
// no range allows.
func (v *value) integer() (int, bool) {
	x, ok := v.number()
	if !ok || x != math.Trunc(x) {
		return 0, false
	}
	return int(math.Max(math.MinInt32, math.Min(math.MaxInt32, x))), true
}

// duration reads seconds. It saturates, and a positive value never becomes zero.
func (v *value) duration() (time.Duration, bool) {
	x, ok := v.number()
	if !ok {
		return 0, false
	}
	switch ns := x * 1e9; {
	case ns >= math.MaxInt64:
		return math.MaxInt64, true
	case ns <= math.MinInt64:
		return math.MinInt64, true
	case ns > 0 && ns < 1:
		return 1, true
	case ns < 0 && ns > -1:
		return -1, true
	default:
		return time.Duration(math.Round(ns)), true
	}
}

func (v *value) boolean() (bool, bool) {
	if !v.scalar || !v.plain {
		return false, false
	}
	switch v.text {
	case "true", "True", "TRUE":
		return true, true
	case "false", "False", "FALSE":
		return false, true
	}
	return false, false
}

func (v *value) word() (string, bool) { return v.text, v.scalar }
