package verdict

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// label stands in front of the text of every throttle.
const label = "throttled: "

// Describe gives the text of err with "throttled: " in front when err is a
// throttle, once, however often it was described and wrapped before. Credentials
// that stand in the text are replaced. Describe(nil) is "".
func Describe(err error) string {
	if err == nil {
		return ""
	}
	r := Examine("", err)
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

// maxMessage bounds Result.Message and Reason, in bytes.
const maxMessage = 512

// oneLine makes a text of others fit for a log line: no control characters, valid
// UTF-8, bounded, no secrets.
func oneLine(s string) string {
	s = strings.ToValidUTF8(head(s, maxText), "\uFFFD")
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	s = scrub(s)
	if len(s) <= maxMessage {
		return s
	}
	cut := maxMessage - len("…")
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// secrets are the shapes in which credentials get into error texts: signed URLs,
// Authorization headers, tokens. The first group is kept.
var secrets = []*regexp.Regexp{
	regexp.MustCompile(`(?i)([?&](?:sig|signature|x-amz-signature|x-amz-credential|x-amz-security-token|x-goog-signature|x-goog-credential|access_token|id_token|refresh_token|client_secret|client_assertion|token|password|key|api_key|apikey)=)[^&\s"'<>]+`),
	regexp.MustCompile(`(?i)(\b(?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{8,}`),
	regexp.MustCompile(`(?i)(\bauthorization["']?\s*[:=]\s*["']?)(?:(?:aws4-hmac-sha256|bearer|basic|sharedkey)\s)?[^\s"',]+`),
	regexp.MustCompile(`(?i)(\bsignature=)[0-9a-f]{32,}`),
	regexp.MustCompile(`(\b)eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?`),
	regexp.MustCompile(`(\b)dapi[0-9a-f]{32}(?:-\d)?\b`),
	regexp.MustCompile(`(://[^/\s:@]*:)[^/\s@]+(?:@)`),
}

// scrub replaces credentials by "…".
func scrub(s string) string {
	for i, re := range secrets {
		if i == len(secrets)-1 {
			s = re.ReplaceAllString(s, "$1…@")
			continue
		}
		s = re.ReplaceAllString(s, "$1…")
	}
	return s
}
