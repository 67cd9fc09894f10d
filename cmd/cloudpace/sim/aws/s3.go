package aws

import (
	"fmt"
	"net/http"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// subresources name S3's operations on a bucket, after Get.
var subresources = map[string]string{
	"tagging": "BucketTagging", "location": "BucketLocation", "policy": "BucketPolicy", "policyStatus": "BucketPolicyStatus", "acl": "BucketAcl",
	"encryption": "BucketEncryption", "versioning": "BucketVersioning", "logging": "BucketLogging", "lifecycle": "BucketLifecycleConfiguration",
	"cors": "BucketCors", "website": "BucketWebsite", "notification": "BucketNotificationConfiguration", "replication": "BucketReplication",
	"publicAccessBlock": "PublicAccessBlock", "ownershipControls": "BucketOwnershipControls", "object-lock": "ObjectLockConfiguration",
}

// s3Route finds S3's operations: the bucket is the path's first part.
func s3Route(method string, q *request) string {
	has := len(q.path) > 0 && q.path[0] != ""
	switch {
	case !has && method == http.MethodGet:
		return "ListBuckets"
	case has && len(q.path) == 1 && method == http.MethodHead:
		return "HeadBucket"
	case has && len(q.path) == 1 && method == http.MethodGet:
		for sub, op := range subresources {
			if q.form.Has(sub) {
				return "Get" + op
			}
		}
		return "ListObjectsV2"
	case has && len(q.path) > 1 && method == http.MethodGet:
		return "GetObject"
	case has && len(q.path) > 1 && method == http.MethodHead:
		return "HeadObject"
	}
	return ""
}

func inBucket(q *request) string { return q.path[0] }

var s3Operations = map[string]*operation{
	"ListBuckets": {
		kind: bucket, set: "Buckets", of: "Bucket", root: "ListAllMyBucketsResult",
		pages: &pages{size: "max-buckets", token: "continuation-token", next: "ContinuationToken", least: 1, most: 10_000},
		more: func(x *context) object {
			return fields("Owner", fields("ID", fmt.Sprintf("%064x", x.estate.Draw(x.global(), bucket, 0, "owner")), "DisplayName", "account-"+x.place.Account))
		},
		each: func(x *context, i int) any {
			o := fields("Name", x.id(bucket, i), "CreationDate", x.born(bucket, i))
			if x.param("max-buckets") != "" {
				o = append(o, field{"BucketRegion", x.bucketRegion(i)}) // a request without paging is not told
			}
			return o
		},
	},
	"GetBucketLocation": {about: inBucket, raw: func(x *context) sim.Answer {
		i, no := x.bucket()
		if no != nil {
			return x.fail(*no)
		}
		a := x.render(nil, "LocationConstraint")
		where := x.bucketRegion(i)
		if where == "us-east-1" {
			where = "" // what S3 has said for its first region from the start
		}
		b := open([]byte(`<?xml version="1.0" encoding="UTF-8"?>`+"\n"), "LocationConstraint", x.service.namespace)
		a.Body = shut(appendText(b, where), "LocationConstraint")
		return a
	}},
	"GetBucketTagging": {about: inBucket, raw: func(x *context) sim.Answer {
		i, no := x.bucket()
		if no != nil {
			return x.fail(*no)
		}
		if where := x.bucketRegion(i); where != x.place.Region {
			a := x.fail(problem{http.StatusMovedPermanently, "PermanentRedirect", "The bucket you are attempting to access must be addressed using the specified endpoint. Please send all future requests to this endpoint."})
			a.Header.Set("X-Amz-Bucket-Region", where)
			return a
		}
		tags := x.tagsOf(bucket, i)
		if tags == nil {
			return x.fail(problem{http.StatusNotFound, "NoSuchTagSet", "The TagSet does not exist"})
		}
		return x.render(fields("TagSet", x.tagList("Tag", "Key", "Value", tags)), "Tagging")
	}},
	"HeadBucket": {about: inBucket, raw: func(x *context) sim.Answer {
		i, no := x.bucket()
		if no != nil {
			return x.fail(*no)
		}
		a := x.render(nil, "")
		a.Header.Set("X-Amz-Bucket-Region", x.bucketRegion(i))
		return a
	}},
}

func (x *context) bucket() (int, *problem) {
	i, ok := find(x.estate, x.global(), bucket, x.path[0])
	if !ok {
		return 0, &problem{http.StatusNotFound, "NoSuchBucket", "The specified bucket does not exist"}
	}
	return i, nil
}

// bucketRegion is one of the estate's.
func (x *context) bucketRegion(i int) string {
	all := x.estate.Regions()
	return all[x.draw(bucket, i, "region")%uint64(len(all))]
}
