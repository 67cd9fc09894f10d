// Package databricks reads what a request to a Databricks workspace asks for:
// which command of which API, in which session and query, and whether it may be
// sent twice. It reads the first bytes of a Thrift message, or method and path of a
// REST request, and never what is secret in them.
package databricks

import (
	"encoding/hex"
	"net/url"
	"strings"
)

// Command is what one request asks for.
type Command struct {
	// Service is the API: "sql" (Thrift), "sqlexec" (Statement Execution), else the
	// REST API's own name, "jobs".
	Service string
	// Name is Thrift's method, or verb and path template:
	// "GET /api/2.0/sql/statements/{id}".
	Name string
	// Repeatable commands may run twice: asking for a status, reading by GET,
	// cancelling and closing.
	Repeatable bool

	statement string // REST's id of one
	handle    handle
	guid      [16]byte
}

// handle says what a Thrift message's first id is the id of.
type handle uint8

const (
	none handle = iota
	session
	operation
)

// SessionID is the Thrift session that the command belongs to, as Databricks shows
// it, or empty.
func (c *Command) SessionID() string { return c.id(session) }

// QueryID is the statement that the command is about, as Databricks shows it, or
// empty.
func (c *Command) QueryID() string {
	if c.statement != "" {
		return c.statement
	}
	return c.id(operation)
}

func (c *Command) id(of handle) string {
	if c.handle != of {
		return ""
	}
	var text [36]byte
	for i, part := range [...][2]int{{0, 4}, {4, 6}, {6, 8}, {8, 10}, {10, 16}} {
		hex.Encode(text[2*part[0]+i:], c.guid[part[0]:part[1]])
		if part[1] < 16 {
			text[2*part[1]+i] = '-'
		}
	}
	return string(text[:])
}

// Workspace is the host of a URL as scopes have it: in lower case, without the
// port that its scheme has anyway.
func Workspace(u *url.URL) string {
	host := strings.ToLower(u.Host)
	switch u.Scheme {
	case "https":
		return strings.TrimSuffix(host, ":443")
	case "http":
		return strings.TrimSuffix(host, ":80")
	}
	return host
}

// Outcome is what is known of an attempt that failed.
type Outcome struct {
	Status int  // of the answer, 0 without one
	Told   bool // the answer has a Retry-After, readable or not
	Passes bool // its code or message says that it will pass, where the status does not
	Broken bool // there is no answer: the connection failed, in a way that may pass
	Unsent bool // … before anything was sent, or the server gave it back unprocessed
}

// Repeats tells whether a command may be sent again after an attempt that failed
// (S14.2): any command where it is certain that it was not run, a repeatable one
// also where that is not known.
func (c *Command) Repeats(o Outcome) bool {
	switch o.Status {
	case 0:
		return o.Broken && (o.Unsent || c.Repeatable) || o.Passes && c.Repeatable
	case 429, 503:
		return o.Told || c.Repeatable
	case 502, 504:
		return c.Repeatable
	}
	return c.Repeatable && o.Passes
}
