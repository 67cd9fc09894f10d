package databricks

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// verb is what a REST call does.
type verb int

const (
	create verb = iota
	get
	getChunk
	cancel
	remove
)

// call is one of the Statement Execution API. What has a JSON name is the body's.
type call struct {
	verb      verb
	operation string // as in scopes
	id        string
	chunk     int

	Statement     string `json:"statement"`
	WarehouseID   string `json:"warehouse_id"`
	WaitTimeout   string `json:"wait_timeout"`
	OnWaitTimeout string `json:"on_wait_timeout"`
	Disposition   string `json:"disposition"`
	Format        string `json:"format"`

	wait time.Duration
}

// StatementsPath is where the Statement Execution API is.
const StatementsPath = "/api/2.0/sql/statements"

// mostChunks bounds the numbers of chunks, for there are no more rows.
const mostChunks = 1 << 20

// parseCall reads a request; nil is a path that is none of the API's. A problem
// besides is one with the body.
func parseCall(method, path string, body []byte) (*call, problem) {
	none := problem{http.StatusNotFound, "ENDPOINT_NOT_FOUND", "No API found for '" + method + " " + path + "'"}
	rest, ok := strings.CutPrefix(path, StatementsPath)
	if !ok || rest != "" && rest[0] != '/' {
		return nil, none
	}
	parts := strings.Split(strings.Trim(rest, "/"), "/")
	c := &call{id: parts[0]}
	switch shape := method + " " + strconv.Itoa(len(parts)); {
	case c.id == "" && shape == "POST 1":
		c.verb, c.operation = create, "POST "+StatementsPath
		return c, c.body(body)
	case c.id == "":
		return nil, none
	case shape == "GET 1":
		c.verb, c.operation = get, "GET "+StatementsPath+"/{id}"
	case shape == "DELETE 1":
		c.verb, c.operation = remove, "DELETE "+StatementsPath+"/{id}"
	case shape == "POST 2" && parts[1] == "cancel":
		c.verb, c.operation = cancel, "POST "+StatementsPath+"/{id}/cancel"
	case shape == "GET 4" && parts[1] == "result" && parts[2] == "chunks":
		n, err := strconv.Atoi(parts[3])
		if err != nil || n < 0 || n > mostChunks {
			return nil, none
		}
		c.verb, c.operation, c.chunk = getChunk, "GET "+StatementsPath+"/{id}/result/chunks/{id}", n
	default:
		return nil, none
	}
	return c, problem{}
}

// body reads what a statement is executed with.
func (c *call) body(text []byte) problem {
	bad := func(message string) problem {
		return problem{http.StatusBadRequest, "INVALID_PARAMETER_VALUE", message}
	}
	if err := json.Unmarshal(text, c); err != nil {
		return problem{http.StatusBadRequest, "MALFORMED_REQUEST", "Could not parse the request as JSON."}
	}
	switch {
	case strings.TrimSpace(c.Statement) == "":
		return bad("statement must be set")
	case c.WarehouseID == "":
		return bad("warehouse_id must be set")
	case c.OnWaitTimeout != "" && c.OnWaitTimeout != "CONTINUE" && c.OnWaitTimeout != "CANCEL":
		return bad("on_wait_timeout must be CONTINUE or CANCEL")
	case c.Disposition != "" && c.Disposition != "INLINE", c.Format != "" && c.Format != "JSON_ARRAY":
		return problem{http.StatusNotImplemented, "NOT_IMPLEMENTED", "Only disposition INLINE and format JSON_ARRAY are simulated."}
	case c.WaitTimeout == "":
		c.wait = 10 * time.Second
		return problem{}
	}
	n, err := strconv.Atoi(strings.TrimSuffix(c.WaitTimeout, "s"))
	if err != nil || !strings.HasSuffix(c.WaitTimeout, "s") || n != 0 && (n < 5 || n > 50) {
		return bad("wait_timeout must be 0s, or between 5s and 50s")
	}
	if n == 0 && c.OnWaitTimeout == "CANCEL" {
		return bad("on_wait_timeout cannot be CANCEL when wait_timeout is 0s")
	}
	c.wait = time.Duration(n) * time.Second
	return problem{}
}
