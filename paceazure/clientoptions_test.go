package paceazure_test

import (
	"context"
	"net/http"
	"reflect"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/paceazure"
)

// pass is a policy of the user's own.
type pass struct{ name string }

func (pass) Do(req *policy.Request) (*http.Response, error) { return req.Next() }

func TestS11_1BaseIsExtendedAndNeverChanged(t *testing.T) {
	base := &arm.ClientOptions{AuxiliaryTenants: []string{"tenant"}}
	base.Retry = policy.RetryOptions{MaxRetries: 2, TryTimeout: time.Second, StatusCodes: []int{429}}
	base.PerCallPolicies = make([]policy.Policy, 1, 4)
	base.PerRetryPolicies = make([]policy.Policy, 1, 4)
	base.PerCallPolicies[0], base.PerRetryPolicies[0] = pass{"call"}, pass{"retry"}
	before := base.Clone()

	one := paceazure.ClientOptions(base, paceazure.WithGovernor(governor(t, nil)))
	paceazure.ClientOptions(base)
	if !reflect.DeepEqual(base, before) {
		t.Errorf("base is now %+v, was %+v", base, before)
	}
	for _, p := range append(base.PerCallPolicies[:4], base.PerRetryPolicies[:4]...) {
		if _, own := p.(pass); p != nil && !own {
			t.Errorf("a %T was written behind base's policies", p)
		}
	}
	if len(one.PerCallPolicies) != 2 || one.PerCallPolicies[0] != (pass{"call"}) || one.PerRetryPolicies[0] != (pass{"retry"}) ||
		one.AuxiliaryTenants[0] != "tenant" {
		t.Errorf("base's settings are not in %+v", one)
	}
	if nothing := paceazure.ClientOptions(nil, nil, paceazure.WithGovernor(nil)); len(nothing.PerCallPolicies) != 1 {
		t.Errorf("from nil: %+v", nothing)
	}
	r := one.Retry
	if r.MaxRetries != 8 || r.RetryDelay != 180*time.Millisecond || r.MaxRetryDelay != time.Minute || r.TryTimeout != 0 {
		t.Errorf("retries are %+v", r)
	}
	if n := paceazure.ClientOptions(nil, paceazure.WithGovernor(governor(t, func(p *cloudpace.Provider) { p.MaxRetries = 0 }))).Retry.MaxRetries; n != -1 {
		t.Errorf("max_retries 0 gives azcore %d", n)
	}
}

// Options that are extended twice take one token for a request, from the second
// governor, and keep what base said.
func TestS11_1ExtendingTwiceReplaces(t *testing.T) {
	f := script(code(404, "NotFound"), code(404, "NotFound"), ok())
	base := f.loopback(t)
	base.Retry.StatusCodes = []int{404}
	first, second := governor(t, nil), governor(t, nil)
	options := paceazure.ClientOptions(base, paceazure.WithGovernor(first))
	options = paceazure.ClientOptions(options, paceazure.WithGovernor(second))
	if len(options.PerCallPolicies) != 1 || len(options.PerRetryPolicies) != 1 {
		t.Errorf("%d and %d policies", len(options.PerCallPolicies), len(options.PerRetryPolicies))
	}
	if err := bareClient(t, options).get(computePath); err != nil {
		t.Fatal(err)
	}
	if n := first.Summary(nil).Totals.Calls; n != 0 {
		t.Errorf("%d calls at the governor that was replaced", n)
	}
	if n := second.Summary(nil).Totals; n.Calls != 3 || n.Retries != 2 {
		t.Errorf("%+v", n)
	}
}

// What the options that are extended say about repeating stays in force, errors
// and successes included.
func TestS11_1OwnRulesOfRepeatingStay(t *testing.T) {
	f := script(answer{status: 200, body: "not yet"}, answer{status: 200, body: "not yet"}, retryAfter(429, "0"), ok())
	base := f.loopback(t)
	base.Retry.ShouldRetry = func(resp *http.Response, err error) bool {
		return err != nil || resp.ContentLength == int64(len("not yet"))
	}
	g := governor(t, nil)
	c := newClient(t, base, g)
	if err := c.get(computePath); as[*azcore.ResponseError](t, err).StatusCode != 429 {
		t.Error(err) // the rules do not repeat it
	}
	if n := len(f.arrivals()); n != 3 {
		t.Errorf("%d requests", n)
	}
	clean(t, g)
}

// TryTimeout bounds what is sent, not the waits before.
func TestS11_1TryTimeoutLeavesWaitsAlone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := script(ok(), answer{hang: true}, ok())
		base := f.inProcess()
		base.Retry.TryTimeout = time.Second
		g := governor(t, func(p *cloudpace.Provider) { p.MaxRPS, p.Burst = 0.1, 1 })
		c := newClient(t, base, g)
		for range 2 {
			if err := c.get(computePath); err != nil {
				t.Fatal(err)
			}
		}
		// The second waits 10 s for a token, hangs for 1 s, and is sent again with the
		// next token.
		if at := f.at(); len(at) != 3 || at[1] != 10*time.Second || at[2] != 20*time.Second {
			t.Errorf("sent at %v", at)
		}
		if n := g.Summary(nil).Totals; n.TransientErrors != 1 {
			t.Errorf("%+v", n)
		}
	})
}

// audience notes what a login is asked for.
type audience struct {
	login
	scopes []string
}

func (a *audience) GetToken(ctx context.Context, o policy.TokenRequestOptions) (azcore.AccessToken, error) {
	a.scopes = o.Scopes
	return a.login.GetToken(ctx, o)
}

// One value of options governs clients of every cloud.
func TestS11_1Clouds(t *testing.T) {
	for _, tc := range []struct {
		cloud          cloud.Configuration
		host, audience string
	}{
		{cloud.Configuration{}, "management.azure.com", "https://management.core.windows.net//.default"},
		{cloud.AzurePublic, "management.azure.com", "https://management.core.windows.net//.default"},
		{cloud.AzureGovernment, "management.usgovcloudapi.net", "https://management.core.usgovcloudapi.net//.default"},
		{cloud.AzureChina, "management.chinacloudapi.cn", "https://management.core.chinacloudapi.cn//.default"},
	} {
		host := ""
		g := governor(t, nil)
		base := &arm.ClientOptions{}
		base.Cloud = tc.cloud
		base.Transport = transport(func(req *http.Request) (*http.Response, error) {
			host = req.URL.Host
			return instant{}.Do(req)
		})
		cred := &audience{}
		c, err := arm.NewClient("test", "v1.0.0", cred, paceazure.ClientOptions(base, paceazure.WithGovernor(g)))
		if err != nil {
			t.Fatal(err)
		}
		if err := (client{t, c}).get(computePath); err != nil {
			t.Fatal(err)
		}
		if host != tc.host || len(cred.scopes) != 1 || cred.scopes[0] != tc.audience {
			t.Errorf("asked %s with a token for %v, want %s and %s", host, cred.scopes, tc.host, tc.audience)
		}
		if n := scopeStats(t, g, computeScope).Calls; n != 1 {
			t.Errorf("%s: %d calls", tc.host, n)
		}
	}
}

// transport is a function as azcore's transport.
type transport func(*http.Request) (*http.Response, error)

func (f transport) Do(req *http.Request) (*http.Response, error) { return f(req) }

// S9.3: disabled, clients retry as their options said before; whether that was so
// when the options were made, or came later.
func TestS9_3DisabledClientsRetryAsBefore(t *testing.T) {
	for _, later := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			f := script(retryAfter(429, "7"))
			base := f.inProcess()
			base.Retry.MaxRetries = 2
			g := governor(t, func(p *cloudpace.Provider) { p.Enabled = later })
			c := newClient(t, base, g)
			if later {
				cfg := g.Config()
				cfg.Enabled = false
				if err := g.Configure(cfg); err != nil {
					t.Fatal(err)
				}
			}
			err := c.get(computePath)
			if as[*azcore.ResponseError](t, err).StatusCode != 429 {
				t.Error(err)
			}
			if at := f.at(); len(at) != 3 || at[2] != 14*time.Second {
				t.Errorf("sent at %v", at)
			}
			if n := g.Summary(nil).Totals.Calls; n != 0 {
				t.Errorf("%d calls counted", n)
			}
			// What the caller's context says goes first.
			ctx := policy.WithRetryOptions(t.Context(), policy.RetryOptions{MaxRetries: -1})
			_, _ = c.send(ctx, "GET", computePath, "")
			if n := len(f.at()); n != 4 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// Retry options in the caller's context go before ours; the budget, the deadline
// and S11.7 hold all the same.
func TestRetryOptionsOfTheContext(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := script(code(404, "NotFound"))
		g := governor(t, func(p *cloudpace.Provider) { p.RetryBudget = 1 })
		c := newClient(t, f.inProcess(), g)
		ctx := policy.WithRetryOptions(t.Context(), policy.RetryOptions{MaxRetries: 9, StatusCodes: []int{404}})
		_, err := c.send(ctx, "GET", computePath, "")
		_ = as[*cloudpace.RetryBudgetExhaustedError](t, err)
		if n := len(f.at()); n != 4 { // two free retries and a paid one
			t.Errorf("%d requests", n)
		}
		clean(t, g)

		f = script(code(500, "InternalServerError"))
		g = governor(t, nil)
		c = newClient(t, f.inProcess(), g)
		ctx = policy.WithRetryOptions(t.Context(), policy.RetryOptions{MaxRetries: 1})
		_, err = c.send(ctx, "GET", computePath, "")
		if as[*azcore.ResponseError](t, err).StatusCode != 500 || len(f.at()) != 2 {
			t.Errorf("%d requests, %v", len(f.at()), err)
		}
		_, err = c.send(ctx, "POST", computePath, "{}")
		if as[*azcore.ResponseError](t, err).StatusCode != 500 || len(f.at()) != 3 {
			t.Errorf("%d requests with the one that is not safe, %v", len(f.at()), err)
		}
		clean(t, g)
	})
}
