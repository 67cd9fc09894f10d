package pacedatabricks

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"github.com/cloudpace/cloudpace/internal/httpbody"
	"github.com/cloudpace/cloudpace/verdict"
)

// window is the length from which a run of bytes that a message shares with the
// request counts as quoting it.
const window = 8

// quotable gives what the server said, if that may be told: a message about a
// statement may quote it. So of such requests only what refuses or fails before the
// statement is looked at may speak, and only in words that the request has not.
func (x *exchange) quotable(r *verdict.Result) string {
	sql := x.command.Service == "sql" || x.command.Service == "sqlexec"
	hasBody := httpbody.Has(x.req)
	switch {
	case r.Message == "" || !sql && !hasBody:
		return r.Message
	case strings.Contains(strings.ToUpper(r.Message), "== SQL"): // how Spark quotes one
		return ""
	case r.Kind == verdict.Throttled:
	default:
		switch r.Status {
		case http.StatusServiceUnavailable, http.StatusBadGateway, http.StatusGatewayTimeout:
		case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound:
			if !x.command.Repeatable {
				return ""
			}
		default:
			return ""
		}
	}
	if x.command.Repeatable || !hasBody {
		return r.Message // the request has nothing but an id
	}
	if x.req.GetBody == nil {
		return ""
	}
	body, err := x.req.GetBody()
	if err != nil {
		return ""
	}
	defer body.Close()
	text, err := io.ReadAll(io.LimitReader(body, replayed+1))
	if err != nil || len(text) > replayed {
		return ""
	}
	message := strings.ToLower(r.Message)
	for _, said := range sayings(text) {
		if shares(message, strings.ToLower(said)) {
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
