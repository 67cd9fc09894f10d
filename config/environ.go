package config

import (
	"slices"
	"strings"
)

// Environ gives the settings that are in an environment, which has the form of
// os.Environ: "CLOUDPACE_RATELIMIT__AWS__MAX_RPS=8". The package's documentation
// says how variables are named. The result is sorted by variable; of a variable
// that is there twice the last counts.
func Environ(environ []string) []Setting {
	found := map[string]Setting{}
	for _, entry := range environ {
		variable, text, ok := strings.Cut(entry, "=")
		if !ok {
			continue
		}
		path, ok := pathOf(variable)
		if !ok {
			continue
		}
		if text = strings.TrimSpace(text); text == "" {
			delete(found, variable)
			continue
		}
		found[variable] = Setting{Path: path, Value: text, Source: variable, folded: true}
	}
	settings := make([]Setting, 0, len(found))
	for _, s := range found {
		settings = append(settings, s)
	}
	slices.SortFunc(settings, func(a, b Setting) int { return strings.Compare(a.Source, b.Source) })
	return settings
}

// pathOf makes a path of a variable's name. What names a service or an operation
// keeps its case.
func pathOf(variable string) (string, bool) {
	const prefix = "CLOUDPACE_"
	if len(variable) < len(prefix) || !strings.EqualFold(variable[:len(prefix)], prefix) {
		return "", false
	}
	parts := strings.Split(variable[len(prefix):], "__")
	if len(parts) < 2 || !slices.Contains(topSections, strings.ToLower(parts[0])) {
		return "", false
	}
	for i, part := range parts {
		if i > 2 && i < len(parts)-1 && parts[2] == "services" {
			continue
		}
		parts[i] = strings.ToLower(part)
	}
	return strings.Join(parts, "."), true
}

// spelled gives the name among known that a variable's part stands for, else the
// part in lower case.
func spelled(part string, known []string) string {
	for _, name := range known {
		if fold(name) == fold(part) {
			return name
		}
	}
	return strings.ToLower(part)
}

// fold makes names comparable with parts of variables.
func fold(name string) string {
	return strings.ReplaceAll(strings.ToLower(name), "-", "_")
}
