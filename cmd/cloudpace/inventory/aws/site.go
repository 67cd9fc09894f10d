package aws

import (
	"cmp"
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi"
	"github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi/schemas"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go/transport/http/protocol/awsjson"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

// site is an account in a region: what the rows of the table work with.
type site struct {
	partition, account string
	region             string // where the clients ask
	// listed has the types that tasks of this run list, for the sweep.
	listed map[string]bool

	ec2     *ec2.Client
	s3      *s3.Client
	sqs     *sqs.Client
	iam     *iam.Client
	lambda  *lambda.Client
	tagging *resourcegroupstaggingapi.Client
}

func newSite(cfg aws.Config, partition, account, region string, listed map[string]bool) *site {
	cfg = cfg.Copy()
	cfg.Region = region
	return &site{
		partition: partition, account: account, region: region, listed: listed,
		ec2: ec2.NewFromConfig(cfg),
		s3: s3.NewFromConfig(cfg, func(o *s3.Options) {
			// Buckets as host names exist at AWS; another endpoint has one name.
			o.UsePathStyle = o.BaseEndpoint != nil
		}),
		sqs:    sqs.NewFromConfig(cfg),
		iam:    iam.NewFromConfig(cfg),
		lambda: lambda.NewFromConfig(cfg),
		tagging: resourcegroupstaggingapi.NewFromConfig(cfg, func(o *resourcegroupstaggingapi.Options) {
			// The SDK prefers CBOR, which emulators and proxies do not read yet; the
			// service speaks both.
			o.Protocol = awsjson.New11(schemas.ResourceGroupsTaggingAPI_20170126)
		}),
	}
}

// arn makes the ARN of something in this region. owner "" is the account that
// is read; some types have "-" for no account in their ARN.
func (s *site) arn(service, owner, resource string) string {
	owner = cmp.Or(owner, s.account)
	if owner == noOwner {
		owner = ""
	}
	return "arn:" + s.partition + ":" + service + ":" + s.region + ":" + owner + ":" + resource
}

const noOwner = "-"

// reader is what a row does in a site.
type reader func(context.Context, *site, *inventory.Output) error

// detail is one more call for each item of a listing.
type detail[T any] struct {
	name string
	read func(context.Context, *site, T, *inventory.Asset) error
}

// listing makes a reader of what is particular to one API: ask for a page, take
// it apart into items and the next token, describe an item. SDK paginators are
// not used: they either follow a repeated token for ever or end there as if all
// had been read.
func listing[O, T any](
	ask func(context.Context, *site, *string) (*O, error),
	take func(*O) ([]T, *string),
	describe func(*site, T) inventory.Asset,
	details ...detail[T],
) reader {
	return func(ctx context.Context, s *site, out *inventory.Output) error {
		page := func(ctx context.Context, token string) ([]T, string, error) {
			var from *string
			if token != "" {
				from = &token
			}
			answer, err := ask(ctx, s, from)
			if err != nil {
				return nil, "", err
			}
			items, next := take(answer)
			return items, aws.ToString(next), nil
		}
		bound := make([]inventory.Detail[T], len(details))
		for i, d := range details {
			bound[i] = inventory.Detail[T]{Name: d.name, Read: func(ctx context.Context, item T, a *inventory.Asset) error {
				return d.read(ctx, s, item, a)
			}}
		}
		return inventory.Walk(ctx, out, page, func(item T) inventory.Asset { return describe(s, item) }, bound...)
	}
}
