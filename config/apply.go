package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cloudpace/cloudpace"
)

// apply puts what a tree sets into cfg, which holds what is built in.
func (r *reader) apply(cfg *cloudpace.Config, root *value) {
	t := &target{config: cfg}
	for _, f := range r.section(root, "") {
		switch f.name {
		case "ratelimit":
			r.ratelimit(t, f.value)
		case "aws":
			r.keys(t, f.value, "aws", awsKeys)
		case "databricks":
			for _, f := range r.section(f.value, "databricks") {
				if f.name == "retry" {
					r.keys(t, f.value, "databricks.retry", databricksRetryKeys)
					continue
				}
				r.unknown(f, "databricks", "retry")
			}
		default:
			r.unknown(f, "", topSections...)
		}
	}
}

// section gives the fields of a mapping. What is left empty has none, and
// anything else is of the wrong type.
func (r *reader) section(v *value, path string) []*field {
	if !v.null && !v.mapping() {
		r.reject(v, orTop(path), "a mapping of keys")
		return nil
	}
	return v.fields
}

// keys stores the values of a section that has fixed keys, and tells which were
// set. What is called one of also is left to the caller.
func (r *reader) keys(t *target, v *value, path string, known []key, also ...string) (set map[string]bool) {
	set = map[string]bool{}
	for _, f := range r.section(v, path) {
		i := slices.IndexFunc(known, func(k key) bool { return k.name == f.name })
		switch {
		case i >= 0:
			if f.value.null {
				continue
			}
			at := join(path, f.name)
			set[f.name] = true
			if !known[i].set(t, f.value) {
				r.reject(f.value, at, known[i].allowed)
				continue
			}
			r.values[at] = f.value
		case !slices.Contains(also, f.name):
			r.unknown(f, path, append(names(known), also...)...)
		}
	}
	return set
}

func names(keys []key) []string {
	list := make([]string, 0, len(keys))
	for _, k := range keys {
		list = append(list, k.name)
	}
	return list
}

func (r *reader) unknown(f *field, path string, known ...string) {
	message := "unknown key, ignored"
	if near := nearest(f.name, known); near != "" {
		message += "; did you mean " + near + "?"
	}
	r.warn(f.at, join(path, f.name), message)
}

func (r *reader) ratelimit(t *target, v *value) {
	own := &value{at: v.at}
	for _, f := range r.section(v, "ratelimit") {
		switch {
		case slices.ContainsFunc(ratelimitKeys, func(k key) bool { return k.name == f.name }):
			own.fields = append(own.fields, f)
		case f.value.null:
		case !f.value.mapping():
			// A provider is a mapping, so this was meant as something else, unless it
			// has a provider's name.
			known := slices.Sorted(maps.Keys(t.config.Providers))
			if slices.Contains(known, f.name) {
				r.reject(f.value, join("ratelimit", f.name), "a mapping of keys")
				continue
			}
			r.unknown(f, "ratelimit", append(names(ratelimitKeys), known...)...)
		default:
			r.provider(t.config, f)
		}
	}
	r.keys(t, own, "ratelimit", ratelimitKeys)
}

func (r *reader) provider(cfg *cloudpace.Config, f *field) {
	path := join("ratelimit", f.name)
	p, builtIn := cfg.Providers[f.name]
	if !builtIn {
		p = cloudpace.DefaultProvider()
		if near := nearest(f.name, slices.Sorted(maps.Keys(cloudpace.DefaultConfig().Providers))); near != "" {
			r.warn(f.at, path, "taken for a provider of your own; did you mean "+near+"?")
		}
	}
	known := providerKeys
	if f.name == "azure" {
		known = append(slices.Clip(known), azureKeys...)
	}
	set := r.keys(&target{config: cfg, provider: &p}, f.value, path, known, "services")
	for _, b := range []struct {
		rate, burst string
		from        float64
		into        *float64
	}{
		{"max_rps", "burst", p.MaxRPS, &p.Burst},
		{"account_max_rps", "account_burst", p.AccountMaxRPS, &p.AccountBurst},
		{"global_max_rps", "global_burst", p.GlobalMaxRPS, &p.GlobalBurst},
	} {
		// Only a good rate has a burst: one fault is enough.
		if set[b.rate] && !set[b.burst] && b.from > 0 {
			*b.into = 2 * b.from
			r.follows(join(path, b.burst), join(path, b.rate), "twice "+b.rate)
		}
		// A rate or burst that was refused is a fault already.
		if v, ok := r.values[join(path, b.burst)]; ok && !set[b.rate] && b.from == 0 {
			r.warn(v.at, join(path, b.burst), "no effect without "+b.rate+", ignored")
		}
	}
	if !set["min_rps"] && p.MaxRPS > 0 && p.MinRPS > p.MaxRPS {
		p.MinRPS = p.MaxRPS
		r.follows(join(path, "min_rps"), join(path, "max_rps"), "not above max_rps")
	}
	if services := f.value.field("services"); services != nil {
		p.Services = maps.Clone(p.Services)
		if p.Services == nil {
			p.Services = map[string]cloudpace.Service{}
		}
		for _, s := range r.section(services.value, join(path, "services")) {
			r.service(p.Services, s, join(path, "services"))
		}
	}
	cfg.Providers[f.name] = p
}

// service replaces one entry of a provider's table.
func (r *reader) service(services map[string]cloudpace.Service, f *field, path string) {
	if f.value.null {
		return
	}
	path = join(path, f.name)
	if strings.TrimSpace(f.name) == "" {
		r.fail(f.at, &cloudpace.ConfigError{Path: path, Value: f.name, Allowed: "the name of a service"})
		return
	}
	old := services[f.name]
	s := cloudpace.Service{PerOperation: old.PerOperation}
	if !f.value.mapping() {
		r.reject(f.value, path, "a mapping with max_rps")
		return
	}
	set := r.keys(&target{service: &s}, f.value, path, serviceKeys)
	if !set["max_rps"] {
		r.fail(f.at, &cloudpace.ConfigError{Path: join(path, "max_rps"), Allowed: "a number > 0"})
	}
	if s.MaxRPS == 0 {
		s.MaxRPS = 1 // reported already; the rest is to be checked too
	}
	if !set["burst"] && s.MaxRPS > 0 {
		s.Burst = 2 * s.MaxRPS
		r.follows(join(path, "burst"), join(path, "max_rps"), "twice max_rps")
	}
	if old.WriteMaxRPS > 0 && s.PerOperation && s.MaxRPS > 0 {
		s.WriteMaxRPS, s.WriteBurst = old.WriteMaxRPS, old.WriteBurst
		if s.MaxRPS < s.WriteMaxRPS {
			s.WriteMaxRPS = s.MaxRPS
			r.follows(join(path, "write_max_rps"), join(path, "max_rps"), "not above max_rps")
		}
		if s.Burst > 0 && s.Burst < s.WriteBurst {
			s.WriteBurst = s.Burst
			r.follows(join(path, "write_burst"), join(path, "burst"), "not above burst")
		}
	}
	services[f.name] = s
}

// override puts one setting on top of a tree.
func (r *reader) override(root *value, s Setting) {
	at := place{text: s.Source}
	if at.text == "" {
		at.text = s.Path
	}
	parts, problem := r.steps(root, s)
	if problem != "" {
		r.warn(at, s.Path, problem)
		return
	}
	v := root
	for _, name := range parts {
		if !v.mapping() {
			// Nothing to keep below something that has no keys. What was wrong with it is
			// gone too: it is overridden.
			*v = value{at: at}
		}
		f := v.field(name)
		if f == nil {
			f = &field{name: name, at: at, value: &value{at: at}}
			v.fields = append(v.fields, f)
		}
		v = f.value
	}
	*v = value{at: at, scalar: true, plain: true, text: s.Value}
}

// steps splits a setting's path into keys, for one from the environment with the
// case that they have elsewhere.
func (r *reader) steps(root *value, s Setting) (parts []string, problem string) {
	parts = strings.Split(s.Path, ".")
	if len(parts) > 5 && parts[0] == "ratelimit" && parts[2] == "services" {
		name := strings.Join(parts[3:len(parts)-1], ".")
		parts = []string{parts[0], parts[1], parts[2], name, parts[len(parts)-1]}
	}
	if slices.Contains(parts, "") {
		return nil, "not the path of a key, ignored"
	}
	if !s.folded || parts[0] != "ratelimit" {
		return parts, ""
	}
	builtIn := cloudpace.DefaultConfig().Providers
	providers := slices.Sorted(maps.Keys(builtIn))
	section := child(root, "ratelimit")
	if len(parts) > 1 {
		parts[1] = spelled(parts[1], append(fieldNames(section), providers...))
	}
	if len(parts) < 5 || parts[2] != "services" {
		return parts, ""
	}
	known := fieldNames(child(child(section, parts[1]), "services"))
	known = append(known, slices.Sorted(maps.Keys(builtIn[parts[1]].Services))...)
	name := parts[3]
	if same := spelled(name, known); fold(same) == fold(name) && slices.Contains(known, same) {
		parts[3] = same
		return parts, ""
	}
	service, operation, hasOperation := strings.Cut(name, ".")
	if strings.ToUpper(service) == service {
		service = strings.ToLower(service)
	}
	parts[3] = service
	if !hasOperation {
		return parts, ""
	}
	if strings.ToUpper(operation) == operation {
		return nil, fmt.Sprintf("ignored: the case of operation %s is not known; write the variable with the operation as the API names it", operation)
	}
	parts[3] += "." + operation
	return parts, ""
}

func child(v *value, name string) *value {
	if v != nil {
		if f := v.field(name); f != nil {
			return f.value
		}
	}
	return nil
}

func fieldNames(v *value) []string {
	if v == nil {
		return nil
	}
	var list []string
	for _, f := range v.fields {
		list = append(list, f.name)
	}
	return list
}
