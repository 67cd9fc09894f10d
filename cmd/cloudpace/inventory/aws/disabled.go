package aws

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

// closed is the error of a region that the account says it has not enabled: it is
// not asked at all (F06).
func (a *Account) closed(region string) error {
	if !a.Regions.Verified || slices.Contains(a.enabled, region) {
		return nil
	}
	return &inventory.RegionDisabledError{Region: region}
}

// blameRegion tells a region that is not enabled from credentials that are not
// good, which have the same codes, where the account may not be asked which regions
// it has enabled: it is the region's when another accepts the credentials still.
func (a *Account) blameRegion(ctx context.Context, region string, err error) error {
	if err == nil || a.Regions.Verified || region == a.cfg.Region ||
		!hasCode(err, "AuthFailure", "InvalidClientTokenId", "UnrecognizedClientException") {
		return err
	}
	if !a.accepted.ask(func() (good, known bool) {
		_, refused := sts.NewFromConfig(a.cfg).GetCallerIdentity(ctx, nil)
		return refused == nil, refused == nil || inventory.ReasonOf(Provider, refused) == inventory.CredentialsExpired
	}) {
		return err
	}
	return &inventory.RegionDisabledError{Region: region, Err: err}
}

// accepted remembers for a moment whether the credentials are still good, so that
// not every task of a region asks.
type accepted struct {
	mu   sync.Mutex
	at   time.Time
	good bool
}

// What nobody answers is asked again.
func (a *accepted) ask(ask func() (good, known bool)) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if now := time.Now(); a.at.IsZero() || now.Sub(a.at) > time.Minute {
		good, known := ask()
		if !known {
			return good
		}
		a.good, a.at = good, now
	}
	return a.good
}
