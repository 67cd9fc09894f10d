package paceazure_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/paceazure"
)

func TestS11_2ScopeComesFromTheURL(t *testing.T) {
	const sub = "/subscriptions/" + subscription
	for path, want := range map[string]string{
		computePath: computeScope,
		"/Subscriptions/ABCDEF00-0000-0000-0000-000000000001/providers/microsoft.COMPUTE/disks":                 "azure/abcdef00-0000-0000-0000-000000000001/*/compute",
		sub + "/resourceGroups/one/providers/Microsoft.Compute/disks/d/providers/Microsoft.Authorization/locks": "azure/" + subscription + "/*/authorization",
		sub + "/resourcegroups":                            "azure/" + subscription + "/*/resources",
		sub + "/providers":                                 "azure/" + subscription + "/*/resources",
		sub + "/providers/Microsoft.Network/register":      "azure/" + subscription + "/*/network",
		sub + "/resourceGroups/Microsoft.Web/resources":    "azure/" + subscription + "/*/resources",
		sub + "/providers/Contoso.Things/things":           "azure/" + subscription + "/*/resources",
		"/subscriptions":                                   "azure/*/*/resources",
		"/providers/Microsoft.Management/managementGroups": "azure/*/*/management",
		graphPath: "azure/*/*/resourcegraph",
		sub + "/providers/Microsoft.ResourceGraph/resources":      "azure/*/*/resourcegraph", // S12.1
		sub + "/providers/Microsoft.Compute/locations/x/usages/1": computeScope,
	} {
		g := governor(t, nil)
		f := script(ok())
		if err := newClient(t, f.inProcess(), g).get(path); err != nil {
			t.Fatal(err)
		}
		if s := g.Summary(nil).Scopes; len(s) != 1 || s[0].Scope != want || s[0].Calls != 1 {
			t.Errorf("%s is governed as %+v, want %s", path, s, want)
		}
	}
}

// Tokens come from the subscription's bucket and from the namespace's leaf.
func TestS11_2TokensOfTwoLevels(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := script(ok())
		g := governor(t, func(p *cloudpace.Provider) {
			p.AccountMaxRPS, p.AccountBurst = 1, 2
			p.Services = map[string]cloudpace.Service{"storage": {MaxRPS: 0.1, Burst: 1}}
		})
		c := newClient(t, f.inProcess(), g)
		const storage = "/subscriptions/" + subscription + "/providers/Microsoft.Storage/storageAccounts"
		const other = "/subscriptions/00000000-0000-0000-0000-000000000002/providers/Microsoft.Storage/storageAccounts"
		for _, path := range []string{storage, computePath, computePath, other, storage} {
			if err := c.get(path); err != nil {
				t.Fatal(err)
			}
		}
		at := f.at()
		for i, want := range []time.Duration{0, 0, time.Second, time.Second, 10 * time.Second} {
			if at[i] != want {
				t.Errorf("request %d came at %v, want %v", i+1, at[i], want)
			}
		}
	})
}

// An open breaker refuses at once and sends nothing; the error reads as an answer
// of 429 to handlers of azcore's errors (S2.9).
func TestS11_2OpenBreakerFailsFast(t *testing.T) {
	f := script(code(500, "InternalServerError"))
	g := governor(t, func(p *cloudpace.Provider) { p.MaxRetries, p.BreakerThreshold = 0, 2 })
	c := newClient(t, f.loopback(t), g)
	for range 2 {
		_ = c.get(computePath)
	}
	ctx, ledger := cloudpace.WithLedger(t.Context())
	_, err := c.send(ctx, "GET", computePath, "")
	open := as[*cloudpace.CircuitOpenError](t, err)
	if open.Scope.String() != computeScope || len(f.at()) != 2 {
		t.Errorf("%d requests; %v", len(f.at()), err)
	}
	answer := as[*azcore.ResponseError](t, err)
	if answer.StatusCode != 429 || answer.ErrorCode != "TooManyRequests" || answer.RawResponse.Header.Get("Retry-After") == "" || answer.Error() == "" {
		t.Errorf("reads as %+v", answer)
	}
	if n := g.Summary(nil).Totals; n.Rejected != 1 || !ledger.Degraded() {
		t.Errorf("%+v, ledger %s", n, ledger)
	}
	if err := c.get("/subscriptions/" + subscription + "/providers/Microsoft.Network/virtualNetworks"); errors.As(err, &open) {
		t.Error("the circuit of compute refuses network")
	}
	clean(t, g)
}

// A slot is held while a request is under way, and not during back-off, so the
// account's other services go on (S5.2).
func TestS11_2SlotEndsWithTheAttempt(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const network = "/subscriptions/" + subscription + "/providers/Microsoft.Network/virtualNetworks"
		g := governor(t, func(p *cloudpace.Provider) { p.MaxConcurrency = 1 })
		inUse := func() int { return g.Snapshot().Bulkheads[0].InUse }
		f := newFake(func(n int, a arrival) answer {
			if inUse() != 1 {
				t.Errorf("request %d: %d slots in use", n, inUse())
			}
			if n == 1 {
				return retryAfter(429, "30")
			}
			return ok()
		})
		c := newClient(t, f.inProcess(), g)
		done := make(chan error)
		go func() { done <- c.get(computePath) }()
		time.Sleep(time.Second)
		if inUse() != 0 {
			t.Errorf("%d slots in use during back-off", inUse())
		}
		if err := c.get(network); err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		if at := f.at(); len(at) != 3 || at[1] != time.Second || at[2] < 30*time.Second {
			t.Errorf("sent at %v", at)
		}
		clean(t, g)
	})
}

// slowLogin takes its time, and looks at what is held meanwhile.
type slowLogin struct {
	login
	g    *cloudpace.Governor
	held int
}

func (s *slowLogin) GetToken(ctx context.Context, o policy.TokenRequestOptions) (azcore.AccessToken, error) {
	time.Sleep(10 * time.Second)
	for _, b := range s.g.Snapshot().Bulkheads {
		s.held += b.InUse
	}
	return s.login.GetToken(ctx, o)
}

// Seen: the login comes before the admission.
func TestNothingIsHeldDuringLogin(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := script(ok())
		g := governor(t, nil)
		cred := &slowLogin{g: g}
		c, err := arm.NewClient("test", "v1.0.0", cred, paceazure.ClientOptions(f.inProcess(), paceazure.WithGovernor(g)))
		if err != nil {
			t.Fatal(err)
		}
		if err := (client{t, c}).get(computePath); err != nil {
			t.Fatal(err)
		}
		if n := g.Summary(nil).Totals; cred.held != 0 || n.Calls != 1 || n.Waits != 0 {
			t.Errorf("%d slots held, %+v", cred.held, n)
		}
	})
}

// S5.3: a panic gives everything back.
func TestS5_3PanicGivesBack(t *testing.T) {
	g := governor(t, nil)
	o := cloudAt("http://arm.example.com")
	o.Transport = transport(func(*http.Request) (*http.Response, error) { panic("boom") })
	c := newClient(t, o, g)
	func() {
		defer func() { _ = recover() }()
		_ = c.get(computePath)
	}()
	clean(t, g)
}

// S5.4: a governed client inside a Do takes no second slot.
func TestS5_4InsideDo(t *testing.T) {
	f := script(ok())
	g := governor(t, func(p *cloudpace.Provider) { p.MaxConcurrency = 1 })
	c := newClient(t, f.loopback(t), g)
	scope, err := cloudpace.ParseScope(computeScope)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	err = cloudpace.Do(ctx, scope, func(ctx context.Context) error {
		_, err := c.send(ctx, "GET", computePath, "")
		return err
	}, cloudpace.WithGovernor(g))
	if err != nil {
		t.Fatal(err)
	}
	clean(t, g)
}

// S5.4: what a governed client gives up is not repeated by a Do around it, though the
// client makes an error of its own of the last answer; and it counts once.
func TestS5_4FinalErrorsAreNotRepeatedByDo(t *testing.T) {
	for name, last := range map[string]answer{
		"answer": code(500, "InternalServerError"), "throttle": code(429, "TooManyRequests"), "connection": lost,
	} {
		bubble(t, func(t *testing.T) {
			f := script(last)
			g := governor(t, func(p *cloudpace.Provider) { p.MaxRetries = 1 })
			c := newClient(t, f.inProcess(), g)
			outer := cloudpace.Scope{Provider: "azure", Service: "task"}
			err := cloudpace.Do(t.Context(), outer, func(ctx context.Context) error {
				_, err := c.send(ctx, "GET", computePath, "")
				if err != nil {
					return fmt.Errorf("the task failed: %w", err)
				}
				return nil
			}, cloudpace.WithGovernor(g))
			if err == nil || len(f.at()) != 2 {
				t.Errorf("%s: %d requests, %v", name, len(f.at()), err)
			}
			if n := scopeStats(t, g, "azure/*/*/task"); n.Throttled+n.TransientErrors+n.GaveUp != 0 {
				t.Errorf("%s: %+v", name, n)
			}
			clean(t, g)
		})
	}
}

// S5.4: an error is that of an operation inside only where it is of the same answer.
func TestS5_4OtherAnswersAreRepeatedByDo(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := script(code(500, "InternalServerError"))
		g := governor(t, func(p *cloudpace.Provider) { p.MaxRetries = 1 })
		c := newClient(t, f.inProcess(), g)
		runs := 0
		err := cloudpace.Do(t.Context(), cloudpace.Scope{Provider: "azure", Service: "task"}, func(ctx context.Context) error {
			if runs++; runs > 1 {
				return nil
			}
			if _, err := c.send(ctx, "GET", computePath, ""); err == nil {
				t.Error("no error")
			}
			return &azcore.ResponseError{StatusCode: 500, ErrorCode: "InternalServerError", RawResponse: &http.Response{StatusCode: 500}}
		}, cloudpace.WithGovernor(g))
		if err != nil || runs != 2 {
			t.Errorf("%d runs, %v", runs, err)
		}
	})
}

// S5.4: a call that is made while a request is sent is part of it, as a transport of
// the user's may make one; also where the login has used the context before.
func TestS5_4CallsWithinAnAttempt(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, func(p *cloudpace.Provider) { p.MaxConcurrency = 1 })
		scope, err := cloudpace.ParseScope(computeScope)
		if err != nil {
			t.Fatal(err)
		}
		options := cloudAt("http://arm.example.com")
		options.Transport = transport(func(req *http.Request) (*http.Response, error) {
			if req.Context().Done() == nil {
				t.Error("a context without an end")
			}
			err := cloudpace.Do(req.Context(), scope, func(context.Context) error { return nil }, cloudpace.WithGovernor(g))
			if err != nil {
				return nil, err
			}
			return instant{}.Do(req)
		})
		for _, cred := range []azcore.TokenCredential{login{}, askingLogin{}} {
			start := time.Now()
			if err := loginClient(t, cred, options, g).get(computePath); err != nil || time.Since(start) > time.Second {
				t.Errorf("after %v: %v", time.Since(start), err)
			}
		}
		clean(t, g)
	})
}

// askingLogin uses its context, as a login over net/http does.
type askingLogin struct{ login }

func (l askingLogin) GetToken(ctx context.Context, o policy.TokenRequestOptions) (azcore.AccessToken, error) {
	<-time.After(time.Millisecond)
	ctx.Done()
	return l.login.GetToken(ctx, o)
}

// S3.6: WithMaxWait reaches through the pipeline.
func TestS3_6MaxWait(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := script(ok())
		g := governor(t, func(p *cloudpace.Provider) { p.MinRPS, p.MaxRPS, p.Burst = 0.01, 0.01, 1 })
		c := newClient(t, f.inProcess(), g)
		ctx := cloudpace.WithMaxWait(t.Context(), time.Second)
		for range 2 {
			if _, err := c.send(ctx, "GET", computePath, ""); err != nil {
				t.Fatal(err)
			}
		}
		if at := f.at(); at[1] != time.Second {
			t.Errorf("sent at %v", at)
		}
		_, err := c.send(ctx, "GET", computePath, "") // more than one burst of debt
		_ = as[*cloudpace.DeadlineExceededError](t, err)
	})
}
