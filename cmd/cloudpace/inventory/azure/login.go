package azure

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

// login asks a credential once for all clients. Each client remembers its own token,
// and hundreds that start, or whose tokens end, at the same moment would ask together:
// a machine's identity answers five of them a second (C18).
type login struct {
	source azcore.TokenCredential

	mu      sync.Mutex
	flights map[string]*flight // the last of each scope and tenant
}

// flight is one question to the source, and its answer.
type flight struct {
	claims string // what the token has to have, as whoever refused the one before says
	done   chan struct{}
	ended  bool // who asked left before the answer
	token  azcore.AccessToken
	err    error
}

// early is how long before its end a token is not good any more; azcore wants as much.
const early = 5 * time.Minute

func newLogin(source azcore.TokenCredential) *login {
	return &login{source: source, flights: make(map[string]*flight)}
}

// GetToken gives the token that there is, or asks the source. The errors of sources
// say in words alone what they are; see [inventory.LoginError].
func (l *login) GetToken(ctx context.Context, o policy.TokenRequestOptions) (azcore.AccessToken, error) {
	key := strings.Join(slices.Concat(o.Scopes, []string{o.TenantID}), " ")
	for {
		f, mine := l.join(key, o.Claims)
		if mine {
			l.ask(ctx, f, o)
		} else {
			select {
			case <-f.done:
			case <-ctx.Done():
				return azcore.AccessToken{}, ctx.Err()
			}
		}
		if !f.ended || mine {
			return f.token, f.err
		}
	}
}

// join gives the question under way or its answer where that is good still, and
// otherwise a new one, which whoever gets it has to ask. Claims come with a token that
// was revoked: what was asked without them is replaced, also for those who know of
// none yet and would send the revoked one once more.
func (l *login) join(key, claims string) (f *flight, mine bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f = l.flights[key]; f != nil && (claims == "" || claims == f.claims) {
		select {
		case <-f.done:
			if f.err == nil && time.Until(f.token.ExpiresOn) > early {
				return f, false
			}
		default:
			return f, false
		}
	}
	f = &flight{claims: claims, done: make(chan struct{})}
	l.flights[key] = f
	return f, true
}

func (l *login) ask(ctx context.Context, f *flight, o policy.TokenRequestOptions) {
	defer close(f.done)
	f.ended = true // also where the source panics
	f.token, f.err = l.source.GetToken(ctx, o)
	f.ended = f.err != nil && ctx.Err() != nil
	if f.err != nil && !f.ended {
		f.err = &inventory.LoginError{Err: f.err}
	}
}
