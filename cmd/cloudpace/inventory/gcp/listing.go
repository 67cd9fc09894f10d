package gcp

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"cloud.google.com/go/asset/apiv1/assetpb"
	"github.com/googleapis/gax-go/v2/apierror"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	"github.com/cloudpace/cloudpace/pacegcp"
	"github.com/cloudpace/cloudpace/verdict"
)

// The most that a page can have (google/cloud/asset/v1, asset_service.proto).
const (
	listed   = 1000
	searched = 500
)

func listAssets(ctx context.Context, s *site, out *inventory.Output) error {
	return s.listing(ctx, out, assetpb.ContentType_RESOURCE, func(a *assetpb.Asset) error { return out.Emit(assetOf(a)) })
}

func listPolicies(ctx context.Context, s *site, out *inventory.Output) error {
	return s.listing(ctx, out, assetpb.ContentType_IAM_POLICY, func(a *assetpb.Asset) error {
		return bind(out, a.GetName(), a.GetAssetType(), a.GetIamPolicy())
	})
}

// listing lists the assets of the parent as they were at the run's moment.
func (s *site) listing(ctx context.Context, out *inventory.Output, content assetpb.ContentType, each func(*assetpb.Asset) error) error {
	out.AsOf(s.ReadTime)
	request := &assetpb.ListAssetsRequest{Parent: s.parent, ContentType: content, PageSize: listed, ReadTime: timestamppb.New(s.ReadTime)}
	return read(ctx, s, out, pacegcp.ListAssets(ctx, s.assets, request, s.paced()...), each)
}

func searchResources(ctx context.Context, s *site, out *inventory.Output) error {
	request := &assetpb.SearchAllResourcesRequest{Scope: s.parent, PageSize: searched}
	return read(ctx, s, out, pacegcp.SearchAllResources(ctx, s.assets, request, s.paced()...), func(r *assetpb.ResourceSearchResult) error {
		return out.Emit(foundAsset(r))
	})
}

func searchPolicies(ctx context.Context, s *site, out *inventory.Output) error {
	request := &assetpb.SearchAllIamPoliciesRequest{Scope: s.parent, PageSize: searched}
	return read(ctx, s, out, pacegcp.SearchAllIamPolicies(ctx, s.assets, request, s.paced()...), func(r *assetpb.IamPolicySearchResult) error {
		return bind(out, r.GetResource(), r.GetAssetType(), r.GetPolicy())
	})
}

func (s *site) paced() []pacegcp.Option {
	return []pacegcp.Option{pacegcp.WithGovernor(s.governor), pacegcp.WithQuotaProject(s.QuotaProject)}
}

// read follows a listing. One whose page token is refused begins anew, once: tokens do
// not live for ever, and the moment that is asked about is the same (D11).
func read[T any](ctx context.Context, s *site, out *inventory.Output, items iter.Seq2[T, error], each func(T) error) error {
	came := false
	counted := func(item T) error {
		came = true
		return each(item)
	}
	err := inventory.Follow(ctx, out, items, counted)
	if refusedToken(err) {
		out.Again()
		if err = inventory.Follow(ctx, out, items, counted); refusedToken(err) {
			err = &inventory.TruncatedError{Err: err}
		}
	}
	return s.explained(err, came)
}

// refusedToken tells a listing that ended because its token is not taken any more.
func refusedToken(err error) bool {
	var early *pacegcp.ListingError
	return errors.As(err, &early) && early.PageToken != "" && verdict.Examine(Provider, err).Code == "INVALID_ARGUMENT"
}

// explained says of a listing that ended early what that means: for the record, and for
// the other parents.
func (s *site) explained(err error, came bool) error {
	var early *pacegcp.ListingError
	if !errors.As(err, &early) {
		return err
	}
	answer := verdict.Examine(Provider, err)
	reason := answer.Code
	var api *apierror.APIError
	if errors.As(err, &api) && api.Reason() != "" {
		reason = api.Reason()
	}
	err = brief{err}
	switch reason {
	case "SERVICE_DISABLED", "accessNotConfigured":
		// It is disabled in the project whose quota is used, which is the same for all
		// parents where it is known, unless that is the one that is read (D07). Google
		// names it by its number, so that without one nobody can tell.
		if s.QuotaProject != "" && answer.Consumer != "" && answer.Consumer != s.parent {
			s.stop(err)
		}
	case "USER_PROJECT_DENIED":
		err = &inventory.EitherWayError{Err: err}
		if s.QuotaProject != "" {
			s.stop(err)
		}
	case "ACCESS_TOKEN_SCOPE_INSUFFICIENT":
		err = &inventory.EitherWayError{Err: err}
		s.stop(err) // there is one token for all
	case "INVALID_ARGUMENT":
		err = fmt.Errorf("%w (is %s the right parent, and this machine's clock right?)", err, s.parent)
	}
	if errors.Is(err, pacegcp.ErrNoEnd) {
		err = &inventory.TruncatedError{Err: err}
	}
	if !early.RenewedAt.IsZero() {
		err = &inventory.RenewedError{At: early.RenewedAt, Err: err}
	}
	if came || early.PageToken != "" {
		err = fmt.Errorf("listing truncated: %w", err)
	}
	return err
}

// stop ends what has not begun, for all parents: each would meet the same.
func (s *site) stop(err error) { s.refused.CompareAndSwap(nil, &err) }

// pages counts the pages that come for the task under way: listings do not show them.
func pages(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	err := invoke(ctx, method, req, reply, cc, opts...)
	if err != nil {
		return err
	}
	switch r := reply.(type) {
	case *assetpb.ListAssetsResponse:
		inventory.Arrived(ctx, len(r.GetAssets()))
	case *assetpb.SearchAllResourcesResponse:
		inventory.Arrived(ctx, len(r.GetResults()))
	case *assetpb.SearchAllIamPoliciesResponse:
		inventory.Arrived(ctx, len(r.GetResults()))
	}
	return nil
}

// lastPart is the end of a name with slashes.
func lastPart(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }
