package aws

import (
	"cmp"
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

var buckets = listing(
	func(ctx context.Context, s *site, next *string) (*s3.ListBucketsOutput, error) {
		// With MaxBuckets S3 also tells each bucket's region.
		return s.s3().ListBuckets(ctx, &s3.ListBucketsInput{MaxBuckets: aws.Int32(1000), ContinuationToken: next})
	},
	func(o *s3.ListBucketsOutput) ([]types.Bucket, *string) { return o.Buckets, o.ContinuationToken },
	func(s *site, b types.Bucket) inventory.Asset {
		name := aws.ToString(b.Name)
		return inventory.Asset{
			Region: aws.ToString(b.BucketRegion), Type: "AWS::S3::Bucket", ID: name, Name: name,
			ARN: "arn:" + s.partition + ":s3:::" + name, Properties: inventory.Native(b),
		}
	},
	detail[types.Bucket]{"region", bucketRegion},
	detail[types.Bucket]{"tags", bucketTags},
)

func (s *site) s3() *s3.Client {
	return client(s, s3.NewFromConfig, func(o *s3.Options) {
		// Buckets as host names exist at AWS; another endpoint has one name.
		o.UsePathStyle = o.BaseEndpoint != nil
	})
}

// bucketRegion asks where a bucket is when the listing did not say so.
func bucketRegion(ctx context.Context, s *site, b types.Bucket, a *inventory.Asset) error {
	if a.Region != "" {
		return inventory.ErrNotNeeded
	}
	o, err := s.s3().GetBucketLocation(ctx, &s3.GetBucketLocationInput{Bucket: b.Name})
	if err != nil {
		return err
	}
	a.Region = string(o.LocationConstraint)
	switch a.Region {
	case "": // what S3 has said for its first region from the start
		a.Region = "us-east-1"
	case "EU":
		a.Region = "eu-west-1"
	}
	return nil
}

func bucketTags(ctx context.Context, s *site, b types.Bucket, a *inventory.Asset) error {
	o, err := s.s3().GetBucketTagging(ctx, &s3.GetBucketTaggingInput{Bucket: b.Name}, func(o *s3.Options) {
		o.Region = cmp.Or(a.Region, o.Region) // others answer with a redirect
	})
	if hasCode(err, "NoSuchTagSet") {
		a.Tags = map[string]string{}
		return nil
	}
	if err != nil {
		return err
	}
	a.Tags = make(map[string]string, len(o.TagSet))
	for _, t := range o.TagSet {
		a.Tags[aws.ToString(t.Key)] = aws.ToString(t.Value)
	}
	return nil
}
