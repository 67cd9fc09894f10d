package azure

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/cloudpace/cloudpace/verdict"
)

// briefError says in a line what the SDK says in twenty: its errors print the whole
// answer between rulers.
type briefError struct {
	err    error
	answer *azcore.ResponseError
}

// brief shortens the text of an error; what is in it stays.
func brief(err error) error {
	var answer *azcore.ResponseError
	if !errors.As(err, &answer) {
		return err
	}
	return &briefError{err, answer}
}

// Unwrap gives the error.
func (e *briefError) Unwrap() error { return e.err }

// Error names the request, the status, the code, and what the service says.
func (e *briefError) Error() string {
	return strings.ReplaceAll(e.err.Error(), e.answer.Error(), e.line())
}

func (e *briefError) line() string {
	r := verdict.Examine(Provider, e.answer)
	var b strings.Builder
	if raw := e.answer.RawResponse; raw != nil && raw.Request != nil {
		fmt.Fprintf(&b, "%s %s: ", raw.Request.Method, raw.Request.URL.Path)
	}
	fmt.Fprintf(&b, "%d", e.answer.StatusCode)
	if e.answer.ErrorCode != "" {
		b.WriteString(" " + e.answer.ErrorCode)
	}
	if r.Message != "" {
		b.WriteString(": " + r.Message)
	}
	for _, d := range e.details() {
		b.WriteString("; " + d)
	}
	return b.String()
}

// detail is one of an answer's: Resource Graph has there what was wrong with a query.
type detail struct {
	Code, Message, Token string
	Line                 int
	Character            int `json:"characterPositionInLine"`
}

// mostDetails and mostDetail bound what is shown.
const (
	mostDetails = 4
	mostDetail  = 200
)

func (e *briefError) details() (list []string) {
	if e.answer.RawResponse == nil {
		return nil
	}
	kept, ok := e.answer.RawResponse.Body.(interface{ Bytes() []byte })
	if !ok {
		return nil
	}
	var body struct {
		Error struct{ Details []detail }
	}
	if json.Unmarshal(kept.Bytes(), &body) != nil {
		return nil
	}
	for _, d := range body.Error.Details {
		text := d.Code
		if d.Message != "" && d.Message != d.Code {
			text += ": " + strings.Join(strings.Fields(d.Message), " ")
		}
		if d.Line > 0 {
			text += fmt.Sprintf(" (line %d, character %d, at %q)", d.Line, d.Character, d.Token)
		}
		if len(text) > mostDetail {
			text = strings.ToValidUTF8(text[:mostDetail], "") + "…"
		}
		if text != "" && len(list) < mostDetails {
			list = append(list, text)
		}
	}
	return list
}
