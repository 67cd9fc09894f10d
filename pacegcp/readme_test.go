package pacegcp_test

import (
	"context"
	"fmt"
	"testing"

	asset "cloud.google.com/go/asset/apiv1"
	"cloud.google.com/go/asset/apiv1/assetpb"

	"github.com/cloudpace/cloudpace/pacegcp"
)

// The README's code, word for word; the command's end-to-end test compares them.

func assets(ctx context.Context, organization, project string) error {
	through := pacegcp.WithQuotaProject(project) // whose 100 requests a minute are used
	client, err := asset.NewClient(ctx, pacegcp.ClientOptions(through)...)
	if err != nil {
		return err
	}
	for a, err := range pacegcp.ListAssets(ctx, client, &assetpb.ListAssetsRequest{Parent: organization}, through) {
		if err != nil {
			return err // a *pacegcp.ListingError, with the page token to go on from
		}
		fmt.Println(a.GetName())
	}
	return nil
}

func TestReadmeCode(*testing.T) {
	_ = assets // compiling is all that can be asked of it without credentials
}
