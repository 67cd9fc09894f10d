package pacegcp

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/cloudpace/cloudpace"
)

// restScope gives the scope of a REST request. The API is in the host, or before the
// version where APIs share one (www.googleapis.com/compute/v1/…); the account in the
// path, or in the parameters that some APIs have instead. The path is read as it is
// sent: an object may be called projects/x:list, and is one segment of it.
func restScope(req *http.Request) cloudpace.Scope {
	s := cloudpace.Scope{Provider: provider}
	if req.URL == nil {
		return s
	}
	path := req.URL.EscapedPath()
	resource, verb := customVerb(path)
	host := req.URL.Hostname()
	s.Service = serviceOfHost(host)
	if s.Service == "" && (strings.EqualFold(host, "www.googleapis.com") || strings.EqualFold(host, "content-googleapis.googleapis.com")) {
		s.Service = firstSegment(path)
	}
	if s.Service != "storage" || strings.HasPrefix(path, "/storage/v1/projects/") {
		s.Account = accountInPath(strings.TrimPrefix(resource, "/"))
	}
	if s.Account == "" && req.URL.RawQuery != "" {
		s.Account = accountOfQuery(req)
	}
	s.Operation = restOperation(req.Method, s.Service, resource, verb)
	if s.Service == "" {
		// An emulator, or a tunnel: the paths of the API whose quotas are known apart.
		switch s.Operation {
		case "SearchAllResources", "SearchAllIamPolicies":
			s.Service = "cloudasset"
		default:
			if s.Service = host; restOperation(req.Method, "cloudasset", resource, verb) == "ListAssets" {
				s.Service, s.Operation = "cloudasset", "ListAssets"
			}
		}
	}
	return s
}

// customVerb splits a path as Google's APIs write methods that are none of HTTP's:
// /v1/projects/example-1:searchAllResources. The colon in the ID of a project within
// a domain (example.com:example-1) is none.
func customVerb(path string) (resource, verb string) {
	i := strings.LastIndexByte(path, ':')
	if i < 0 || strings.Contains(path[i:], "/") {
		return path, ""
	}
	if verb = path[i+1:]; verb == "" || !('a' <= verb[0] && verb[0] <= 'z') {
		return path, ""
	}
	if last := path[strings.LastIndexByte(path[:i], '/')+1 : i]; strings.Contains(last, ".") && !strings.Contains(last, ":") {
		return path, ""
	}
	return path[:i], verb
}

// restOperation names the RPC where the path tells it: a custom verb, or the listing
// that has a quota of its own.
func restOperation(method, service, resource, verb string) string {
	switch {
	case verb != "":
		return strings.ToUpper(verb[:1]) + verb[1:]
	case service == "cloudasset" && (method == http.MethodGet || method == "") && strings.HasSuffix(resource, "/assets"):
		return "ListAssets"
	}
	return ""
}

// firstSegment of a path on a host that APIs share is the API's name, behind the way that
// what is sent takes.
func firstSegment(path string) string {
	path = strings.TrimPrefix(path, "/")
	first := path[:segment(path)]
	switch first {
	case "upload", "download", "batch", "resumable":
		if len(path) > len(first) {
			return firstSegment(path[len(first):])
		}
	}
	return first
}

// accountInPath is accountIn for a path whose segments are escaped. The objects of
// storage are called whatever their owners like, with slashes that are not escaped in
// its XML API, so there only its own paths count.
func accountInPath(path string) string {
	a := accountIn(path)
	if plain, err := url.PathUnescape(a); err == nil && strings.Count(plain, "/") <= 1 {
		return plain
	}
	return a
}

// accountOfQuery: storage and resource manager name the project or the parent in a
// parameter. In an upload the name is that of what is sent.
func accountOfQuery(req *http.Request) string {
	q := req.URL.Query()
	for _, key := range []string{"parent", "scope", "name", "resource"} {
		if key == "name" && strings.HasPrefix(req.URL.Path, "/upload/") {
			continue
		}
		if a := accountIn(q.Get(key)); a != "" {
			return a
		}
	}
	for _, key := range []string{"project", "projectId"} {
		if id := q.Get(key); id != "" && !strings.Contains(id, "/") {
			return "projects/" + id
		}
	}
	return ""
}

// restSafe tells requests that may be sent twice: by their method, and reads by POST,
// which are custom verbs that say so.
func restSafe(req *http.Request) bool {
	switch req.Method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodPut, http.MethodDelete:
		return true
	case http.MethodPost:
		return restReads(req)
	}
	return false
}

// restReads tells requests that change nothing, and are cut where they hang.
func restReads(req *http.Request) bool {
	switch req.Method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions:
		return true
	case http.MethodPost:
		_, verb := customVerb(req.URL.EscapedPath())
		return verb != "" && reads(strings.ToUpper(verb[:1])+verb[1:])
	}
	return false
}
