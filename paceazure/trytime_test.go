package paceazure_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/cloudpace/cloudpace"
)

// minding does not send what has no time left.
func minding(f *fake) transport {
	return func(req *http.Request) (*http.Response, error) {
		if err := req.Context().Err(); err != nil {
			return nil, err
		}
		return f.Do(req)
	}
}

// S11.2: the time that a call's context allows one attempt is for the request as it is
// sent. A wait to be admitted uses none of it up, and is no failure of the service.
func TestS11_2TryTimeoutOfTheContext(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(func(n int, _ arrival) answer {
			if n == 2 {
				return answer{hang: true}
			}
			return ok()
		})
		options := f.inProcess()
		options.Transport = minding(f)
		g := governor(t, func(p *cloudpace.Provider) {
			p.MaxRPS, p.MinRPS, p.Burst, p.BreakerThreshold, p.AccountMaxRPS = 0.1, 0.1, 1, 1, 0
		})
		c := newClient(t, options, g)
		_ = c.get(computePath)
		ctx := policy.WithRetryOptions(t.Context(), policy.RetryOptions{TryTimeout: time.Second, MaxRetries: 3})
		if _, err := c.send(ctx, "GET", computePath, ""); err != nil {
			t.Error(err)
		}
		// Ten seconds for a token, and one for the attempt that hangs.
		if at := f.at(); len(at) != 3 || at[1] != 10*time.Second || at[2] < 20*time.Second {
			t.Errorf("sent at %v", at)
		}
		if n := g.Summary(nil).Totals; n.TransientErrors != 1 || g.Snapshot().Breakers[0].Failures != 0 {
			t.Errorf("%+v", n)
		}
		clean(t, g)
	})
}

// A login that takes all of an attempt's time leaves none to send with: nothing is
// admitted, and nobody gets a mark.
func TestS11_2LoginUsesTheTryUp(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := script(ok())
		g := governor(t, nil)
		ctx := policy.WithRetryOptions(t.Context(), policy.RetryOptions{TryTimeout: time.Second, MaxRetries: 3})
		options := f.inProcess()
		options.Transport = minding(f)
		c := loginClient(t, &slowLogin{g: g}, options, g)
		if _, err := c.send(ctx, "GET", computePath, ""); err != nil {
			t.Error(err)
		}
		if n := g.Summary(nil).Totals; n.Calls != 1 || n.TransientErrors != 0 {
			t.Errorf("%+v", n)
		}
	})
}

// perRetry is a policy of the user's.
type perRetry func(*policy.Request) (*http.Response, error)

func (p perRetry) Do(req *policy.Request) (*http.Response, error) { return p(req) }

// What a user's policy does to an attempt's context reaches the request: its values,
// its time, and its cancellation.
func TestPoliciesOfTheUserBoundAnAttempt(t *testing.T) {
	type key struct{}
	for name, end := range map[string]func(context.Context) (context.Context, context.CancelFunc){
		"time": func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Second)
		},
		"cancel": func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithTimeout(ctx, time.Minute)
			time.AfterFunc(time.Second, cancel)
			return ctx, cancel
		},
	} {
		bubble(t, func(t *testing.T) {
			f := script(answer{hang: true}, ok())
			options := f.inProcess()
			options.Transport = transport(func(req *http.Request) (*http.Response, error) {
				if req.Context().Value(key{}) != name {
					t.Errorf("%s: the value is lost", name)
				}
				return f.Do(req)
			})
			options.PerRetryPolicies = []policy.Policy{perRetry(func(req *policy.Request) (*http.Response, error) {
				ctx, cancel := end(context.WithValue(req.Raw().Context(), key{}, name))
				defer cancel()
				return req.WithContext(ctx).Next()
			})}
			g := governor(t, nil)
			_ = newClient(t, options, g).get(computePath)
			if at := f.at(); len(at) == 0 || time.Since(f.start) < time.Second || time.Since(f.start) > 10*time.Second {
				t.Errorf("%s: sent at %v, over after %v", name, at, time.Since(f.start))
			}
			clean(t, g)
		})
	}
}

// S11.7: a policy of the user's that fails after an answer makes azcore go on. What is
// not to be sent twice is not, and the rest goes on.
func TestS11_7PolicyFailsAfterSuccess(t *testing.T) {
	for method, want := range map[string]int{"POST": 1, "PATCH": 1, "GET": 3} {
		bubble(t, func(t *testing.T) {
			f := script(ok())
			options := f.inProcess()
			failures := 0
			options.PerRetryPolicies = []policy.Policy{perRetry(func(req *policy.Request) (*http.Response, error) {
				resp, err := req.Next()
				if failures++; err == nil && failures < 3 {
					return nil, errors.New("the audit log is full")
				}
				return resp, err
			})}
			g := governor(t, nil)
			_, err := newClient(t, options, g).send(t.Context(), method, computePath+"/vm/restart", "{}")
			if len(f.at()) != want || (err == nil) != (want == 3) {
				t.Errorf("%s: sent %d times, %v", method, len(f.at()), err)
			}
			if b := g.Snapshot().Breakers[0]; b.Failures != 0 {
				t.Errorf("%+v", b)
			}
			clean(t, g)
		})
	}
}

// Only the login's second request within one of azcore's tries is free, and not each
// that follows a 401.
func TestS11_4RetriesOf401ArePaid(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := script(code(401, "InvalidAuthenticationToken"))
		g := governor(t, func(p *cloudpace.Provider) { p.RetryBudget = 1 })
		ctx := policy.WithRetryOptions(t.Context(), policy.RetryOptions{MaxRetries: 20, StatusCodes: []int{401}, RetryDelay: time.Millisecond})
		_, err := newClient(t, f.inProcess(), g).send(ctx, "GET", computePath, "")
		_ = as[*cloudpace.RetryBudgetExhaustedError](t, err)
		if as[*azcore.ResponseError](t, err).StatusCode != 401 || len(f.at()) != 4 { // two are free
			t.Errorf("%d requests, %v", len(f.at()), err)
		}
		clean(t, g)
	})
}

// S11.3: a throttle is known by its status and headers, also where its body breaks off.
func TestS11_3ThrottleWithABrokenBody(t *testing.T) {
	for _, method := range []string{"GET", "POST"} {
		options, sent := breaking(t, 429, "Retry-After", "0.3")
		g := governor(t, nil)
		start := time.Now()
		_, err := newClient(t, options, g).send(t.Context(), method, computePath+"/vm/restart", "{}")
		if err != nil || sent.Load() != 2 || time.Since(start) < 290*time.Millisecond {
			t.Errorf("%s: %d requests in %v, %v", method, sent.Load(), time.Since(start), err)
		}
		if n := scopeStats(t, g, computeScope); n.Throttled != 1 || n.TransientErrors != 0 {
			t.Errorf("%s: %+v", method, n)
		}
		clean(t, g)
	}
	options, _ := breaking(t, 404)
	err := newClient(t, options, governor(t, nil)).get(computePath)
	if as[*azcore.ResponseError](t, err).StatusCode != 404 {
		t.Error(err)
	}
}

// A body that breaks off is repeated as azcore's loop does it, with the user's own
// rules too: status codes do not speak of errors, and a rule is asked with both.
func TestBrokenBodyWithRulesOfTheUser(t *testing.T) {
	for name, tc := range map[string]struct {
		retry policy.RetryOptions
		want  int32
	}{
		"codes": {policy.RetryOptions{StatusCodes: []int{429, 500}}, 2},
		"rule":  {policy.RetryOptions{ShouldRetry: func(resp *http.Response, err error) bool { return err != nil || resp.StatusCode >= 500 }}, 2},
		"never": {policy.RetryOptions{ShouldRetry: func(*http.Response, error) bool { return false }}, 1},
	} {
		options, sent := breaking(t, 200)
		options.Retry = tc.retry
		g := governor(t, nil)
		err := newClient(t, options, g).get(computePath)
		if sent.Load() != tc.want || (err == nil) != (tc.want == 2) {
			t.Errorf("%s: %d requests, %v", name, sent.Load(), err)
		}
		clean(t, g)
	}
}
