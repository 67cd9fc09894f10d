package sim

import (
	"bytes"
	"io"
	"os"
	"slices"

	"go.yaml.in/yaml/v4"
)

// FrontFor picks the front that a name or a sim file is for, by its provider. It is
// the first for what names none, or cannot be read: [Load] then says what is wrong.
func FrontFor(nameOrFile string, fronts ...Front) Front {
	of := func(provider string) int {
		return slices.IndexFunc(fronts, func(f Front) bool { return f.Provider() == provider })
	}
	if i := of(nameOrFile); i >= 0 {
		return fronts[i]
	}
	if i := of(providerIn(nameOrFile)); i >= 0 {
		return fronts[i]
	}
	return fronts[0]
}

// providerIn reads what a sim file has for its profile; "" is nothing.
func providerIn(file string) (provider string) {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return ""
	}
	defer func() {
		if recover() != nil {
			provider = "" // a text that the parser panics on is Load's to report
		}
	}()
	loader, err := yaml.NewLoader(bytes.NewReader(text))
	if err != nil {
		return ""
	}
	var n yaml.Node
	if loader.Load(&n) != nil || len(n.Content) == 0 {
		return ""
	}
	top := follow(n.Content[0])
	for i := 0; top.Kind == yaml.MappingNode && i+1 < len(top.Content); i += 2 {
		if top.Content[i].Value == "profile" {
			return follow(top.Content[i+1]).Value
		}
	}
	return ""
}
