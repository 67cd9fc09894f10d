package gcp

import (
	"fmt"
	"regexp"
	"time"

	"cloud.google.com/go/asset/apiv1/assetpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// Sizes of pages: ListAssets documents both (ListAssetsRequest.page_size), the
// searches the largest (SearchAllResourcesRequest.page_size); their usual one is
// assumed.
const (
	usualPage     = 100
	largestList   = 1000
	largestSearch = 500
)

// longestSnapshot is how far back a listing may look (ListAssetsRequest.read_time).
const longestSnapshot = 35 * 24 * time.Hour

// listAssets answers a page of a listing.
func (x *context) listAssets(m *assetpb.ListAssetsRequest) (any, *problem) {
	begun := x.begun()
	read := timestamppb.New(begun)
	if m.ReadTime != nil {
		if at := m.ReadTime.AsTime(); m.ReadTime.CheckValid() != nil || at.After(time.Now().Add(time.Minute)) || time.Since(at) > longestSnapshot+time.Hour {
			return nil, &problem{code: codes.InvalidArgument, message: "read_time must be between the current time and the current time minus 35 days."}
		}
		read = m.ReadTime
	}
	switch m.ContentType {
	case assetpb.ContentType_CONTENT_TYPE_UNSPECIFIED, assetpb.ContentType_RESOURCE, assetpb.ContentType_IAM_POLICY:
	case assetpb.ContentType_ORG_POLICY, assetpb.ContentType_ACCESS_POLICY, assetpb.ContentType_OS_INVENTORY, assetpb.ContentType_RELATIONSHIP:
		// There are none of these in the estate.
		return &assetpb.ListAssetsResponse{ReadTime: read}, nil
	default:
		return nil, &problem{code: codes.InvalidArgument, message: fmt.Sprintf("content_type %d is unknown.", m.ContentType)}
	}
	answer := &assetpb.ListAssetsResponse{ReadTime: read}
	next, no := x.turn(m.AssetTypes, m.PageSize, largestList, begun, func(t thing) bool {
		a := x.world.asset(t, m.ContentType)
		if a != nil {
			answer.Assets = append(answer.Assets, a)
		}
		return a != nil
	})
	answer.NextPageToken = next
	return answer, no
}

// begun is when the first page was asked for.
func (x *context) begun() time.Time {
	if x.page.begun.IsZero() {
		return time.Now().UTC().Truncate(time.Second)
	}
	return x.page.begun
}

// turn goes over one page's things, as many as the page has of those that are taken,
// and gives the token of the next page.
func (x *context) turn(types []string, size int32, largest int, begun time.Time, take func(thing) bool) (token string, no *problem) {
	if x.stale != nil {
		return "", x.stale
	}
	wanted, no := wantedKinds(types)
	if no != nil {
		return "", no
	}
	if size < 0 && x.operation == listAssets {
		return "", &problem{code: codes.InvalidArgument, message: "page_size must not be negative."}
	}
	n := min(int(size), largest)
	if n <= 0 {
		n = usualPage
	}
	here := x.page
	if here.begun.IsZero() {
		here = cursor{position: start, begun: begun}
	}
	next, more := cursor{position: here.position, page: here.page + 1, begun: begun}, false
	if x.edit.EmptyPage {
		more = true
	} else {
		for at, t := range x.world.walk(x.scope, here.position, wanted) {
			if n == 0 {
				next.position, more = at, true
				break
			}
			if take(t) {
				n--
			}
		}
	}
	if x.edit.RepeatToken {
		next, more = here, true
	}
	if !more {
		return "", nil
	}
	return next.token(salt(x.world.estate, x.listing())), nil
}

// mostTypes bounds how many asset types one request may name.
const mostTypes = 100

// wantedKinds reads asset types, which are regular expressions over the whole name.
func wantedKinds(types []string) (func(*kind) bool, *problem) {
	if len(types) == 0 {
		return anything, nil
	}
	if len(types) > mostTypes {
		return nil, &problem{code: codes.InvalidArgument, message: "The simulator reads at most 100 asset_types."}
	}
	chosen := make(map[*kind]bool)
	for _, text := range types {
		e, err := regexp.Compile("^(?:" + text + ")$")
		if err != nil || len(text) > 1000 {
			return nil, &problem{code: codes.InvalidArgument, message: "asset_types: '" + shown(text) + "' is no regular expression."}
		}
		found := false
		for name, k := range byName {
			if e.MatchString(name) {
				chosen[k], found = true, true
			}
		}
		if !found {
			return nil, &problem{code: codes.InvalidArgument, message: "asset_types: '" + shown(text) + "' does not match any supported asset type."}
		}
	}
	return func(k *kind) bool { return chosen[k] }, nil
}
