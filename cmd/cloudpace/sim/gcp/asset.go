package gcp

import (
	"cloud.google.com/go/asset/apiv1/assetpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// asset is a thing as ListAssets has it; nil where it has nothing of a content. With
// IAM_POLICY only what has a policy is listed, as in exports.
func (w *world) asset(t thing, content assetpb.ContentType) *assetpb.Asset {
	a := &assetpb.Asset{
		Name: t.fullName(w.estate), AssetType: t.kind.name, Ancestors: w.ancestorsOf(t),
		UpdateTime: timestamppb.New(t.updated(w.estate)),
	}
	switch content {
	case assetpb.ContentType_RESOURCE:
		a.Resource = w.resource(t)
	case assetpb.ContentType_IAM_POLICY:
		if a.IamPolicy = t.policy(w.estate); a.IamPolicy == nil {
			return nil
		}
	}
	return a
}

func (w *world) resource(t thing) *assetpb.Resource {
	version := "v1"
	switch t.kind.host() {
	case "bigquery.googleapis.com", "cloudfunctions.googleapis.com":
		version = "v2"
	case "cloudresourcemanager.googleapis.com", "monitoring.googleapis.com":
		version = "v3"
	}
	api := t.kind.host()[:len(t.kind.host())-len(".googleapis.com")]
	r := &assetpb.Resource{
		Version: version, DiscoveryDocumentUri: "https://" + t.kind.host() + "/$discovery/rest", DiscoveryName: t.kind.short(),
		Data: t.data(w.estate), Location: t.location(w.estate),
	}
	r.Parent, _ = t.parent(w.estate)
	if api == "compute" {
		r.DiscoveryDocumentUri = "https://www.googleapis.com/discovery/v1/apis/compute/v1/rest"
		r.ResourceUrl = t.link(w.estate)
	}
	return r
}

// result is a thing as SearchAllResources has it.
func (w *world) result(t thing) *assetpb.ResourceSearchResult {
	e := w.estate
	r := &assetpb.ResourceSearchResult{
		Name: t.fullName(e), AssetType: t.kind.name, DisplayName: t.title(e), Location: t.location(e), Labels: t.labels(e), State: t.state(e),
		CreateTime: timestamppb.New(t.created(e)), UpdateTime: timestamppb.New(t.updated(e)), Organization: Organization,
	}
	if name, k := t.parent(e); k != nil {
		r.ParentFullResourceName, r.ParentAssetType = name, k.name
	}
	r.Project, r.Folders = w.above(t)
	return r
}

// policyResult is the policy of a thing as SearchAllIamPolicies has it, nil where
// there is none.
func (w *world) policyResult(t thing) *assetpb.IamPolicySearchResult {
	p := t.policy(w.estate)
	if p == nil {
		return nil
	}
	r := &assetpb.IamPolicySearchResult{Resource: t.fullName(w.estate), AssetType: t.kind.name, Organization: Organization, Policy: p}
	r.Project, r.Folders = w.above(t)
	return r
}

// above is the project and the folders that a thing is in.
func (w *world) above(t thing) (project string, in []string) {
	switch {
	case t.container == Organization:
		return "", nil
	case t.container != "":
		return "", []string{t.container}
	}
	return "projects/" + Number(w.estate, t.place.Account), []string{folderOf(t.project)}
}
