package paceazure_test

import (
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armresources/v3"

	"github.com/cloudpace/cloudpace/paceazure"
)

// The README's code, word for word; the command's end-to-end test compares them.

func groups(cred azcore.TokenCredential, subscription string) (*armresources.ResourceGroupsClient, error) {
	return armresources.NewResourceGroupsClient(subscription, cred, paceazure.ClientOptions(nil))
}

func TestReadmeCode(t *testing.T) {
	if _, err := groups(login{}, subscription); err != nil {
		t.Error(err)
	}
}
