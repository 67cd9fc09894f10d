package sim

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// ownPrefix is where the server speaks of itself.
const ownPrefix = "/_sim/"

//go:embed status.html
var statusText string

var statusPage = template.Must(template.New("status").Funcs(template.FuncMap{
	"faults": func(c Counts) string {
		var list []string
		for _, kind := range slices.Sorted(maps.Keys(c.Faulted)) {
			list = append(list, fmt.Sprintf("%s %d", kind, c.Faulted[kind]))
		}
		return strings.Join(list, ", ")
	},
	"faulted": func(c Counts) int { return c.FaultedTotal() },
}).Parse(statusText))

// FaultedTotal is how many calls met a fault of any kind.
func (c Counts) FaultedTotal() int {
	n := 0
	for _, k := range c.Faulted {
		n += k
	}
	return n
}

// serveOwn answers what is about the server itself.
func (s *Server) serveOwn(w http.ResponseWriter, r *http.Request, name string) {
	w.Header().Set("Cache-Control", "no-store")
	read := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch {
	case name == "" && read:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'")
		if err := statusPage.Execute(w, s.Report()); err != nil {
			s.log.Debug("status page not sent", "error", err)
		}
	case name == "stats" && read:
		w.Header().Set("Content-Type", "application/json")
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		if err := e.Encode(s.Report()); err != nil {
			s.log.Debug("statistics not sent", "error", err)
		}
	case name == "reset" && r.Method == http.MethodPost:
		s.Reset()
		w.WriteHeader(http.StatusNoContent)
	case name == "" || name == "stats" || name == "reset":
		http.Error(w, "there are GET "+ownPrefix+", GET "+ownPrefix+"stats and POST "+ownPrefix+"reset", http.StatusMethodNotAllowed)
	default:
		http.NotFound(w, r)
	}
}
