package inventory

import (
	"testing"
	"time"
)

// color is an enumeration as SDKs declare it.
type color string

type inner struct {
	Name  *string
	Empty *string
}

type metadata struct{ values map[any]any }

type answer struct {
	ID             *string
	No             *bool
	Zero           *int32
	Unset          *int32
	State          color
	Size           int64
	When           *time.Time
	Never          time.Time
	Blob           []byte
	Nested         *inner
	Hollow         inner
	List           []inner
	Words          []string
	Map            map[string]string
	Any            any
	ResultMetadata metadata
	hidden         string
}

func TestNative(t *testing.T) {
	text, no, zero := "a<b", false, int32(0)
	when := time.Date(2026, 11, 30, 1, 2, 3, 0, time.UTC)
	for _, c := range []struct {
		name string
		in   any
		want string
	}{
		{"nothing", answer{}, `{}`},
		{"a pointer to zero is an answer", answer{No: &no, Zero: &zero}, `{"No":false,"Zero":0}`},
		{"in the order of the fields", &answer{ID: &text, State: "red", Size: 7, When: &when}, `{"ID":"a<b","State":"red","Size":7,"When":"2026-11-30T01:02:03Z"}`},
		{"nested", answer{Nested: &inner{Name: &text}, Hollow: inner{}}, `{"Nested":{"Name":"a<b"}}`},
		{"lists keep their length", answer{List: []inner{{}, {Name: &text}}, Words: []string{"", "x"}}, `{"List":[{},{"Name":"a<b"}],"Words":["","x"]}`},
		{"maps are sorted and keep their keys", answer{Map: map[string]string{"b": "", "a": "1"}}, `{"Map":{"a":"1","b":""}}`},
		{"bytes", answer{Blob: []byte("hi")}, `{"Blob":"aGk="}`},
		{"unions", answer{Any: &inner{Name: &text}}, `{"Any":{"Name":"a<b"}}`},
		{"the SDK's own", answer{ResultMetadata: metadata{map[any]any{1: 2}}, hidden: "x"}, `{}`},
		{"nil", nil, `{}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := string(Native(c.in)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestAdd(t *testing.T) {
	name := "x"
	a := Asset{Properties: Native(inner{Name: &name})}
	a.Add("None", []string{})
	a.Add("Some", []inner{{Name: &name}})
	if got, want := string(a.Properties), `{"Name":"x","None":[],"Some":[{"Name":"x"}]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	var bare Asset
	bare.Add("Url", "u")
	if got, want := string(bare.Properties), `{"Url":"u"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
