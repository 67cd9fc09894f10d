package pacegcp

import (
	"context"
	"errors"
	"iter"

	asset "cloud.google.com/go/asset/apiv1"
	"cloud.google.com/go/asset/apiv1/assetpb"
	"github.com/googleapis/gax-go/v2"
	"google.golang.org/protobuf/proto"
)

// ListAssets gives the assets of a parent, all pages. Where something is missing, the
// last pair has an error and no asset: a [*ListingError] that tells why, and the page
// token to go on from. Assets that came before it are good.
//
// req.PageToken, if it has one, is where it begins; req is copied. Nothing is sent
// before the first asset is asked for, and nothing after the caller stops asking;
// ranging again asks again. The client may be one of any make: governed by
// [ClientOptions] it is not charged twice.
func ListAssets(ctx context.Context, client *asset.Client, req *assetpb.ListAssetsRequest, opts ...Option) iter.Seq2[*assetpb.Asset, error] {
	req = copied(req)
	p := &pages[assetpb.Asset]{
		operation: "ListAssets", account: accountIn(req.GetParent()), token: req.GetPageToken(), detached: detached(client),
		fetch: func(ctx context.Context, token string, opts ...gax.CallOption) ([]*assetpb.Asset, string, error) {
			if client == nil {
				return nil, "", errNoClient
			}
			return client.ListAssets(ctx, req, opts...).InternalFetch(int(req.GetPageSize()), token)
		},
	}
	return p.all(ctx, opts)
}

// SearchAllResources gives the resources in a scope that match a query, as [ListAssets]
// gives assets.
func SearchAllResources(ctx context.Context, client *asset.Client, req *assetpb.SearchAllResourcesRequest, opts ...Option) iter.Seq2[*assetpb.ResourceSearchResult, error] {
	req = copied(req)
	p := &pages[assetpb.ResourceSearchResult]{
		operation: "SearchAllResources", account: accountIn(req.GetScope()), token: req.GetPageToken(), detached: detached(client),
		fetch: func(ctx context.Context, token string, opts ...gax.CallOption) ([]*assetpb.ResourceSearchResult, string, error) {
			if client == nil {
				return nil, "", errNoClient
			}
			return client.SearchAllResources(ctx, req, opts...).InternalFetch(int(req.GetPageSize()), token)
		},
	}
	return p.all(ctx, opts)
}

// SearchAllIamPolicies gives the IAM policies in a scope that match a query, as
// [ListAssets] gives assets.
func SearchAllIamPolicies(ctx context.Context, client *asset.Client, req *assetpb.SearchAllIamPoliciesRequest, opts ...Option) iter.Seq2[*assetpb.IamPolicySearchResult, error] {
	req = copied(req)
	p := &pages[assetpb.IamPolicySearchResult]{
		operation: "SearchAllIamPolicies", account: accountIn(req.GetScope()), token: req.GetPageToken(), detached: detached(client),
		fetch: func(ctx context.Context, token string, opts ...gax.CallOption) ([]*assetpb.IamPolicySearchResult, string, error) {
			if client == nil {
				return nil, "", errNoClient
			}
			return client.SearchAllIamPolicies(ctx, req, opts...).InternalFetch(int(req.GetPageSize()), token)
		},
	}
	return p.all(ctx, opts)
}

// The fetches go through InternalFetch, which the SDK does not call stable: it is the
// one door that sends exactly one page request. Next sends several where pages are
// empty, and a Pager wants pages to be full.

var errNoClient = errors.New("pacegcp: the client is nil")

// copied lets the caller change its request while the listing goes on.
func copied[M interface {
	proto.Message
	comparable
}](req M) M {
	var none M
	if req == none {
		m, _ := req.ProtoReflect().New().Interface().(M)
		return m // the service says what is missing
	}
	return proto.CloneOf(req)
}

// detached tells the SDK's REST clients, which have no connection. Their listings send
// requests without the context that they are given.
func detached(client *asset.Client) bool {
	return client != nil && client.Connection() == nil //nolint:staticcheck // deprecated for pools of connections; here it tells whether there is any
}
