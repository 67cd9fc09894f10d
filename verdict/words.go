package verdict

import "strings"

// maxText bounds how much of a text is searched for words.
const maxText = 8 << 10

// throttlePhrases are the words that mean throttling in a text, where neither code
// nor status says anything.
var throttlePhrases = []string{"rate exceeded", "too many requests", "throttl", "slow down"}

// throttleWords tells which of the phrases the text has.
func throttleWords(text string) (string, bool) {
	text = strings.ToLower(head(text, maxText))
	for _, p := range throttlePhrases {
		if strings.Contains(text, p) {
			return p, true
		}
	}
	return "", false
}

// fillers are the words that may stand around the phrases in a body that says
// nothing else.
var fillers = wordSet(`a after again an and are been being by count currently error errors exceeded
	few for has have http https in is it later limit limited message minute minutes moment of on our please
	rate request requests response retry second seconds sent server service so some soon sorry status
	the this time to too try wait was we you your
	429 503 400 403 502 1 0 nginx`)

func wordSet(s string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(s) {
		set[w] = true
	}
	return set
}

// onlyThrottleWords tells whether a text says throttling and nothing besides.
// "Access denied: too many requests from this network are not allowed" says more.
func onlyThrottleWords(text string) bool {
	if text == "" || len(text) > 1<<10 {
		return false
	}
	text = strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !('a' <= r && r <= 'z' || '0' <= r && r <= '9' || r > 127)
	}), " ")
	found := false
	for _, p := range []string{"rate exceeded", "too many requests", "slow down"} {
		if strings.Contains(text, p) {
			found = true
			text = strings.ReplaceAll(text, p, " ")
		}
	}
	for _, w := range strings.Fields(text) {
		switch {
		case strings.HasPrefix(w, "throttl"):
			found = true
		case !fillers[w]:
			return false
		}
	}
	return found
}

// aboutRate tells whether the message of a LimitExceededException is about a rate
// (S2.6). "rate" and "tps" count as words, also inside a camel-case name: as mere
// letters they are in "generated" and in every "https://".
func aboutRate(message string) bool {
	message = head(message, maxText)
	lower := strings.ToLower(message)
	for _, p := range []string{"throttl", "too many", "per second"} {
		if strings.Contains(lower, p) {
			return true
		}
	}
	return hasWord(message, "rate", "limit") || hasWord(message, "tps", "")
}

// hasWord finds a word, its plural, or the word with the given tail. ASCII only;
// indices are those of the message itself, so no lower-casing that changes lengths.
func hasWord(s, word, tail string) bool {
	for i := 0; i+len(word) <= len(s); i++ {
		if !strings.EqualFold(s[i:i+len(word)], word) {
			continue
		}
		if i > 0 && letter(s[i-1]) && !(lowerLetter(s[i-1]) && !lowerLetter(s[i])) {
			continue
		}
		rest := s[i+len(word):]
		if tail != "" && len(rest) >= len(tail) && strings.EqualFold(rest[:len(tail)], tail) {
			return true
		}
		if len(rest) > 0 && (rest[0] == 's' || rest[0] == 'S') {
			rest = rest[1:]
		}
		if len(rest) == 0 || !lowerLetter(rest[0]) && !(letter(rest[0]) && !lowerLetter(s[i+len(word)-1])) {
			return true
		}
	}
	return false
}

func letter(c byte) bool      { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func lowerLetter(c byte) bool { return 'a' <= c && c <= 'z' }

// head cuts a text to at most n bytes.
func head(s string, n int) string {
	if len(s) > n {
		return s[:n]
	}
	return s
}

// retryQuota recognizes the error of the AWS SDK's own token bucket ("retry quota
// exceeded, 3 available, 5 requested"), whose type has no methods to know it by.
func retryQuota(err error) bool {
	_, rest, ok := strings.Cut(head(err.Error(), maxText), "retry quota exceeded, ")
	if !ok {
		return false
	}
	number, rest, ok := strings.Cut(rest, " available, ")
	if !ok || !digits(number) {
		return false
	}
	number, _, ok = strings.Cut(rest, " requested")
	return ok && digits(number)
}
