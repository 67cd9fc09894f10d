package main

import (
	"context"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/spf13/cobra"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory/azure"
	simazure "github.com/cloudpace/cloudpace/cmd/cloudpace/sim/azure"
)

// azureCloud is Azure.
func azureCloud() *cloud {
	var o azure.Options
	return &cloud{
		provider: azure.Provider, title: "Azure", kinds: azure.Kinds(), selected: azure.Selected,
		flags: func(c *cobra.Command) {
			fs := c.Flags()
			fs.StringSliceVar(&o.Subscriptions, "subscriptions", nil, "Azure: `ids` of the subscriptions to read (default: all that the credentials see)")
			fs.StringVar(&o.ManagementGroup, "management-group", "", "Azure: `name` of a management group to read, with the groups below it")
			fs.StringVar(&o.Cloud, "azure-cloud", "", "Azure: `cloud` to read: "+strings.Join(azure.CloudNames(), ", ")+" (default: public)")
			fs.StringVar(&o.Endpoint, "azure-endpoint", "", "Azure: `URL` to ask Resource Manager at, for emulators and proxies")
			completeList(c, "subscriptions", nil)
			completeList(c, "azure-cloud", azure.CloudNames())
		},
		check: func() error {
			o.Subscriptions = distinct(o.Subscriptions)
			return o.Check()
		},
		absent:  func() error { return azureAbsent(osLooks) },
		lacks:   is[*azure.NoCredentialsError],
		refused: is[*azure.CredentialsError],
		sources: func(g *cloudpace.Governor) []source {
			o.Governor = g
			if o.Plain() {
				o.Credential = noLogin{}
			}
			return []source{azureSource(o)}
		},
		demo: azureDemo,
	}
}

func azureSource(o azure.Options) source {
	return source{
		asking: "asking whose Azure credentials these are, and which subscriptions they see",
		open: func(ctx context.Context) (opened, error) {
			tenant, err := azure.Open(ctx, o)
			if err != nil {
				return opened{}, err
			}
			return opened{tenant.Accounts(), tenant.Tasks, tenant.Close}, nil
		},
	}
}

// noLogin is the credential for what is asked without TLS, which is an emulator: no
// token of the user's goes there, but one that opens nothing.
type noLogin struct{}

// GetToken gives that token.
func (noLogin) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: simazure.Token, ExpiresOn: time.Now().Add(24 * time.Hour)}, nil
}
