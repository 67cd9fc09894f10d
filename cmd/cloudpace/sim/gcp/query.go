package gcp

import (
	"slices"
	"strings"
	"unicode"
)

// query is a search as Asset Inventory reads it, without what the simulator leaves
// out: OR, parentheses, and comparisons of times. All terms must hold.
type query []term

// term is "location:us-west*", "NOT state:ACTIVE", or a text that may be anywhere.
type term struct {
	field string // as it was written; empty is any
	exact bool   // with = instead of :
	value string
	not   bool
}

// parseQuery reads a query. known tells the fields that can be asked for.
func parseQuery(text string, known func(field string) bool) (query, *problem) {
	var q query
	words, ok := split(text)
	if !ok {
		return nil, badQuery(text)
	}
	not := false
	for _, word := range words {
		switch {
		case word == "AND":
			continue
		case word == "NOT" && !not:
			not = true
			continue
		case word == "OR" || word == "NOT" || strings.ContainsAny(word, "()<>"):
			return nil, badQuery(word)
		}
		t := term{value: word, not: not}
		if i := strings.IndexAny(word, ":="); i >= 0 && !strings.HasPrefix(word, `"`) {
			t.field, t.exact, t.value = word[:i], word[i] == '=', word[i+1:]
			if !known(t.field) {
				return nil, badQuery(word)
			}
		}
		t.value = strings.Trim(t.value, `"`)
		if t.value == "" {
			return nil, badQuery(word)
		}
		q = append(q, t)
		not = false
	}
	if not {
		return nil, badQuery("NOT")
	}
	return q, nil
}

// split takes a query apart at spaces, except where they are in quotes.
func split(text string) (words []string, ok bool) {
	quoted := false
	words = strings.FieldsFunc(text, func(r rune) bool {
		if r == '"' {
			quoted = !quoted
		}
		return !quoted && unicode.IsSpace(r)
	})
	return words, !quoted
}

// holds tells whether all terms do; texts gives those of a field, or all that there
// are for an empty one.
func (q query) holds(texts func(field string) []string) bool {
	return !slices.ContainsFunc(q, func(t term) bool {
		return t.not == slices.ContainsFunc(texts(t.field), t.fits)
	})
}

// fits compares as Asset Inventory does: word by word without case, each word with
// or without a star at its end.
func (t term) fits(text string) bool {
	if t.exact {
		return strings.EqualFold(text, t.value)
	}
	if t.value == "*" {
		return true
	}
	asked := wordsOf(t.value)
	have := wordsOf(text)
	star := strings.HasSuffix(t.value, "*")
	for at := range have {
		if len(have)-at < len(asked) || len(asked) == 0 {
			return false
		}
		found := true
		for i, word := range asked {
			if star && i == len(asked)-1 {
				found = found && strings.HasPrefix(have[at+i], word)
			} else {
				found = found && have[at+i] == word
			}
		}
		if found {
			return true
		}
	}
	return false
}

func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
