package azure

import "strings"

// token is a piece of a query.
type token struct {
	kind         tokenKind
	text         string
	line, column int
}

type tokenKind int

const (
	end     tokenKind = iota
	word              // a name or an operator that is one
	number            // digits
	literal           // a text in quotes, without them
	sign              // anything else
)

// signs of more than one character, and words that start with one.
var signs = []string{"==", "=~", "!=", "!~", "!in~", "!in"}

// lex takes a query apart. What it cannot read is a sign, which no rule knows.
func lex(text string) (tokens []token) {
	line, start := 1, 0
	for i := 0; i < len(text); {
		c := text[i]
		here := token{line: line, column: i - start}
		switch {
		case c == '\n':
			line++
			start = i + 1
			i++
			continue
		case c == ' ' || c == '\t' || c == '\r':
			i++
			continue
		case strings.HasPrefix(text[i:], "//"):
			for i < len(text) && text[i] != '\n' {
				i++
			}
			continue
		case c == '\'' || c == '"':
			closing := strings.IndexByte(text[i+1:], c)
			if closing < 0 {
				here.kind, here.text = sign, string(c)
				i = len(text)
				break
			}
			here.kind, here.text = literal, text[i+1:i+1+closing]
			line += strings.Count(here.text, "\n")
			i += closing + 2
		case letter(c):
			j := i
			for j < len(text) && (letter(text[j]) || digit(text[j])) {
				j++
			}
			here.kind, here.text = word, text[i:j]
			if j < len(text) && text[j] == '~' && strings.EqualFold(here.text, "in") {
				here.text += "~"
				j++
			}
			i = j
		case digit(c):
			j := i
			for j < len(text) && digit(text[j]) {
				j++
			}
			here.kind, here.text = number, text[i:j]
			i = j
		default:
			here.kind, here.text = sign, string(c)
			for _, s := range signs {
				if len(text)-i >= len(s) && strings.EqualFold(text[i:i+len(s)], s) {
					here.text = s
					break
				}
			}
			i += len(here.text)
			if c >= 0x80 {
				i = i - len(here.text) + 1
			}
		}
		tokens = append(tokens, here)
	}
	return append(tokens, token{kind: end, line: line, column: max(0, len(text)-start)})
}

func letter(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func digit(c byte) bool { return c >= '0' && c <= '9' }
