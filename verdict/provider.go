package verdict

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// provider is everything that differs between providers. To add one, write its
// codes file and name its table in providers.
type provider struct {
	codes    map[string]rule // the keys as documented; looked up folded
	messages []messageRule   // texts that decide under a code that says nothing
	// names are codes that name a status which is fatal. With an HTTP status they
	// say no more than it does; without one they are the status, and no word is asked.
	names    []string
	statuses map[int]func(*evidence) (Kind, string)
	// read finds code, message and details in header and body.
	read func(*evidence)
}

// rule is what one code means.
type rule struct {
	kind Kind
	why  string // added to the reason, may be empty
	// when decides for codes whose meaning depends on what stands around them; ok
	// false means that the code says nothing here, and the status decides.
	when func(*evidence) (kind Kind, why string, ok bool)
	// mayHaveRun: the code does not prove that the request was not run.
	mayHaveRun bool
	// apart: other providers use the same word otherwise, so that it says nothing
	// where the provider is not known.
	apart bool
	// rpc: a name of google.rpc.Code. Such words ("INTERNAL") are anybody's, so they
	// count for an unknown provider only where gRPC is spoken.
	rpc bool
}

// messageRule is a text that decides under a code that says nothing by itself.
// Such texts are allow-listed one by one: wording changes, codes do not.
type messageRule struct {
	code  string // empty: under any code that is not in the table and names no status
	words string // in lower case
	kind  Kind
	why   string
}

var providers = map[string]*provider{
	"aws":        &aws,
	"azure":      &azure,
	"gcp":        &google,
	"databricks": &databricks,
}

// folded holds the tables by folded code; unknown is the table for errors of a
// provider that is not known: all codes on which the providers agree. names are
// the providers' status names, folded.
//
// They are filled in by init because the tables' own functions look codes up.
var (
	folded  map[string]map[string]rule
	unknown map[string]rule
	names   = map[string]map[string]bool{}
	// everyone is all providers, in the order of their names.
	everyone []*provider
)

func init() {
	folded, unknown = foldTables(providers)
	for _, name := range slices.Sorted(maps.Keys(providers)) {
		everyone = append(everyone, providers[name])
		names[name] = map[string]bool{}
		for _, code := range providers[name].names {
			names[name][fold(code)] = true
		}
	}
}

func foldTables(all map[string]*provider) (map[string]map[string]rule, map[string]rule) {
	tables := map[string]map[string]rule{}
	union, conflict := map[string]rule{}, map[string]bool{}
	for name, p := range all {
		table := map[string]rule{}
		for code, r := range p.codes {
			f := fold(code)
			table[f] = r
			if r.rpc {
				continue
			}
			old, seen := union[f]
			switch {
			case r.apart || seen && old.kind != r.kind:
				conflict[f] = true
			case !seen || r.when != nil:
				// Of two that agree, the one that looks closer is kept.
				union[f] = r
			}
		}
		tables[name] = table
	}
	for f := range conflict {
		delete(union, f)
	}
	return tables, union
}

// rule looks a code up.
func (ev *evidence) rule(code string) (rule, bool) {
	if table, ok := folded[ev.provider]; ok {
		r, ok := table[fold(code)]
		return r, ok
	}
	if ev.google.spoken {
		if r, ok := folded["gcp"][fold(code)]; ok && r.rpc {
			return r, true
		}
	}
	r, ok := unknown[fold(code)]
	return r, ok
}

// statusName gives the first code that names a fatal status.
func (ev *evidence) statusName() (string, bool) {
	of, ok := names[ev.provider]
	if !ok && ev.google.spoken {
		of = names["gcp"]
	}
	for _, code := range ev.codes {
		if of[fold(code)] {
			return code, true
		}
	}
	return "", false
}

// tables are those of the provider, or of all where it is not known.
func (ev *evidence) tables() []*provider {
	if p, ok := providers[ev.provider]; ok {
		return []*provider{p}
	}
	return everyone
}

// fold makes the spellings of one code equal: SDKs and proxies respell them, as
// RESOURCE_EXHAUSTED and ResourceExhausted.
func fold(code string) string {
	return strings.ToLower(strings.ReplaceAll(code, "_", ""))
}

// maxCode bounds what passes for a code; the longest documented ones have about
// sixty letters.
const maxCode = 128

// cleanCode takes a code out of its namespace and off its tail:
// "com.amazonaws.ecs#ThrottlingException:http://…" and "Code;Sender". What
// cannot be a code gives "".
func cleanCode(s string) string {
	s, _, _ = strings.Cut(s, ":")
	s, _, _ = strings.Cut(s, ";")
	if i := strings.LastIndexByte(s, '#'); i >= 0 {
		s = s[i+1:]
	}
	s = strings.TrimSpace(s)
	if s == "" || len(s) > maxCode {
		return ""
	}
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-', c == '.', c == '/':
		default:
			return ""
		}
	}
	return s
}

// addCode appends a candidate; the list is bounded, since bodies are outside data.
func (ev *evidence) addCode(s string) {
	if c := cleanCode(s); c != "" && len(ev.codes) < 32 {
		ev.codes = append(ev.codes, c)
	}
}

func (ev *evidence) addMessage(s string) {
	if ev.message == "" {
		ev.message = s
	}
}

// values gives all lines of a header whatever the spelling of its key: gRPC
// trailers come in lower case. The order of lines under one key is kept.
func values(h http.Header, key string) []string {
	var out []string
	key = http.CanonicalHeaderKey(key)
	out = append(out, h[key]...)
	for k, v := range h {
		if k != key && strings.EqualFold(k, key) {
			out = append(out, v...)
		}
	}
	return out
}

func value(h http.Header, key string) string {
	if v := values(h, key); len(v) > 0 {
		return v[0]
	}
	return ""
}
