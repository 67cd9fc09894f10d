package redisstore

import "strings"

// Keys are "cloudpace:bucket:{NAME}", "cloudpace:learn:{NAME}" for a bucket that learns,
// "cloudpace:slots:{NAME}" and "cloudpace:members".
// A cluster places a key by what is in braces, so a name may have none of its own.
var (
	braces   = strings.NewReplacer("%", "%25", "{", "%7B", "}", "%7D")
	unbraces = strings.NewReplacer("%25", "%", "%7B", "{", "%7D", "}")
	// In a pattern these stand for something else.
	pattern = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`)
)

func (s *Store) bucketKey(name string) string {
	return s.prefix + ":bucket:{" + braces.Replace(name) + "}"
}
func (s *Store) learnKey(name string) string {
	return s.prefix + ":learn:{" + braces.Replace(name) + "}"
}
func (s *Store) slotsKey(name string) string {
	return s.prefix + ":slots:{" + braces.Replace(name) + "}"
}
func (s *Store) membersKey() string { return s.prefix + ":members" }

// name takes a key apart.
func (s *Store) name(key string) (kind, name string, ok bool) {
	rest, ok := strings.CutPrefix(key, s.prefix+":")
	if !ok {
		return "", "", false
	}
	kind, rest, ok = strings.Cut(rest, ":{")
	if !ok || !strings.HasSuffix(rest, "}") {
		return "", "", false
	}
	return kind, unbraces.Replace(strings.TrimSuffix(rest, "}")), true
}
