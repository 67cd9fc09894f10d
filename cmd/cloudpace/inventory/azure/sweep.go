package azure

import (
	"context"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armresources/v3"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

const (
	groupType = "Microsoft.Resources/resourceGroups"
	fullTask  = "azure_full"
)

var resourceGroups = all(armresources.NewResourceGroupsClient, (*armresources.ResourceGroupsClient).NewListPager,
	&armresources.ResourceGroupsClientListOptions{Top: to.Ptr[int32](1000)})

// resources is the list of everything; a thousand is the most that it gives at once.
var resources = all(armresources.NewClient, (*armresources.Client).NewListPager, &armresources.ClientListOptions{Top: to.Ptr[int32](1000)})

var wholeRows = []row{
	{Kind: kind("azure_resource_groups", "management", "resources", groupType), read: groups},
	{Kind: covers(kind("azure_resources", sweepFamily, "resources"), "resources of types no other task of the run lists"), read: sweep},
	{Kind: covers(kind(fullTask, sweepFamily, "resources"), "all that the other tasks read")},
}

// groups reads the resource groups. All things but a few are in one, so where there
// is none the caller may be somebody who is not shown any (C17).
func groups(ctx context.Context, s *site, out *inventory.Output) error {
	found := false
	err := list(resourceGroups, func(_ *inventory.Output, i item) []item { found = true; return []item{i} })(ctx, s, out)
	if err == nil && !found {
		out.Gap(&inventory.UnseenError{What: "resource groups of the subscription"})
	}
	return err
}

// sweep lists everything, less what other tasks of the run list.
func sweep(ctx context.Context, s *site, out *inventory.Output) error {
	return list(resources, s.unlisted)(ctx, s, out)
}

// unlisted gives the item unless another task of the run lists it.
func (s *site) unlisted(out *inventory.Output, i item) []item {
	if s.listed[strings.ToLower(typeName(i.Type))] {
		out.Elsewhere()
		return nil
	}
	return []item{i}
}
