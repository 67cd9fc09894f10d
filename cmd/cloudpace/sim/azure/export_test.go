package azure

import (
	"slices"
	"strings"
)

// BuiltIn tells whether an id is that of a role that Azure has everywhere.
func BuiltIn(id string) bool {
	return slices.ContainsFunc(builtIn, func(r struct{ id, name string }) bool { return strings.HasSuffix(strings.ToLower(id), "/"+r.id) })
}
