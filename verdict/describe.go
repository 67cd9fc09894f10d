package verdict

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// label stands in front of the text of every throttle.
const label = "throttled: "

// Describe gives the text of err with "throttled: " in front when [Classify] calls it
// a throttle, once, however often it was described and wrapped before. Credentials
// that stand in the text are replaced. Describe(nil) is "".
func Describe(err error) string { return DescribeFor("", err) }

// DescribeFor is Describe with the codes of the named provider, as [ClassifyFor] is
// Classify: its label agrees with ClassifyFor's kind.
func DescribeFor(provider string, err error) string {
	if err == nil {
		return ""
	}
	r := Examine(provider, err)
	text := scrub(safeText(err))
	if r.Kind != Throttled {
		return text
	}
	return label + unlabel(text)
}

// unlabel takes labels off that stand where wrapping puts them: at the beginning and
// after ": ".
func unlabel(text string) string {
	for strings.HasPrefix(text, label) {
		text = text[len(label):]
	}
	for strings.Contains(text, ": "+label) {
		text = strings.ReplaceAll(text, ": "+label, ": ")
	}
	return text
}

// safeText is err.Error(), and no panic where that panics.
func safeText(err error) (text string) {
	defer func() {
		if recover() != nil {
			text = "the error cannot be read"
		}
	}()
	return err.Error()
}

// maxMessage bounds Result.Message and Reason, in bytes. maxScrubbed bounds what is
// searched for secrets to make one.
const (
	maxMessage  = 512
	maxScrubbed = 4 * maxMessage
)

// oneLine makes a text of others fit for a log line: no control characters, valid
// UTF-8, bounded, no secrets.
func oneLine(s string) string {
	s = strings.ToValidUTF8(head(s, maxText), "\uFFFD")
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	rest := len(s) > maxScrubbed
	s = scrub(head(s, maxScrubbed))
	if rest && len(s) <= maxMessage {
		// So much was secret that the end shows, where a secret may be cut in two.
		s = s[:strings.LastIndexByte(s, ' ')+1] + "…"
	}
	if len(s) <= maxMessage {
		return s
	}
	cut := maxMessage - len("…")
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// secret is a shape in which credentials get into error texts: signed URLs,
// Authorization headers, tokens.
type secret struct {
	needs []string // one of these is in every such text, in lower case
	re    *regexp.Regexp
	with  string // the first group is kept
}

var secrets = []secret{
	{[]string{"="}, regexp.MustCompile(`(?i)([?&](?:sig|signature|x-amz-signature|x-amz-credential|x-amz-security-token|x-goog-signature|x-goog-credential|access_token|id_token|refresh_token|client_secret|client_assertion|token|password|key|api_key|apikey)=)[^&\s"'<>]+`), "$1…"},
	{[]string{"bearer", "basic"}, regexp.MustCompile(`(?i)(\b(?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{8,}`), "$1…"},
	{[]string{"authorization"}, regexp.MustCompile(`(?i)(\bauthorization["']?\s*[:=]\s*["']?)(?:(?:aws4-hmac-sha256|bearer|basic|sharedkey)\s)?[^\s"',]+`), "$1…"},
	{[]string{"signature="}, regexp.MustCompile(`(?i)(\bsignature=)[0-9a-f]{32,}`), "$1…"},
	{[]string{"eyj"}, regexp.MustCompile(`(\b)eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?`), "$1…"},
	{[]string{"dapi"}, regexp.MustCompile(`(\b)dapi[0-9a-f]{32}(?:-\d)?\b`), "$1…"},
	{[]string{"://"}, regexp.MustCompile(`(://[^/\s:@]*:)[^/\s@]+(?:@)`), "$1…@"},
}

// scrub replaces credentials by "…". Most texts have none, and looking for a word
// costs a hundredth of looking for an expression.
func scrub(s string) string {
	lower := strings.ToLower(s)
	for _, secret := range secrets {
		if slices.ContainsFunc(secret.needs, func(word string) bool { return strings.Contains(lower, word) }) {
			s = secret.re.ReplaceAllString(s, secret.with)
		}
	}
	return s
}
