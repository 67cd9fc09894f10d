package verdict

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"encoding/xml"
	"io"
	"net/http"
	"strings"
)

// maxBody is how much of a body is read.
const maxBody = 64 << 10

// maxDepth bounds the nesting that is followed in outside documents.
const maxDepth = 32

type form int

const (
	empty form = iota
	jsonForm
	xmlForm
	html
	plainText
	binary
)

// document is a body that has been looked at. Parsing stops at the first thing that
// cannot be read and keeps what came before it, so that a body cut off at maxBody
// still gives its code.
type document struct {
	form       form
	json       any // map[string]any, []any, string, float64, bool or nil
	xmlCodes   []string
	xmlMessage string
	text       string // plain text, or the words of an HTML page
}

// parseDocument finds out what a body is by its first bytes, since what servers and
// proxies say in Content-Type is often wrong, and reads it.
func parseDocument(header http.Header, body []byte) *document {
	body = bytes.TrimLeft(bytes.TrimPrefix(plain(body), []byte("\xef\xbb\xbf")), " \t\r\n")
	d := &document{}
	if len(body) == 0 {
		return d
	}
	start := strings.ToLower(string(body[:min(len(body), 64)]))
	switch {
	case strings.HasPrefix(start, "<!doctype html"), strings.HasPrefix(start, "<html"), strings.HasPrefix(start, "<head"), strings.HasPrefix(start, "<body"):
		d.form, d.text = html, pageWords(body)
	case body[0] == '<' && strings.HasPrefix(strings.ToLower(value(header, "Content-Type")), "text/html"):
		d.form, d.text = html, pageWords(body)
	case body[0] == '<':
		d.form = xmlForm
		d.readXML(body)
	case body[0] == '{', body[0] == '[', body[0] == '"':
		d.form = jsonForm
		dec := json.NewDecoder(bytes.NewReader(body))
		d.json, _ = readJSON(dec, 0)
		if s, ok := d.json.(string); ok {
			d.form, d.text = plainText, s
		}
	case bytes.IndexByte(body, 0) >= 0 || body[0] < 0x20:
		d.form = binary // Thrift, protobuf
	default:
		d.form, d.text = plainText, string(bytes.TrimSpace(body))
	}
	return d
}

// plain bounds the body and unpacks it if it is still gzip.
func plain(body []byte) []byte {
	if len(body) > 2 && body[0] == 0x1f && body[1] == 0x8b {
		if z, err := gzip.NewReader(bytes.NewReader(body)); err == nil {
			body, _ = io.ReadAll(io.LimitReader(z, maxBody)) // what was read before an error is kept
		}
	}
	return body[:min(len(body), maxBody)]
}

// readJSON reads one value and gives what there is of it when the text ends early.
// Of keys that are there twice the first counts.
func readJSON(dec *json.Decoder, depth int) (any, bool) {
	token, err := dec.Token()
	if err != nil || depth > maxDepth {
		return nil, false
	}
	delim, ok := token.(json.Delim)
	if !ok {
		return token, true
	}
	switch delim {
	case '{':
		m := map[string]any{}
		for dec.More() {
			key, err := dec.Token()
			if err != nil {
				return m, false
			}
			v, ok := readJSON(dec, depth+1)
			name, _ := key.(string)
			if _, twice := m[name]; !twice && v != nil {
				m[name] = v
			}
			if !ok {
				return m, false
			}
		}
		_, err := dec.Token()
		return m, err == nil
	case '[':
		l := []any{}
		for dec.More() {
			v, ok := readJSON(dec, depth+1)
			if v != nil {
				l = append(l, v)
			}
			if !ok {
				return l, false
			}
		}
		_, err := dec.Token()
		return l, err == nil
	}
	return nil, false
}

func object(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

func text(m map[string]any, key string) string {
	s, _ := m[key].(string)
	return s
}

// readXML collects the <Code> elements of errors and the first <Message>: query services
// answer with <ErrorResponse><Error>, EC2 with <Response><Errors><Error>, S3 with a
// bare <Error>, and its batch results with several of them.
func (d *document) readXML(body []byte) {
	dec := xml.NewDecoder(bytes.NewReader(body))
	dec.Strict = false
	dec.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	var path []string // the open elements
	var content strings.Builder
	for range 16 << 10 {
		token, err := dec.RawToken()
		if err != nil {
			return
		}
		switch t := token.(type) {
		case xml.StartElement:
			if len(path) > maxDepth {
				return
			}
			path = append(path, t.Name.Local)
			content.Reset()
		case xml.CharData:
			if content.Len() < maxText {
				content.Write(t)
			}
		case xml.EndElement:
			s := strings.TrimSpace(content.String())
			switch name := t.Name.Local; {
			case s == "" || !inError(path, name):
			case name == "Code" && len(d.xmlCodes) < 32:
				d.xmlCodes = append(d.xmlCodes, s)
			case name == "Message" && d.xmlMessage == "":
				d.xmlMessage = s
			}
			if len(path) > 0 {
				path = path[:len(path)-1]
			}
			content.Reset()
		}
	}
}

// inError tells whether the innermost open element is the named one and stands in an
// error, or alone. In a success <Code> is data.
func inError(path []string, name string) bool {
	n := len(path)
	return n > 0 && path[n-1] == name && (n == 1 || strings.Contains(path[n-2], "Error"))
}

// pageWords gives the words of an HTML page, without tags, styles and scripts. It
// is no parser: it need only tell a bare "Too Many Requests" from a page that says
// more.
func pageWords(page []byte) string {
	var out strings.Builder
	s, lower := string(page), asciiLower(page) // of the same length
	for s != "" && out.Len() < maxText {
		i := strings.IndexByte(s, '<')
		if i < 0 {
			i = len(s)
		}
		out.WriteString(s[:i])
		out.WriteByte(' ')
		end := strings.IndexByte(s[i:], '>')
		if end < 0 {
			break
		}
		for _, hidden := range []string{"script", "style"} {
			if strings.HasPrefix(lower[i:], "<"+hidden) {
				// Without an end the rest is hidden.
				stop := strings.Index(lower[i:], "</"+hidden)
				if stop < 0 {
					return strings.Join(strings.Fields(out.String()), " ")
				}
				end = stop - 1
			}
		}
		s, lower = s[i+end+1:], lower[i+end+1:]
	}
	return strings.Join(strings.Fields(out.String()), " ")
}

func asciiLower(b []byte) string {
	out := make([]byte, len(b))
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		out[i] = c
	}
	return string(out)
}
