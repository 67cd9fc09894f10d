package paceazure

import (
	"maps"
	"strings"
	"sync/atomic"

	"github.com/cloudpace/cloudpace"
)

// graph is the service name of Resource Graph, whose quota is the caller's and not
// a subscription's (S12.1).
const graph = "resourcegraph"

var graphScope = cloudpace.Scope{Provider: provider, Service: graph}

// scopeOf reads the scope from a request's path (S11.2): the subscription, and the
// namespace of the resource provider.
//
//	/subscriptions/{id}/resourceGroups/{name}/providers/Microsoft.Compute/virtualMachines/{name}
func scopeOf(path string) cloudpace.Scope {
	s := cloudpace.Scope{Provider: provider, Service: namespace(path)}
	if s.Service != graph {
		s.Account = strings.ToLower(after(path, "subscriptions"))
	}
	return s
}

// after gives the segment that follows the first one of a name.
func after(path, name string) string {
	found := false
	for segment := range strings.SplitSeq(path, "/") {
		if found && segment != "" {
			return segment
		}
		found = found || strings.EqualFold(segment, name)
	}
	return ""
}

// namespace gives the last resource provider of a path, in lower case and without
// "Microsoft.". It is the last because an extension (a lock, a role assignment) is
// addressed below the resource that it extends. "resources" is Resource Manager
// itself.
func namespace(path string) string {
	const vendor = "microsoft."
	last, follows := "", false
	for segment := range strings.SplitSeq(path, "/") {
		if follows && len(segment) > len(vendor) && strings.EqualFold(segment[:len(vendor)], vendor) {
			last = segment[len(vendor):]
		}
		follows = strings.EqualFold(segment, "providers")
	}
	if last == "" {
		return "resources"
	}
	return lower(last)
}

// lowered keeps names that came by in lower case, so that a call allocates none.
// Programs use a few dozen; more than that are made each time.
var lowered atomic.Pointer[map[string]string]

const loweredKept = 256

func lower(name string) string {
	known := lowered.Load()
	if known != nil {
		if s, ok := (*known)[name]; ok {
			return s
		}
	}
	s := strings.ToLower(name)
	if s == name || known != nil && len(*known) >= loweredKept {
		return s
	}
	next := map[string]string{}
	if known != nil {
		next = maps.Clone(*known)
	}
	next[strings.Clone(name)] = s // a part of a long path would keep all of it
	lowered.CompareAndSwap(known, &next)
	return s
}
