package inventory

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"time"
)

// Asset is one thing that exists in an account: a line of assets.jsonl.
type Asset struct {
	Provider string `json:"provider"`
	Account  string `json:"account"`
	// Region is the provider's region, or its name for what belongs to none
	// ("aws-global").
	Region string `json:"region"`
	// Type is the provider's own name of the type: "AWS::EC2::Instance".
	Type string `json:"type"`
	// ID is unique within provider, account, region and type.
	ID   string `json:"id"`
	ARN  string `json:"arn,omitempty"`
	Name string `json:"name,omitempty"`
	// Tags is empty, but there, when the asset has none, and missing from the
	// line when they were not read.
	Tags map[string]string `json:"tags,omitzero"`
	// Properties are what the provider answered, under its own names; see
	// [Native].
	Properties json.RawMessage `json:"properties,omitempty"`
	// Missing names the details that could not be read for this asset, with the
	// reason: {"launch_permissions": "throttled"}.
	Missing map[string]Reason `json:"missing,omitempty"`

	Task string    `json:"task"` // the task that found it
	Time time.Time `json:"time"` // when it was read, UTC
}

// lack notes that a detail could not be read.
func (a *Asset) lack(detail string, why Reason) {
	if a.Missing == nil {
		a.Missing = make(map[string]Reason)
	}
	a.Missing[detail] = why
}

// Add puts what a detail brought among the properties. An empty list is data
// and stays: nobody else may launch this image.
func (a *Asset) Add(name string, v any) {
	var b bytes.Buffer
	rest := bytes.TrimSuffix(a.Properties, []byte("}"))
	if len(rest) == 0 {
		rest = []byte("{")
	}
	b.Write(rest)
	if len(rest) > 1 {
		b.WriteByte(',')
	}
	fmt.Fprintf(&b, "%q:", name)
	element(&b, reflect.ValueOf(v))
	b.WriteByte('}')
	a.Properties = b.Bytes()
}
