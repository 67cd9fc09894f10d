package gcp

import (
	"net/http"
	"strings"
	"time"

	"cloud.google.com/go/asset/apiv1/assetpb"
	"google.golang.org/protobuf/proto"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// What is called, as scopes have it.
const (
	assetService    = "cloudasset"
	managerService  = "cloudresourcemanager"
	clusterService  = "container"
	listAssets      = "ListAssets"
	searchResources = "SearchAllResources"
	searchPolicies  = "SearchAllIamPolicies"
	searchProjects  = "Search"
	listClusters    = "ListClusters"
)

// userProject is the header that names the quota project, over gRPC too.
const userProject = "X-Goog-User-Project"

// request is what was read of a request: the front's own part of a call.
type request struct {
	grpc               bool
	service, operation string
	parent             string        // "projects/example-1"; empty where it is about none
	payer              string        // whose quota it is: "projects/example-1"; empty where it may not be
	consumer           string        // the same as answers have it: by the project's number
	message            proto.Message // what is asked of Asset Inventory
	projects           *projectsRequest
	location           string                         // whose clusters are listed; "-" is all
	ask                func(*context) (any, *problem) // nil where it is not modelled
	problem            *problem                       // why it cannot be read

	scope scope
	page  cursor
	stale *problem // why its token is no good
}

// paged is what the listings' requests have in common.
type paged interface{ GetPageToken() string }

// read finds out what is asked. The body can be read again afterwards.
func read(r *http.Request) *request {
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") {
		return readRPC(r)
	}
	return readREST(r)
}

// asks sets what answers a message of the API, and whom it is about.
func (q *request) asks(m proto.Message) {
	q.message = m
	switch m := m.(type) {
	case *assetpb.ListAssetsRequest:
		q.parent, q.ask = m.Parent, func(x *context) (any, *problem) { return x.listAssets(m) }
	case *assetpb.SearchAllResourcesRequest:
		q.parent, q.ask = m.Scope, func(x *context) (any, *problem) { return x.searchResources(m) }
	case *assetpb.SearchAllIamPoliciesRequest:
		q.parent, q.ask = m.Scope, func(x *context) (any, *problem) { return x.searchPolicies(m) }
	}
}

// messageOf makes an empty request of an operation; nil is one that is not modelled.
func messageOf(operation string) proto.Message {
	switch operation {
	case listAssets:
		return new(assetpb.ListAssetsRequest)
	case searchResources:
		return new(assetpb.SearchAllResourcesRequest)
	case searchPolicies:
		return new(assetpb.SearchAllIamPoliciesRequest)
	}
	return nil
}

// reads tells whether an operation only lists, by its name.
func (q *request) reads() bool {
	return strings.HasPrefix(q.operation, "List") || strings.HasPrefix(q.operation, "Search")
}

// about tells whether it is about a part of the hierarchy.
func (q *request) about() bool { return q.message != nil || q.location != "" }

// parentField is the field that names it.
func (q *request) parentField() string {
	if q.operation == listAssets {
		return "parent"
	}
	return "scope"
}

func (q *request) pages() bool { return q.ask != nil && q.location == "" }

func (q *request) token() string {
	if q.projects != nil {
		return q.projects.token
	}
	if p, ok := q.message.(paged); ok {
		return p.GetPageToken()
	}
	return ""
}

// listing names what is paged, for tokens to be good for nothing else: all of the
// request but the page.
func (q *request) listing() string {
	if q.projects != nil {
		return q.operation + "\x00" + q.projects.query
	}
	m := proto.Clone(q.message)
	switch m := m.(type) {
	case *assetpb.ListAssetsRequest:
		m.PageSize, m.PageToken = 0, ""
	case *assetpb.SearchAllResourcesRequest:
		m.PageSize, m.PageToken = 0, ""
	case *assetpb.SearchAllIamPoliciesRequest:
		m.PageSize, m.PageToken = 0, ""
	}
	text, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return q.operation // a text that is not UTF-8
	}
	return q.operation + "\x00" + string(text)
}

// readToken reads which page is asked for.
func (q *request) readToken(w *world, s sim.Setting) (page int) {
	c, ok := parseCursor(q.token(), salt(w.estate, q.listing()))
	switch age := time.Since(c.begun); {
	case !ok:
		q.stale = &badToken
		return 1
	case time.Duration(float64(age)*s.Speed) > tokenLife || age > tokenLife:
		q.stale = &oldToken
	}
	q.page = c
	return c.page + 1
}

// payer is the project whose quota a request is charged to; empty where it names
// none that can be.
func payer(r *http.Request, parent string, w *world) string {
	name := parent
	if own := r.Header.Get(userProject); own != "" {
		name = "projects/" + strings.TrimPrefix(own, "projects/")
		if !nameOfParent.MatchString(name) {
			return ""
		}
	}
	if !strings.HasPrefix(name, "projects/") {
		return NoProject
	}
	if w != nil {
		if i, ok := w.byName[name]; ok {
			return "projects/" + w.projects[i]
		}
	}
	return name
}

// maxBody bounds what is read of a request.
const maxBody = 1 << 20
