package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/cloudpace/cloudpace"
)

const (
	maxValues = 20_000 // values that a text may have, aliases counted as what they stand for
	maxLevels = 16     // more than any key has
)

// parse makes a tree of a YAML text. It always returns one, so that what overrides
// the file is checked even when the file is broken.
func (r *reader) parse(text []byte, placeForm string) (root *value) {
	root = &value{}
	if len(text) > maxSize {
		r.broken = true
		r.fail(place{}, fmt.Errorf("the text is longer than %d bytes", maxSize))
		return root
	}
	// The parser works on text from outside. Should it panic on some of it, this is
	// no reason to take the program down.
	defer func() {
		if p := recover(); p != nil {
			r.broken = true
			r.fail(place{}, fmt.Errorf("the text cannot be read as YAML: %v", p))
			root = &value{}
		}
	}()
	loader, err := yaml.NewLoader(bytes.NewReader(text))
	if err != nil {
		r.broken = true
		r.fail(place{}, err)
		return root
	}
	var document yaml.Node
	switch err := loader.Load(&document); {
	case errors.Is(err, io.EOF):
		return root
	case err != nil:
		r.broken = true
		r.fail(place{}, err)
		return root
	}
	t := treeMaker{reader: r, place: placeForm}
	if len(document.Content) > 0 {
		root = t.make(document.Content[0], 0, "")
	}
	if t.values > maxValues {
		r.broken = true
		r.fail(place{}, fmt.Errorf("the text has more than %d values", maxValues))
		return &value{}
	}
	var second yaml.Node
	switch err := loader.Load(&second); {
	case errors.Is(err, io.EOF):
	case err != nil:
		r.broken = true
		r.fail(place{}, err)
	default:
		r.fail(t.at(&second), errors.New("a second YAML document; one file is one document"))
	}
	return root
}

type treeMaker struct {
	*reader
	place  string
	values int
}

func (t *treeMaker) at(n *yaml.Node) place {
	return place{fmt.Sprintf(t.place, n.Line), n.Line}
}

func (t *treeMaker) make(n *yaml.Node, level int, path string) *value {
	at := t.at(n) // of an alias, its own and not its anchor's
	for n.Kind == yaml.AliasNode && n.Alias != nil {
		n = n.Alias
	}
	v := &value{at: at}
	if t.values++; t.values > maxValues || level > maxLevels {
		v.other = "nested too deep"
		return v
	}
	switch n.Kind {
	case yaml.ScalarNode:
		if n.ShortTag() == "!!null" {
			v.null = true
			return v
		}
		v.scalar, v.text = true, n.Value
		v.plain = n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle|yaml.TaggedStyle) == 0
	case yaml.MappingNode:
		t.fields(v, n, level, path)
	case yaml.SequenceNode:
		v.other = "a list"
	default:
		v.other = "something else"
	}
	return v
}

func (t *treeMaker) fields(v *value, n *yaml.Node, level int, path string) {
	seen := make(map[string]*field, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content) && t.values <= maxValues; i += 2 {
		key := n.Content[i]
		at := t.at(key)
		for key.Kind == yaml.AliasNode && key.Alias != nil {
			key = key.Alias
		}
		if key.Kind != yaml.ScalarNode {
			t.warn(at, orTop(path), "a key that is not a text, ignored")
			continue
		}
		name := key.Value
		if name == "<<" && key.ShortTag() == "!!merge" {
			t.fail(at, &cloudpace.ConfigError{Path: join(path, "<<"), Value: "a merge key", Allowed: "keys written out"})
			continue
		}
		if first, ok := seen[name]; ok {
			t.fail(at, &cloudpace.ConfigError{
				Path: join(path, name), Value: "a second value",
				Allowed: "each key once; the first is at " + strings.TrimPrefix(first.at.text, ":"),
			})
			continue
		}
		f := &field{name: name, at: at, value: t.make(n.Content[i+1], level+1, join(path, name))}
		seen[name] = f
		v.fields = append(v.fields, f)
	}
}

// join adds a key to a path. A path is for people, so one from a hostile text is
// cut.
func join(path, name string) string {
	if len(name) > 200 {
		name = strings.ToValidUTF8(name[:200], "") + "…"
	}
	if path == "" {
		return name
	}
	return path + "." + name
}

func orTop(path string) string {
	if path == "" {
		return "top level"
	}
	return path
}
