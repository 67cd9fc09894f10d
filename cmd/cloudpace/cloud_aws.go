package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory/aws"
)

// awsCloud is AWS.
func awsCloud() *cloud {
	var o aws.Options
	return &cloud{
		provider: aws.Provider, title: "AWS", kinds: aws.Kinds(),
		flags: func(c *cobra.Command) {
			fs := c.Flags()
			fs.StringVar(&o.Profile, "profile", "", "AWS: `name` of the profile with the credentials")
			fs.StringVar(&o.RoleARN, "role-arn", "", "AWS: `ARN` of a role to assume")
			fs.StringVar(&o.ExternalID, "external-id", "", "AWS: external `id` for that role")
			fs.StringSliceVar(&o.Regions, "regions", nil, `AWS: "all" that the account has enabled (the default), or a list of `+"`regions`")
			fs.StringVar(&o.Endpoint, "endpoint-url", "", "AWS: `URL` to ask all services at, for emulators and proxies")
			completeList(c, "regions", append([]string{aws.AllRegions}, aws.RegionNames()...))
		},
		check: func() error {
			o.Regions = distinct(o.Regions)
			return o.Check()
		},
		// The SDK's chain ends at the machine's own metadata: who has credentials is
		// known when they were asked for.
		lacks:   is[*aws.NoCredentialsError],
		refused: is[*aws.CredentialsError],
		sources: func(g *cloudpace.Governor) []source {
			o.Governor = g
			return []source{awsSource(o, "")}
		},
		demo: awsDemo,
	}
}

func awsSource(o aws.Options, which string) source {
	return source{
		asking: "asking whose AWS credentials these are, and which regions are enabled" + which,
		open: func(ctx context.Context) (opened, error) {
			account, err := aws.Open(ctx, o)
			if err != nil {
				return opened{}, err
			}
			return opened{accounts: []inventory.Account{account.Account}, tasks: account.Tasks}, nil
		},
	}
}

// numbered says which of several is meant.
func numbered(i, n int) string { return fmt.Sprintf(" (account %d of %d)", i+1, n) }
