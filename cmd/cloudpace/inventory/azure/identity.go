package azure

import (
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/authorization/armauthorization/v2"
)

var identityRows = []row{
	{Kind: kind("azure_role_assignments", "identity", "authorization", "Microsoft.Authorization/roleAssignments"),
		read: list(all(armauthorization.NewRoleAssignmentsClient, (*armauthorization.RoleAssignmentsClient).NewListForSubscriptionPager))},
	{Kind: covers(kind("azure_role_definitions", "identity", "authorization", "Microsoft.Authorization/roleDefinitions"), "custom roles"),
		read: list(customRoles)},
}

// customRoles leaves out the hundreds of built-in roles, which every subscription has.
func customRoles(s *site) (pages, error) {
	c, err := armauthorization.NewRoleDefinitionsClient(s.tenant.credential, s.tenant.options)
	if err != nil {
		return nil, err
	}
	options := &armauthorization.RoleDefinitionsClientListOptions{Filter: to.Ptr("type eq 'CustomRole'")}
	return pagesOf[armauthorization.RoleDefinitionsClientListResponse]{c.NewListPager("/subscriptions/"+s.subscription, options)}, nil
}
