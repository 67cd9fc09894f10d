package pacegcp

import (
	"context"
	"crypto/rand"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/googleapis/gax-go/v2/callctx"

	"github.com/cloudpace/cloudpace"
)

// admission is leave to send one request that was asked for outside of the client. It
// travels in the context. A governed client spends it instead of asking again, and
// leaves the rest to whoever has made it (S13.6); any other client knows nothing of it.
type admission struct {
	governor  *cloudpace.Governor
	operation string
	spent     atomic.Bool
	attempt   context.Context // carried by a header: what ends the request
}

type admissionKey struct{}

func (a *admission) within(ctx context.Context) context.Context {
	return context.WithValue(ctx, admissionKey{}, a)
}

// admitted spends the admission in ctx for a request of the same governor and method,
// once.
func admitted(ctx context.Context, g *cloudpace.Governor, method string) bool {
	a, ok := ctx.Value(admissionKey{}).(*admission)
	return ok && a.spend(g, operationOf(method))
}

func (a *admission) spend(g *cloudpace.Governor, operation string) bool {
	return a.governor == g && a.operation == operation && a.spent.CompareAndSwap(false, true)
}

// operationOf is the RPC's name in a method (/google.cloud.asset.v1.AssetService/ListAssets).
func operationOf(method string) string { return method[strings.LastIndexByte(method, '/')+1:] }

// admissionHeader carries an admission where the context does not: the listings of the
// SDK's REST clients drop it, but make their headers from it. [NewTransport] takes it
// off. Where another transport sends it, it is a random word that means nothing to
// anybody.
const admissionHeader = "x-cloudpace-admission"

// admissionHeaders are it as gax writes it and as net/http does.
var admissionHeaders = [...]string{admissionHeader, http.CanonicalHeaderKey(admissionHeader)}

// carriedAdmissions are those under way, by their header.
var carriedAdmissions sync.Map // string to *admission

// carry puts the admission into the headers of what is sent under ctx, until the
// function that it gives is called.
func (a *admission) carry(ctx *context.Context) (done func()) {
	key := rand.Text()
	a.attempt = *ctx
	carriedAdmissions.Store(key, a)
	*ctx = callctx.SetHeaders(*ctx, admissionHeader, key)
	return func() { carriedAdmissions.Delete(key) }
}

// carriedBy gives the admission that came with a request, if any, and the request to
// send, which does not have the header. The headers themselves are the SDK's.
func carriedBy(req *http.Request) (*admission, *http.Request) {
	var key string
	for _, name := range admissionHeaders {
		if v := req.Header[name]; len(v) > 0 {
			key = v[0]
		}
	}
	if key == "" {
		return nil, req
	}
	plain := *req // its context and body are the same
	plain.Header = req.Header.Clone()
	for _, name := range admissionHeaders {
		delete(plain.Header, name)
	}
	a, _ := carriedAdmissions.Load(key)
	leave, _ := a.(*admission)
	return leave, &plain
}
