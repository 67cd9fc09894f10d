package pacegcp

import (
	"os"
	"strings"

	"github.com/cloudpace/cloudpace"
)

// provider is the name that limits, codes and scopes of Google Cloud have in cloudpace.
const provider = "gcp"

// Option changes what the functions of this package do. Options are applied in
// order, later ones win.
type Option func(*wiring)

// WithGovernor makes g govern the calls. Without it, or with nil, that is
// [cloudpace.Default].
func WithGovernor(g *cloudpace.Governor) Option {
	return func(w *wiring) { w.governor = g }
}

// WithQuotaProject names the project whose quota the calls use, "my-project" or
// "projects/my-project". Google charges most requests to the project of the client and
// not to what is read, so forty organizations read through one project share its
// quota: tokens and rate are then that project's. Circuit breakers, slots and numbers
// stay those of what is read.
//
// [ClientOptions] and [NewTransport] also send the name, as the SDK's own option
// would. Listings only count by it: give them the project that their client uses.
// One that a request names itself (X-Goog-User-Project, among its headers or in the
// metadata of its context) goes before, over gRPC, over REST and for listings alike, as
// it is what is sent. Without either it is that of the environment
// (GOOGLE_CLOUD_QUOTA_PROJECT), as for the SDK; the one in a credentials file is not
// known here.
func WithQuotaProject(id string) Option {
	return func(w *wiring) { w.quotaProject = strings.TrimPrefix(strings.TrimSpace(id), "projects/") }
}

// wiring is what the hooks of one client share. It is not changed once it is made.
type wiring struct {
	governor     *cloudpace.Governor
	quotaProject string // an id; empty where it is not known
	named        bool   // by an option
}

func newWiring(opts []Option) *wiring {
	w := &wiring{}
	for _, opt := range opts {
		if opt != nil {
			opt(w)
		}
	}
	if w.governor == nil {
		w.governor = cloudpace.Default()
	}
	w.named = w.quotaProject != ""
	if !w.named {
		w.quotaProject = strings.TrimSpace(os.Getenv("GOOGLE_CLOUD_QUOTA_PROJECT"))
	}
	return w
}

// charged is what a call in scope is charged to: the same API and RPC of the quota
// project where that is known, else the scope itself (S13.5).
func charged(scope cloudpace.Scope, quotaProject string) cloudpace.BeginOption {
	if quotaProject != "" {
		scope.Account = "projects/" + quotaProject
	}
	return cloudpace.ChargedTo(scope)
}
