package gcp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"cloud.google.com/go/asset/apiv1/assetpb"
	"cloud.google.com/go/iam/apiv1/iampb"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

// nowhere is what Google calls the location of what belongs to no region.
const nowhere = "global"

// assetOf describes an asset. Its properties are the resource's own, as its API names
// them, with the ancestors, the nearest first, and the time of the last change.
func assetOf(a *assetpb.Asset) inventory.Asset {
	data := a.GetResource().GetData().AsMap()
	tags := labels(data)
	name, _ := data["displayName"].(string)
	hide(data, a.GetAssetType())
	if list := a.GetAncestors(); len(list) > 0 {
		add(data, "ancestors", list)
	}
	if a.GetUpdateTime().IsValid() {
		add(data, "updateTime", a.GetUpdateTime().AsTime().Format(time.RFC3339))
	}
	return inventory.Asset{
		Region: cmp.Or(a.GetResource().GetLocation(), nowhere), Type: a.GetAssetType(), ID: a.GetName(),
		Name: cmp.Or(name, lastPart(a.GetName())), Tags: tags, Properties: text(data, a.GetName()),
	}
}

// add adds what is not the resource's own, unless that has the same.
func add(data map[string]any, key string, value any) {
	if _, ok := data[key]; !ok {
		data[key] = value
	}
}

// labels finds a resource's labels where the APIs have them: most have labels, clusters
// resourceLabels, and Cloud SQL's instances userLabels among their settings.
func labels(data map[string]any) map[string]string {
	tags := make(map[string]string)
	settings, _ := data["settings"].(map[string]any)
	for _, v := range []any{data["labels"], data["resourceLabels"], settings["userLabels"]} {
		list, _ := v.(map[string]any)
		for key, value := range list {
			if value, ok := value.(string); ok {
				tags[key] = value
			}
		}
	}
	return tags
}

// foundAsset describes what a search has found. Its properties are what else the search
// says.
func foundAsset(r *assetpb.ResourceSearchResult) inventory.Asset {
	a := inventory.Asset{
		Region: cmp.Or(r.GetLocation(), nowhere), Type: r.GetAssetType(), ID: r.GetName(),
		Name: cmp.Or(r.GetDisplayName(), lastPart(r.GetName())), Tags: r.GetLabels(),
	}
	if a.Tags == nil {
		a.Tags = make(map[string]string)
	}
	said := make(map[string]any)
	if whole, err := protojson.Marshal(r); err == nil { // a time out of range has no JSON
		_ = json.Unmarshal(whole, &said) // it is JSON
	}
	for _, key := range []string{"name", "assetType", "location", "displayName", "labels"} {
		delete(said, key)
	}
	hide(said, r.GetAssetType())
	a.Properties = text(said, r.GetName())
	return a
}

func text(properties map[string]any, name string) json.RawMessage {
	raw, err := json.Marshal(properties)
	if err != nil {
		panic(fmt.Sprintf("gcp: properties of %s: %v", name, err)) // they were JSON
	}
	return raw
}

// bind emits an edge for each member of each binding of a policy.
func bind(out *inventory.Output, resource, typ string, policy *iampb.Policy) error {
	for _, b := range policy.GetBindings() {
		c := b.GetCondition()
		for _, member := range b.GetMembers() {
			err := out.EmitEdge(inventory.Edge{
				Kind: inventory.IAMBinding, From: member, To: resource, ToType: typ, Role: b.GetRole(),
				Condition: inventory.Condition{Title: c.GetTitle(), Description: c.GetDescription(), Expression: c.GetExpression()},
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}
