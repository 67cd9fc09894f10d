package pacedatabricks

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"github.com/cloudpace/cloudpace/verdict"
)

// window is the length from which a run of bytes that a message shares with the
// request counts as quoting it.
const window = 8

// quotable gives what the server said, if that may be told: a message about a
// statement may quote it. So where the request carries more than a handle, only
// what refuses or fails before the statement is read may speak, and that only in
// words of its own.
func (x *exchange) quotable(r *verdict.Result) string {
	req := x.req
	if r.Message == "" || x.command.Repeatable || req.Body == nil || req.Body == http.NoBody {
		return r.Message
	}
	switch {
	case r.Kind == verdict.Throttled:
	case r.Status == http.StatusServiceUnavailable, r.Status == http.StatusBadGateway, r.Status == http.StatusGatewayTimeout:
	default:
		return ""
	}
	if req.GetBody == nil {
		return ""
	}
	body, err := req.GetBody()
	if err != nil {
		return ""
	}
	defer body.Close()
	text, err := io.ReadAll(io.LimitReader(body, replayed))
	if err != nil {
		return ""
	}
	for _, said := range sayings(text) {
		if shares(r.Message, said) {
			return ""
		}
	}
	return r.Message
}

// sayings are the texts in a request's body: the strings of a JSON document, else
// the body itself, as Thrift has it.
func sayings(body []byte) []string {
	var document any
	if json.Unmarshal(body, &document) != nil {
		return []string{string(body)}
	}
	var list []string
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			list = append(list, v)
		case []any:
			for _, item := range v {
				walk(item)
			}
		case map[string]any:
			for _, item := range v {
				walk(item)
			}
		}
	}
	walk(document)
	return list
}

// shares tells whether a message has a run of bytes of what was said, or the whole
// of it where that is short. One or two letters are in every message.
func shares(message, said string) bool {
	if said = strings.TrimSpace(said); len(said) < window {
		return len(said) > 2 && strings.Contains(message, said)
	}
	in := []byte(said)
	for i := 0; i+window <= len(message); i++ {
		if bytes.Contains(in, []byte(message[i:i+window])) {
			return true
		}
	}
	return false
}
