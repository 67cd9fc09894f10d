package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory/gcp"
)

// gcpCloud is Google Cloud.
func gcpCloud() *cloud {
	var o gcp.Options
	return &cloud{
		provider: gcp.Provider, title: "Google Cloud", kinds: gcp.Kinds(), selected: gcp.Selected,
		flags: func(c *cobra.Command) {
			fs := c.Flags()
			fs.StringSliceVar(&o.Parents, "parent", nil, "Google Cloud: `parents` to read: organizations/NUMBER, folders/NUMBER, projects/ID (default: all projects that the credentials see)")
			fs.StringVar(&o.QuotaProject, "quota-project", "", "Google Cloud: `id` of the project whose quota is used (default: that of the credentials)")
			fs.StringVar(&o.Endpoint, "gcp-endpoint", "", "Google Cloud: `URL` to ask at, for emulators and proxies")
			completeList(c, "parent", []string{"organizations/", "folders/", "projects/"})
		},
		check: func() error {
			o.Parents = distinct(o.Parents)
			return o.Check()
		},
		absent:  func() error { return gcpAbsent(osLooks) },
		lacks:   is[*gcp.NoCredentialsError],
		refused: is[*gcp.CredentialsError],
		sources: func(g *cloudpace.Governor) []source {
			o.Governor = g
			return []source{gcpSource(o)}
		},
		demo: gcpDemo,
	}
}

func gcpSource(o gcp.Options) source {
	asking := "looking for Google Cloud credentials"
	if len(o.Parents) == 0 {
		asking += ", and asking which projects they see"
	}
	return source{
		asking: asking,
		open: func(ctx context.Context) (opened, error) {
			estate, err := gcp.Open(ctx, o)
			if err != nil {
				return opened{}, err
			}
			return opened{estate.Accounts(), estate.Tasks, estate.Close}, nil
		},
	}
}
