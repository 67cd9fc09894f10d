package pacegcp

import (
	"context"
	"net/url"
	"strings"

	"github.com/googleapis/gax-go/v2/callctx"
	"google.golang.org/grpc/metadata"

	"github.com/cloudpace/cloudpace"
)

// scopeOf gives the scope of an RPC: the API from the target, the account from the
// request's parent or name, the RPC as operation; and the quota project where it is
// known. req is nil where it is not known yet.
func (w *wiring) scopeOf(ctx context.Context, method, target string, req any) (scope cloudpace.Scope, quotaProject string) {
	scope = cloudpace.Scope{
		Provider:  provider,
		Account:   accountOf(req),
		Service:   serviceOf(target, method),
		Operation: operationOf(method),
	}
	md, _ := metadata.FromOutgoingContext(ctx)
	if scope.Account == "" {
		scope.Account = accountOfParams(first(md, "x-goog-request-params"))
	}
	if quotaProject = first(md, quotaKey); quotaProject == "" {
		quotaProject = w.quotaProject
	}
	return scope, quotaProject
}

// quotaKey names the project whose quota a request uses. One that a request itself names
// is what is sent, whatever its client uses otherwise.
const quotaKey = "x-goog-user-project"

// namedIn is the quota project that requests under ctx name, by either way that the SDK
// has for headers.
func namedIn(ctx context.Context) string {
	md, _ := metadata.FromOutgoingContext(ctx)
	if named := first(md, quotaKey); named != "" {
		return named
	}
	return first(callctx.HeadersFromContext(ctx), quotaKey)
}

func first(md metadata.MD, key string) string {
	if v := md[key]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// accountOf finds what a request is about in the fields that Google's APIs name it by.
func accountOf(req any) string {
	if r, ok := req.(interface{ GetParent() string }); ok {
		if a := accountIn(r.GetParent()); a != "" {
			return a
		}
	}
	if r, ok := req.(interface{ GetName() string }); ok {
		if a := accountIn(r.GetName()); a != "" {
			return a
		}
	}
	if r, ok := req.(interface{ GetScope() string }); ok {
		if a := accountIn(r.GetScope()); a != "" {
			return a
		}
	}
	if r, ok := req.(interface{ GetResource() string }); ok {
		if a := accountIn(r.GetResource()); a != "" {
			return a
		}
	}
	return ""
}

// accountOfParams finds it in the routing header that the clients send with each
// request (parent=projects%2Fexample-1), the only place there is for a stream.
func accountOfParams(params string) string {
	for params != "" {
		var pair string
		pair, params, _ = strings.Cut(params, "&")
		_, value, _ := strings.Cut(pair, "=")
		if strings.Contains(value, "%") {
			value, _ = url.QueryUnescape(value)
		}
		if a := accountIn(value); a != "" {
			return a
		}
	}
	return ""
}

// accountIn finds the project, organization or folder in a resource's name:
//
//	projects/example-1/locations/global/keyRings/k
//	//cloudresourcemanager.googleapis.com/folders/123
//
// An answer's name can be hostile; what is found is bounded only by it.
func accountIn(name string) string {
	for at := 0; at < len(name); {
		end := at + segment(name[at:])
		switch name[at:end] {
		case "projects", "organizations", "folders":
			if end+1 < len(name) {
				if id := segment(name[end+1:]); id > 0 {
					return name[at : end+1+id]
				}
			}
		}
		at = end + 1
	}
	return ""
}

// segment is the length of a name's first segment.
func segment(name string) int {
	if i := strings.IndexByte(name, '/'); i >= 0 {
		return i
	}
	return len(name)
}

// serviceOf is the API by Google's name for it: from the host where that says it, else
// from the package of the method, as with an emulator or a tunnel.
func serviceOf(target, method string) string {
	host := target[strings.LastIndexByte(target, '/')+1:] // dns:///cloudasset.googleapis.com:443
	if i := strings.LastIndexByte(host, ':'); i >= 0 {
		host = host[:i]
	}
	if s := serviceOfHost(host); s != "" {
		return s
	}
	return serviceOfPackage(method)
}

// serviceOfHost knows the API's host, with mTLS, in a region
// (us-central1-aiplatform.googleapis.com, run.europe-west1.rep.googleapis.com), that of a
// bucket (example-1.storage.googleapis.com), and that of a Private Service Connect
// endpoint, whose name a user has put after the API's (storage-mine.p.googleapis.com).
// Hosts that all APIs share say nothing, and neither do those of other universes than
// googleapis.com: over gRPC the RPC does, and over REST the host itself stands for it.
func serviceOfHost(host string) string {
	name, ok := cutSuffixFold(host, ".googleapis.com")
	if !ok {
		return ""
	}
	name, rest, _ := strings.Cut(strings.ToLower(name), ".")
	switch rest {
	case "storage":
		return rest
	case "p":
		name = name[:max(0, strings.LastIndexByte(name, '-'))]
	}
	switch name {
	case "", "www", "private", "restricted", "content-googleapis":
		return ""
	}
	if i := strings.LastIndexByte(name, '-'); i >= 0 && regional(name[:i]) {
		name = name[i+1:]
	}
	return name
}

func cutSuffixFold(s, suffix string) (string, bool) {
	at := len(s) - len(suffix)
	if at < 0 || !strings.EqualFold(s[at:], suffix) {
		return s, false
	}
	return s[:at], true
}

// regional tells a location (us, europe, global, us-central1) before an API's name from a
// part of the name.
func regional(location string) bool {
	switch location {
	case "us", "eu", "europe", "asia", "global":
		return true
	case "":
		return false
	}
	last := location[len(location)-1]
	return strings.Contains(location, "-") && '0' <= last && last <= '9'
}

// serviceOfPackage: google.cloud.asset.v1.AssetService is cloudasset.
func serviceOfPackage(method string) string {
	name := strings.TrimPrefix(method, "/")
	name = name[:segment(name)]
	name = name[:max(0, strings.LastIndexByte(name, '.'))] // without the service
	if i := strings.LastIndexByte(name, '.'); i >= 0 && version(name[i+1:]) {
		name = name[:i]
	}
	if api, ok := apis[name]; ok {
		return api
	}
	return strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])
}

func version(s string) bool {
	return len(s) > 1 && s[0] == 'v' && '0' <= s[1] && s[1] <= '9'
}

// apis are the APIs that are not called by the last part of their package.
var apis = map[string]string{
	"google.cloud.asset":            "cloudasset",
	"google.cloud.resourcemanager":  "cloudresourcemanager",
	"google.cloud.kms":              "cloudkms",
	"google.cloud.functions":        "cloudfunctions",
	"google.cloud.bigquery.storage": "bigquerystorage",
	"google.cloud.billing":          "cloudbilling",
	"google.cloud.tasks":            "cloudtasks",
	"google.cloud.scheduler":        "cloudscheduler",
	"google.iam.admin":              "iam",
	"google.iam.credentials":        "iamcredentials",
	"google.devtools.cloudtrace":    "cloudtrace",
	"google.spanner.admin.database": "spanner",
	"google.spanner.admin.instance": "spanner",
	"google.bigtable.admin":         "bigtableadmin",
	"google.firestore.admin":        "firestore",
	"google.storage.control":        "storage",
}
