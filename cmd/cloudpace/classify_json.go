package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// headers are {"name": "value"} or {"name": ["value", "value"]}. Numbers are taken
// as they are written.
type headers http.Header

func (h *headers) UnmarshalJSON(text []byte) error {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		return errors.New("headers: not an object")
	}
	if raw == nil {
		return nil
	}
	*h = headers{}
	for name, value := range raw {
		var lines []json.RawMessage
		if json.Unmarshal(value, &lines) != nil {
			lines = []json.RawMessage{value}
		}
		for _, line := range lines {
			s, err := headerValue(line)
			if err != nil {
				return fmt.Errorf("headers: %s: %w", name, err)
			}
			http.Header(*h).Add(name, s)
		}
	}
	return nil
}

func headerValue(text json.RawMessage) (string, error) {
	var s string
	if json.Unmarshal(text, &s) == nil && string(text) != "null" {
		return s, nil
	}
	var n json.Number
	if json.Unmarshal(text, &n) == nil && n != "" {
		return n.String(), nil
	}
	return "", errors.New("neither a text nor a list of texts")
}

// body is a text, or JSON that is kept as it was written.
type body []byte

func (b *body) UnmarshalJSON(text []byte) error {
	var s string
	switch {
	case string(text) == "null":
	case json.Unmarshal(text, &s) == nil:
		*b = body(s)
	default:
		*b = append(body(nil), text...)
	}
	return nil
}

// rpcCodes are google.rpc.Code's names by number.
var rpcCodes = [...]string{
	"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED",
	"RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
}

// rpcCode is a status code of gRPC, by name in either spelling ("UNAVAILABLE",
// "ResourceExhausted") or by number.
type rpcCode struct {
	name   string
	number int
}

func (c *rpcCode) UnmarshalJSON(text []byte) error {
	var n int
	if string(text) != "null" && json.Unmarshal(text, &n) == nil && 0 <= n && n < len(rpcCodes) {
		*c = rpcCode{rpcCodes[n], n}
		return nil
	}
	var s string
	if json.Unmarshal(text, &s) == nil {
		plain := func(s string) string { return strings.ToUpper(strings.ReplaceAll(s, "_", "")) }
		for n, name := range rpcCodes {
			if plain(s) == plain(name) || plain(s) == "CANCELED" && name == "CANCELLED" {
				*c = rpcCode{name, n}
				return nil
			}
		}
	}
	return fmt.Errorf("grpc: %.40s is no code", text)
}
