package aws

import (
	"context"
	"path"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/acm"
	"github.com/aws/aws-sdk-go-v2/service/acm/types"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

var certificates = listing(
	func(ctx context.Context, s *site, next *string) (*acm.ListCertificatesOutput, error) {
		return client(s, acm.NewFromConfig).ListCertificates(ctx, &acm.ListCertificatesInput{
			// Unasked, ACM leaves out all but RSA of up to 2048 bits, and some origins.
			Includes:                  &types.Filters{KeyTypes: types.KeyAlgorithm("").Values()},
			CertificateKeyPairOrigins: types.CertificateKeyPairOrigin("").Values(),
			MaxItems:                  aws.Int32(1000), NextToken: next,
		})
	},
	func(o *acm.ListCertificatesOutput) ([]types.CertificateSummary, *string) {
		return o.CertificateSummaryList, o.NextToken
	},
	func(_ *site, v types.CertificateSummary) inventory.Asset {
		arn := aws.ToString(v.CertificateArn)
		return inventory.Asset{
			Type: "AWS::CertificateManager::Certificate", ID: path.Base(arn), Name: aws.ToString(v.DomainName), ARN: arn, Properties: inventory.Native(v),
		}
	},
	detail[types.CertificateSummary]{"description", func(ctx context.Context, s *site, v types.CertificateSummary, a *inventory.Asset) error {
		o, err := client(s, acm.NewFromConfig).DescribeCertificate(ctx, &acm.DescribeCertificateInput{CertificateArn: v.CertificateArn})
		if err != nil {
			return err
		}
		a.Properties = inventory.Native(o.Certificate)
		return nil
	}},
	tagged(func(ctx context.Context, s *site, v types.CertificateSummary) (map[string]string, error) {
		o, err := client(s, acm.NewFromConfig).ListTagsForCertificate(ctx, &acm.ListTagsForCertificateInput{CertificateArn: v.CertificateArn})
		if err != nil {
			return nil, err
		}
		return tagsOf(o.Tags, func(t types.Tag) (*string, *string) { return t.Key, t.Value }), nil
	}),
)
