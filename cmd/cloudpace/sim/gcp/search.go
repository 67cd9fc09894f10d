package gcp

import (
	"slices"
	"strings"

	"cloud.google.com/go/asset/apiv1/assetpb"
	"cloud.google.com/go/iam/apiv1/iampb"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// sortless refuses an order: to sort what an estate has, all of it would have to be
// made.
func sortless(order string) *problem {
	if order == "" {
		return nil
	}
	return &problem{code: codes.InvalidArgument, message: "The simulator does not sort: order_by must be empty."}
}

// searchResources answers a page of SearchAllResources.
func (x *context) searchResources(m *assetpb.SearchAllResourcesRequest) (any, *problem) {
	if no := sortless(m.OrderBy); no != nil {
		return nil, no
	}
	q, no := parseQuery(m.Query, func(field string) bool {
		return strings.HasPrefix(field, "labels.") || slices.Contains(resourceFields, field)
	})
	if no != nil {
		return nil, no
	}
	unwanted, no := masked(m.ReadMask.GetPaths())
	if no != nil {
		return nil, no
	}
	answer := new(assetpb.SearchAllResourcesResponse)
	answer.NextPageToken, no = x.turn(m.AssetTypes, m.PageSize, largestSearch, x.begun(), func(t thing) bool {
		r := x.world.result(t)
		if !q.holds(func(field string) []string { return resourceTexts(r, field) }) {
			return false
		}
		for _, field := range unwanted {
			r.ProtoReflect().Clear(field)
		}
		answer.Results = append(answer.Results, r)
		return true
	})
	return answer, no
}

var resourceFields = []string{"name", "displayName", "location", "labels", "state", "project", "folders", "organization", "parentFullResourceName", "parentAssetType"}

// resourceTexts are the texts of a result's field, or of all.
func resourceTexts(r *assetpb.ResourceSearchResult, field string) []string {
	if key, ok := strings.CutPrefix(field, "labels."); ok {
		if value, ok := r.Labels[key]; ok {
			return []string{value}
		}
		return nil
	}
	switch field {
	case "name":
		return []string{r.Name}
	case "displayName":
		return []string{r.DisplayName}
	case "location":
		return []string{r.Location}
	case "state":
		return []string{r.State}
	case "project":
		return []string{r.Project}
	case "folders":
		return r.Folders
	case "organization":
		return []string{r.Organization}
	case "parentFullResourceName":
		return []string{r.ParentFullResourceName}
	case "parentAssetType":
		return []string{r.ParentAssetType}
	case "labels":
		var list []string
		for key, value := range r.Labels {
			list = append(list, key, value)
		}
		return list
	}
	var list []string
	for _, f := range resourceFields {
		list = append(list, resourceTexts(r, f)...)
	}
	return list
}

// masked gives the fields of a result that a mask leaves out.
func masked(paths []string) (unwanted []protoreflect.FieldDescriptor, no *problem) {
	if len(paths) == 0 || len(paths) == 1 && paths[0] == "*" {
		return nil, nil
	}
	fields := new(assetpb.ResourceSearchResult).ProtoReflect().Descriptor().Fields()
	wanted := make(map[protoreflect.FieldDescriptor]bool)
	for _, p := range paths {
		f := fields.ByName(protoreflect.Name(p))
		if f == nil {
			f = fields.ByJSONName(p)
		}
		if f == nil {
			return nil, invalid("read_mask", p)
		}
		wanted[f] = true
	}
	for i := range fields.Len() {
		if f := fields.Get(i); !wanted[f] {
			unwanted = append(unwanted, f)
		}
	}
	return unwanted, nil
}

var policyFields = []string{"resource", "policy", "roles", "project", "folders", "organization"}

// searchPolicies answers a page of SearchAllIamPolicies. Of a policy it has the
// bindings that the query matches.
func (x *context) searchPolicies(m *assetpb.SearchAllIamPoliciesRequest) (any, *problem) {
	if no := sortless(m.OrderBy); no != nil {
		return nil, no
	}
	q, no := parseQuery(m.Query, func(field string) bool { return slices.Contains(policyFields, field) })
	if no != nil {
		return nil, no
	}
	answer := new(assetpb.SearchAllIamPoliciesResponse)
	answer.NextPageToken, no = x.turn(m.AssetTypes, m.PageSize, largestSearch, x.begun(), func(t thing) bool {
		r := x.world.policyResult(t)
		if r == nil {
			return false
		}
		r.Policy.Bindings = slices.DeleteFunc(r.Policy.Bindings, func(b *iampb.Binding) bool {
			return !q.holds(func(field string) []string { return policyTexts(r, b, field) })
		})
		if len(r.Policy.Bindings) == 0 {
			return false
		}
		answer.Results = append(answer.Results, r)
		return true
	})
	return answer, no
}

func policyTexts(r *assetpb.IamPolicySearchResult, b *iampb.Binding, field string) []string {
	switch field {
	case "resource":
		return []string{r.Resource}
	case "roles":
		return []string{b.Role}
	case "policy":
		return append([]string{b.Role}, b.Members...)
	case "project":
		return []string{r.Project}
	case "folders":
		return r.Folders
	case "organization":
		return []string{r.Organization}
	}
	list := append([]string{b.Role, r.Resource, r.Project, r.Organization}, b.Members...)
	return append(list, r.Folders...)
}
