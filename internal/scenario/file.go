package scenario

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

//go:embed scenarios.json
var shipped []byte

// Shipped gives the scenarios that come with cloudpace.
func Shipped() []Scenario {
	list, err := Parse(shipped)
	if err != nil {
		panic(err) // a test reads them
	}
	return list
}

// whole is what a file is.
const whole = `an object with "scenarios", or one scenario`

// Parse reads a file of scenarios: {"scenarios": [...]}, or one scenario alone. Scenarios
// without an id are numbered. The error has all faults, joined, each a [*Fault].
func Parse(text []byte) ([]Scenario, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var top any
	switch err := d.Decode(&top); {
	case errors.Is(err, io.EOF):
		return nil, errors.New("line 1: the file is empty (allowed: " + whole + ")")
	case err != nil:
		return nil, fmt.Errorf("%s: %w", where(text, d.InputOffset(), err), err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: more after the end of the JSON", where(text, d.InputOffset(), nil))
	}
	var p parser
	object, ok := top.(map[string]any)
	if !ok {
		p.reject("the file", shown(top), whole)
		return nil, p.err()
	}
	var list []Scenario
	if _, several := object["scenarios"]; several {
		p.object("", object, keys{
			"scenarios": p.list(func(path string, v any) { list = append(list, p.scenario(path+".", v)) }),
			"model":     ignore, "note": ignore, "measured_elsewhere": ignore,
		})
		if len(list) == 0 && len(p.faults) == 0 {
			p.reject("scenarios", "[]", "one scenario at least")
		}
	} else {
		list = append(list, p.scenario("", object))
	}
	seen := make(map[string]int)
	for i := range list {
		if list[i].ID == "" {
			list[i].ID = strconv.Itoa(i + 1)
		}
		if j, taken := seen[list[i].ID]; taken {
			p.reject(fmt.Sprintf("scenarios[%d].id", i), list[i].ID, fmt.Sprintf("each id once; scenarios[%d] has it", j))
		}
		seen[list[i].ID] = i
	}
	return list, p.err()
}

// where gives the line of a fault of the JSON itself.
func where(text []byte, offset int64, err error) string {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		offset = syntax.Offset
	}
	offset = min(max(offset, 0), int64(len(text)))
	return fmt.Sprintf("line %d", 1+bytes.Count(text[:offset], []byte("\n")))
}

type parser struct{ faults []*Fault }

// keys are what an object may have.
type keys map[string]func(path string, v any)

func (p *parser) reject(path string, value any, allowed string) {
	p.faults = append(p.faults, &Fault{path, value, allowed})
}

func (p *parser) err() error {
	list := make([]error, len(p.faults))
	for i, f := range p.faults {
		list[i] = f
	}
	return errors.Join(list...)
}

// scenario reads one. What is missing is said of what there is no default for.
func (p *parser) scenario(at string, v any) (s Scenario) {
	before := len(p.faults)
	p.object(at, v, keys{
		"id": p.text(&s.ID), "name": p.text(&s.Name),
		"server":           func(_ string, v any) { p.server(at+"server.", v, &s.Server) },
		"neighbour_rps":    p.number(&s.NeighbourRPS),
		"neighbour_from_s": p.number(&s.NeighbourFromS),
		"neighbour_to_s":   p.number(&s.NeighbourToS),
		"client": func(_ string, v any) {
			p.object(at+"client.", v, keys{"rate": p.number(&s.Client.Rate), "burst": p.number(&s.Client.Burst)}, "rate", "burst")
		},
		"calls": p.count(&s.Calls), "workers": p.count(&s.Workers), "burst_calls": p.count(&s.BurstCalls),
		"gap_s": p.number(&s.GapS), "ideal_s": p.number(&s.IdealS),
	}, "server", "client", "calls", "workers")
	if _, ok := v.(map[string]any); !ok {
		return s // which is the fault
	}
	known := make(map[string]bool)
	for _, f := range p.faults[before:] {
		known[f.Path] = true
	}
	for _, f := range s.Check(at) {
		if object, _, _ := strings.Cut(strings.TrimPrefix(f.Path, at), "."); !known[f.Path] && !known[at+object] {
			p.faults = append(p.faults, f)
		}
	}
	return s
}

func (p *parser) server(at string, v any, s *Server) {
	p.object(at, v, keys{
		"burst": p.number(&s.Burst), "refill": p.number(&s.Refill), "retry_after_s": p.number(&s.RetryAfterS),
		"throttle_cost": p.number(&s.ThrottleCost), "floor": p.number(&s.Floor),
		"latency_s": p.number(&s.LatencyS), "throttled_s": p.number(&s.ThrottledS), "path_s": p.number(&s.PathS),
		"changes": p.list(func(path string, v any) {
			var c Change
			p.object(path+".", v, keys{"at_s": p.number(&c.AtS), "burst": p.number(&c.Burst), "refill": p.number(&c.Refill)}, "at_s", "burst", "refill")
			s.Changes = append(s.Changes, c)
		}),
	}, "burst", "refill")
}

// object reads an object, whose keys have at before their names. Those that are required
// and not there are faults.
func (p *parser) object(at string, v any, known keys, required ...string) {
	object, ok := v.(map[string]any)
	if !ok {
		p.reject(strings.TrimSuffix(at, "."), shown(v), "an object")
		return
	}
	names := slices.Sorted(maps.Keys(known))
	for _, name := range slices.Sorted(maps.Keys(object)) {
		read, ok := known[name]
		if !ok {
			allowed := "one of the keys here: " + strings.Join(names, ", ")
			if near := nearest(name, names); near != "" {
				allowed = "did you mean " + near + "? " + allowed
			}
			p.reject(at+name, shown(object[name]), allowed)
			continue
		}
		read(at+name, object[name])
	}
	for _, name := range required {
		if _, ok := object[name]; !ok {
			p.reject(at+name, nil, requirements[name])
		}
	}
}

// requirements say what the keys are that have to be there.
var requirements = map[string]string{
	"server": "an object: the server's bucket", "client": "an object: what the client has configured",
	"calls": "how many calls are to succeed", "workers": "how many start calls side by side",
	"burst": "the tokens that the bucket holds", "refill": "tokens a second", "rate": "calls a second", "at_s": "seconds from the beginning",
}

func (p *parser) list(item func(path string, v any)) func(string, any) {
	return func(path string, v any) {
		list, ok := v.([]any)
		if !ok {
			p.reject(path, shown(v), "a list")
			return
		}
		for i, v := range list {
			item(fmt.Sprintf("%s[%d]", path, i), v)
		}
	}
}

func (p *parser) text(into *string) func(string, any) {
	return func(path string, v any) {
		text, ok := v.(string)
		if !ok {
			p.reject(path, shown(v), "a text")
		}
		*into = text
	}
}

func (p *parser) number(into *float64) func(string, any) {
	return func(path string, v any) {
		n, ok := v.(json.Number)
		x, err := n.Float64()
		if !ok || err != nil {
			p.reject(path, shown(v), "a number")
			return
		}
		*into = x
	}
}

func (p *parser) count(into *int) func(string, any) {
	return func(path string, v any) {
		n, ok := v.(json.Number)
		x, err := strconv.Atoi(n.String())
		if !ok || err != nil {
			p.reject(path, shown(v), "a whole number")
			return
		}
		*into = x
	}
}

func ignore(string, any) {}

// shown is a value as faults show it.
func shown(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	case nil:
		return "null"
	case string:
		if text := []rune(v); len(text) > 80 {
			return string(text[:80]) + "…"
		}
	}
	return v
}
