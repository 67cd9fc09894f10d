package paceazure_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/paceazure"
	"github.com/cloudpace/cloudpace/verdict"
)

// badLogin fails from its nth use on.
type badLogin struct {
	login
	from, asked int
	text        string
}

func (b *badLogin) GetToken(ctx context.Context, o policy.TokenRequestOptions) (azcore.AccessToken, error) {
	if b.asked++; b.asked >= b.from {
		return azcore.AccessToken{}, errors.New(b.text)
	}
	tk, err := b.login.GetToken(ctx, o)
	tk.ExpiresOn = time.Now() // so the next attempt asks again
	return tk, err
}

func loginClient(t *testing.T, cred azcore.TokenCredential, options *arm.ClientOptions, g *cloudpace.Governor) client {
	t.Helper()
	c, err := arm.NewClient("test", "v1.0.0", cred, paceazure.ClientOptions(options, paceazure.WithGovernor(g)))
	if err != nil {
		t.Fatal(err)
	}
	return client{t, c}
}

// Bad input: a credential that does not work is one clear error, nothing is sent,
// and no service gets a mark (C18: not even where the login was throttled).
func TestC18FailedLogin(t *testing.T) {
	for _, text := range []string{"no credential found", "429 Too Many Requests: throttled by the token endpoint"} {
		for from := range 2 {
			bubble(t, func(t *testing.T) {
				f := script(code(500, "InternalServerError"))
				g := governor(t, nil)
				err := loginClient(t, &badLogin{from: from + 1, text: text}, f.inProcess(), g).get(computePath)
				if err == nil || !strings.Contains(err.Error(), text) || len(f.at()) != from {
					t.Errorf("%d requests, %v", len(f.at()), err)
				}
				s := g.Snapshot()
				for _, b := range s.Breakers {
					if b.Failures != 0 {
						t.Errorf("%+v", b)
					}
				}
				for _, b := range s.Buckets {
					if b.RPS != b.MaxRPS {
						t.Errorf("%+v", b)
					}
				}
				if n := g.Summary(nil).Totals; n.Throttled != 0 || n.GaveUp != 0 {
					t.Errorf("%+v", n)
				}
				clean(t, g)
			})
		}
	}
}

// A retry that was paid for and never sent, because the login failed before it, is
// given back (S4).
func TestFailedLoginGivesBack(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := script(code(500, "InternalServerError"))
		g := governor(t, func(p *cloudpace.Provider) { p.RetryBudget = 1 })
		err := loginClient(t, &badLogin{from: 4, text: "no credential"}, f.inProcess(), g).get(computePath)
		if err == nil || !strings.Contains(err.Error(), "no credential") || len(f.at()) != 3 { // two retries are free
			t.Errorf("%d requests, %v", len(f.at()), err)
		}
		if budget(g) != 1 {
			t.Errorf("%v tokens left", budget(g))
		}
		clean(t, g)
	})
}

// A token that the server takes for expired, and no credential at all: the 401 is
// the caller's, at once.
func TestExpiredAndMissingCredential(t *testing.T) {
	for _, cred := range []azcore.TokenCredential{login{}, nil} {
		f := script(code(401, "ExpiredAuthenticationToken", "WWW-Authenticate", `Bearer authorization_uri="https://login.example.com"`))
		g := governor(t, nil)
		err := loginClient(t, cred, f.loopback(t), g).get(computePath)
		if e := as[*azcore.ResponseError](t, err); e.StatusCode != 401 || e.ErrorCode != "ExpiredAuthenticationToken" || len(f.at()) != 1 {
			t.Errorf("%d requests, %v", len(f.at()), err)
		}
		if verdict.Classify(err) != verdict.Fatal {
			t.Errorf("classified as %v", verdict.Classify(err))
		}
		clean(t, g)
	}
}

// Seen: the login answers a challenge within one attempt and enters the policy
// again. Each request takes its token and counts, and none of them is a retry.
func TestChallengeWithinAnAttempt(t *testing.T) {
	bubble(t, func(t *testing.T) {
		challenge := code(401, "InvalidAuthenticationToken", "WWW-Authenticate",
			`Bearer authorization_uri="https://login.example.com", error="insufficient_claims", claims="e30="`)
		f := script(challenge, code(500, "InternalServerError"), challenge, ok())
		g := governor(t, func(p *cloudpace.Provider) { p.MaxRetries, p.RetryBudget, p.MaxConcurrency = 1, 0, 1 })
		c := newClient(t, f.inProcess(), g)
		if _, err := c.send(t.Context(), "POST", graphPath, "{}"); err != nil {
			t.Fatal(err)
		}
		if n := g.Summary(nil).Totals; n.Calls != 4 || n.Retries != 1 {
			t.Errorf("%+v", n)
		}
		if b := leaf(t, g, "azure/*/*/resourcegraph"); b.Tokens > 12 {
			t.Errorf("%v tokens left of 15", b.Tokens)
		}
		for _, a := range f.arrivals() {
			if a.body != "{}" {
				t.Errorf("a request had %q", a.body)
			}
		}
		clean(t, g)
	})
}

// Seen: the registration of a resource provider makes calls of its own, one of them
// a write, and they are governed.
func TestRegistrationIsGoverned(t *testing.T) {
	registered := false
	f := newFake(func(_ int, a arrival) answer {
		switch {
		case strings.HasSuffix(a.path, "/register"):
			registered = true
			return answer{status: 200, body: `{"registrationState":"Registering"}`}
		case strings.HasSuffix(a.path, "/providers/Microsoft.Compute"):
			return answer{status: 200, body: `{"registrationState":"Registered"}`}
		case !registered:
			return code(409, "MissingSubscriptionRegistration")
		}
		return ok()
	})
	g := governor(t, nil)
	resp, err := loginClient(t, nil, f.loopback(t), g).send(t.Context(), "PUT",
		"/subscriptions/"+subscription+"/resourceGroups/g/providers/Microsoft.Compute/disks/d", "{}")
	if err != nil || resp.StatusCode != 200 {
		t.Fatal(err)
	}
	if n := scopeStats(t, g, computeScope); n.Calls != 4 || n.Retries != 0 {
		t.Errorf("%+v, requests %+v", n, f.arrivals())
	}
	clean(t, g)
}

// Five subscriptions times sixteen goroutines against a real server that throttles,
// fails and breaks connections: every call comes to its end, every answer to its
// caller, and nothing is left behind. TestMain looks for goroutines.
func TestManyCallersLoseNothing(t *testing.T) {
	const subscriptions, callers, calls = 5, 16, 10
	f := newFake(func(n int, a arrival) answer {
		switch {
		case n%97 == 0:
			return retryAfter(429, "0.05")
		case n%41 == 0:
			return code(500, "InternalServerError")
		case n%67 == 0:
			return answer{err: errors.New("broken")}
		}
		body, _ := json.Marshal(a.path)
		return answer{status: 200, body: string(body)}
	})
	g := governor(t, func(p *cloudpace.Provider) {
		p.MaxRPS, p.Burst, p.AccountMaxRPS, p.AccountBurst = 1000, 1000, 2000, 2000
		p.BreakerThreshold, p.Services = 1000, nil
	})
	options := paceazure.ClientOptions(f.loopback(t), paceazure.WithGovernor(g))
	c := bareClient(t, options) // one for all
	var wg sync.WaitGroup
	for s := range subscriptions {
		for range callers {
			wg.Go(func() {
				for range calls {
					path := "/subscriptions/00000000-0000-0000-0000-00000000000" + string(rune('1'+s)) + "/providers/Microsoft.Compute/disks"
					resp, err := c.send(t.Context(), "GET", path, "")
					if err != nil {
						t.Error(err)
						continue
					}
					var got string
					if err := json.NewDecoder(resp.Body).Decode(&got); err != nil || got != path {
						t.Errorf("asked for %s, got %s, %v", path, got, err)
					}
				}
			})
		}
	}
	wg.Wait()
	n := g.Summary(nil).Totals
	// net/http itself sends a GET again whose kept connection breaks.
	if n.Calls > len(f.at()) || n.Calls != subscriptions*callers*calls+n.Retries || n.GaveUp != 0 || n.Retries == 0 {
		t.Errorf("%+v, %d requests", n, len(f.at()))
	}
	clean(t, g)
	for _, b := range g.Snapshot().Buckets {
		if b.Waiting != 0 {
			t.Errorf("%+v", b)
		}
	}
}

// shortLogin gives tokens that name the time until which the server takes them.
type shortLogin struct{ start time.Time }

func (s shortLogin) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	ends := time.Now().Add(310 * time.Second)
	return azcore.AccessToken{Token: ends.Sub(s.start).String(), ExpiresOn: ends}, nil
}

// A bearer token may end while its request waits for a pause to end. That costs
// another login and not the call; but a login that is of no use is not repeated.
func TestTokensThatEndInTheQueue(t *testing.T) {
	for _, useless := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			f := newFake(func(n int, a arrival) answer {
				ends, err := time.ParseDuration(strings.TrimPrefix(a.auth, "Bearer "))
				switch {
				case err != nil:
					t.Error(err)
				case n == 1:
					return retryAfter(429, "400")
				case useless, a.at > ends:
					return code(401, "ExpiredAuthenticationToken")
				}
				return ok()
			})
			g := governor(t, func(p *cloudpace.Provider) { p.RetryBudget = 0 })
			err := loginClient(t, shortLogin{f.start}, f.inProcess(), g).get(computePath)
			if (err != nil) != useless || len(f.at()) != 3 {
				t.Errorf("%d requests, %v", len(f.at()), err)
			}
			if useless && as[*azcore.ResponseError](t, err).StatusCode != 401 {
				t.Error(err)
			}
			if n := g.Summary(nil).Totals; n.Calls != 3 || n.Retries != 1 {
				t.Errorf("%+v", n)
			}
			clean(t, g)
		})
	}
}

// governedLogin fetches its tokens through a governed client of its own, under the
// context of the request that needs one.
type governedLogin struct {
	login
	client client
}

func (l *governedLogin) GetToken(ctx context.Context, o policy.TokenRequestOptions) (azcore.AccessToken, error) {
	if _, err := l.client.send(ctx, "GET", "/tenants", ""); err != nil {
		return azcore.AccessToken{}, err
	}
	return l.login.GetToken(ctx, o)
}

// Seen: contexts are handed on to the requests of logins, so an operation's state
// does not travel in them: those requests are operations of their own.
func TestLoginThroughAGovernedClient(t *testing.T) {
	bubble(t, func(t *testing.T) {
		failed := map[string]bool{}
		f := newFake(func(_ int, a arrival) answer {
			if !failed[a.path] {
				failed[a.path] = true
				return code(500, "InternalServerError")
			}
			return ok()
		})
		g := governor(t, func(p *cloudpace.Provider) { p.MaxConcurrency = 1 })
		cred := &governedLogin{client: newClient(t, f.inProcess(), g)}
		if err := loginClient(t, cred, f.inProcess(), g).get(computePath); err != nil {
			t.Fatal(err)
		}
		for _, scope := range []string{"azure/*/*/resources", computeScope} {
			if n := scopeStats(t, g, scope); n.Calls != 2 || n.Retries != 1 || n.TransientErrors != 1 {
				t.Errorf("%+v", n)
			}
		}
		clean(t, g)
	})
}
