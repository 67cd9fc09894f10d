package sim

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v4"
)

// keys are what a mapping may have: name and how its value is read.
type keys map[string]func(n *yaml.Node, path string)

// mapping reads a mapping key by key.
func (d *decoder) mapping(n *yaml.Node, path string, known keys) {
	n = follow(n)
	if n.Kind != yaml.MappingNode {
		d.reject(n, orTop(path), shown(n), "a mapping of keys")
		return
	}
	seen := make(map[string]bool)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := follow(n.Content[i]), follow(n.Content[i+1])
		at := key.Value
		if path != "" {
			at = path + "." + key.Value
		}
		read, ok := known[key.Value]
		switch {
		case !ok:
			d.reject(key, at, shown(value), "one of the keys here: "+oneOf(key.Value, slices.Sorted(maps.Keys(known))))
		case seen[key.Value]:
			d.reject(key, at, "a second value", "each key once")
		case value.ShortTag() != "!!null": // left empty: as if it were not there
			d.lines[at] = value.Line
			read(value, at)
		}
		seen[key.Value] = true
	}
}

// list reads a list, item by item.
func (d *decoder) list(n *yaml.Node, path string, item func(n *yaml.Node, path string)) {
	if n.Kind != yaml.SequenceNode {
		d.reject(n, path, shown(n), "a list")
		return
	}
	for i, v := range n.Content {
		v = follow(v)
		at := fmt.Sprintf("%s[%d]", path, i)
		d.lines[at] = v.Line
		item(v, at)
	}
}

func follow(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode && n.Alias != nil {
		n = n.Alias
	}
	return n
}

func orTop(path string) string {
	if path == "" {
		return "top level"
	}
	return path
}

// shown is a value as errors show it.
func shown(n *yaml.Node) any {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	if text := []rune(n.Value); len(text) > 80 {
		return string(text[:80]) + "…"
	}
	return n.Value
}

func (d *decoder) text(into *string) func(*yaml.Node, string) {
	return func(n *yaml.Node, path string) {
		if n.Kind != yaml.ScalarNode {
			d.reject(n, path, shown(n), "a text")
			return
		}
		*into = n.Value
	}
}

func (d *decoder) number(into *float64) func(*yaml.Node, string) {
	return func(n *yaml.Node, path string) {
		x, err := strconv.ParseFloat(n.Value, 64)
		if n.Kind != yaml.ScalarNode || err != nil {
			d.reject(n, path, shown(n), "a number")
			return
		}
		*into = x
	}
}

func (d *decoder) integer(into *int) func(*yaml.Node, string) {
	return func(n *yaml.Node, path string) {
		x, err := strconv.Atoi(n.Value)
		if n.Kind != yaml.ScalarNode || err != nil {
			d.reject(n, path, shown(n), "a whole number")
			return
		}
		*into = x
	}
}

// optional reads a whole number that may be left out, which is another thing
// than 0.
func (d *decoder) optional(into **int) func(*yaml.Node, string) {
	return func(n *yaml.Node, path string) {
		x := new(int)
		d.integer(x)(n, path)
		*into = x
	}
}

func (d *decoder) boolean(into *bool) func(*yaml.Node, string) {
	return func(n *yaml.Node, path string) {
		if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!bool" {
			d.reject(n, path, shown(n), "true or false")
			return
		}
		*into = n.Value[0] == 't' || n.Value[0] == 'T'
	}
}

// patterns reads a text or a list of them.
func (d *decoder) patterns(into *Patterns) func(*yaml.Node, string) {
	return func(n *yaml.Node, path string) {
		if n.Kind == yaml.ScalarNode {
			*into = Patterns{n.Value}
			return
		}
		d.list(n, path, func(n *yaml.Node, path string) {
			var one string
			d.text(&one)(n, path)
			*into = append(*into, one)
		})
	}
}

// match has the keys that quotas, neighbours and faults have in common.
func (d *decoder) match(m *Match, more keys) keys {
	all := keys{
		"account": d.patterns(&m.Account), "region": d.patterns(&m.Region), "service": d.patterns(&m.Service),
		"operation": d.patterns(&m.Operation), "class": d.patterns(&m.Class), "item": d.patterns(&m.Item), "page": d.integer(&m.Page),
	}
	maps.Copy(all, more)
	return all
}

func (d *decoder) profile(p *Profile, n *yaml.Node) {
	known := keys{
		"profile": func(n *yaml.Node, path string) {
			if n.Value != d.front.Provider() {
				d.reject(n, path, shown(n), oneOf(n.Value, []string{d.front.Provider()}))
			}
		},
		"seed": func(n *yaml.Node, path string) {
			x, err := strconv.ParseUint(n.Value, 10, 64)
			if err != nil {
				d.reject(n, path, shown(n), "a whole number, 0 or more")
				return
			}
			p.Seed = x
		},
		"speed":  d.number(&p.Speed),
		"strict": d.boolean(&p.Strict),
		"quotas": func(n *yaml.Node, path string) {
			d.list(n, path, func(n *yaml.Node, path string) {
				q := Quota{Source: "the sim file"}
				d.mapping(n, path, d.match(&q.Match, keys{
					"burst": d.number(&q.Burst), "rate": d.number(&q.Rate), "shared": d.boolean(&q.Shared),
					"wide": d.boolean(&q.Wide), "window": d.number(&q.Window), "layer": d.text(&q.Layer), "name": d.text(&q.Name),
					"retry_after": d.number(&q.RetryAfter), "throttle_cost": d.number(&q.ThrottleCost), "floor": d.number(&q.Floor),
				}))
				d.quotas = append(d.quotas, q)
			})
		},
		"neighbours": func(n *yaml.Node, path string) {
			d.list(n, path, func(n *yaml.Node, path string) {
				var x Neighbour
				d.mapping(n, path, d.match(&x.Match, keys{"layer": d.patterns(&x.Layer), "rate": d.number(&x.Rate), "from": d.number(&x.From), "to": d.number(&x.To)}))
				p.Neighbours = append(p.Neighbours, x)
			})
		},
		"faults": func(n *yaml.Node, path string) {
			d.list(n, path, func(n *yaml.Node, path string) {
				var f Fault
				d.mapping(n, path, d.match(&f.Match, keys{
					"fault": func(n *yaml.Node, path string) { d.text((*string)(&f.Kind))(n, path) },
					"after": d.integer(&f.After), "first": d.integer(&f.First), "every": d.integer(&f.Every),
					"probability": d.number(&f.Probability), "code": d.text(&f.Code), "status": d.integer(&f.Status),
					"message": d.text(&f.Message), "seconds": d.number(&f.Seconds),
					"at": d.optional(&f.At), "retry_after": d.text(&f.RetryAfter),
				}))
				p.Faults = append(p.Faults, f)
			})
		},
	}
	if len(d.front.Kinds()) > 0 {
		known["estate"] = func(n *yaml.Node, path string) { d.estate(&p.Estate, n, path) }
	}
	if _, ok := d.front.(Runner); ok {
		known["warehouse"] = func(n *yaml.Node, path string) { d.warehouse(&p.Warehouse, n, path) }
	}
	d.mapping(n, "", known)
}

func (d *decoder) estate(e *EstateConfig, n *yaml.Node, path string) {
	texts := func(into *[]string) func(n *yaml.Node, path string) {
		return func(n *yaml.Node, path string) {
			var list Patterns
			d.patterns(&list)(n, path)
			*into = list
		}
	}
	d.mapping(n, path, keys{
		"accounts": func(n *yaml.Node, path string) {
			// A number of accounts, or their ids; an id is a number too, but a long one.
			if count, err := strconv.Atoi(n.Value); n.Kind == yaml.ScalarNode && err == nil && len(n.Value) < 12 {
				if count < 1 || count > MaxAccounts {
					d.reject(n, path, count, fmt.Sprintf("1 to %d, or a list of ids", MaxAccounts))
					return
				}
				e.Accounts = ExamplesOf(d.front, count)
				return
			}
			texts(&e.Accounts)(n, path)
		},
		"regions": texts(&e.Regions),
		"assets":  d.integer(&e.Assets),
		"types": func(n *yaml.Node, path string) {
			e.Types = make(map[string]int)
			known := make(keys)
			for _, name := range kindNames(d.front) {
				known[name] = func(n *yaml.Node, path string) {
					var count int
					d.integer(&count)(n, path)
					e.Types[name] = count
				}
			}
			d.mapping(n, path, known)
		},
	})
}
