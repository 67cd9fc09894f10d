package azure

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

// slow is a credential that takes a second, and whose tokens are good for an hour.
type slow struct {
	asked *atomic.Int32
	err   error
}

func (s slow) GetToken(ctx context.Context, _ policy.TokenRequestOptions) (azcore.AccessToken, error) {
	s.asked.Add(1)
	select {
	case <-ctx.Done():
		return azcore.AccessToken{}, ctx.Err()
	case <-time.After(time.Second):
	}
	return azcore.AccessToken{Token: "t", ExpiresOn: time.Now().Add(time.Hour)}, s.err
}

// TestC18: 300 clients that want a token at the same moment are one question, and the
// token serves until shortly before its end.
func TestC18(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		l := newLogin(slow{asked: &asked})
		storm := func(o policy.TokenRequestOptions) {
			var wg sync.WaitGroup
			for range 300 {
				wg.Go(func() {
					if token, err := l.GetToken(t.Context(), o); err != nil || token.Token != "t" {
						t.Errorf("%v %v", token, err)
					}
				})
			}
			wg.Wait()
		}
		for i, wait := range []time.Duration{0, 54 * time.Minute, 2 * time.Minute} {
			time.Sleep(wait)
			storm(policy.TokenRequestOptions{Scopes: []string{"s"}})
			if want := []int32{1, 1, 2}[i]; asked.Load() != want {
				t.Errorf("asked %d times, want %d", asked.Load(), want)
			}
		}
		storm(policy.TokenRequestOptions{Scopes: []string{"s"}, Claims: "more"})
		if asked.Load() != 3 {
			t.Errorf("asked %d times; a token with other claims is another one", asked.Load())
		}
		storm(policy.TokenRequestOptions{Scopes: []string{"s"}})
		if asked.Load() != 3 {
			t.Errorf("asked %d times; the token with claims takes the place of the one without", asked.Load())
		}
		storm(policy.TokenRequestOptions{Scopes: []string{"s"}, TenantID: "t"})
		if asked.Load() != 4 {
			t.Errorf("asked %d times; another tenant's token is another one", asked.Load())
		}
	})
}

// TestLoginErrors: an error is told to all who wait, and not remembered; who leaves
// takes nobody along.
func TestLoginErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		l := newLogin(slow{asked: &asked, err: errors.New("no")})
		var wg sync.WaitGroup
		for range 30 {
			wg.Go(func() {
				var failed *inventory.LoginError
				if _, err := l.GetToken(t.Context(), policy.TokenRequestOptions{}); !errors.As(err, &failed) || !strings.Contains(err.Error(), "login: no") {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if _, err := l.GetToken(t.Context(), policy.TokenRequestOptions{}); err == nil || asked.Load() != 2 {
			t.Errorf("%v, asked %d times", err, asked.Load())
		}
	})
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		l := newLogin(slow{asked: &asked})
		short, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := l.GetToken(short, policy.TokenRequestOptions{}); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		})
		synctest.Wait()
		wg.Go(func() {
			if token, err := l.GetToken(t.Context(), policy.TokenRequestOptions{}); err != nil || token.Token != "t" {
				t.Error(token, err)
			}
		})
		wg.Wait()
		if asked.Load() != 2 {
			t.Errorf("asked %d times", asked.Load())
		}
	})
}
