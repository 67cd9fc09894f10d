package azure

import (
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"
)

var computeRows = []row{
	{Kind: kind("azure_virtual_machines", "compute", "compute", "Microsoft.Compute/virtualMachines"),
		read: list(all(armcompute.NewVirtualMachinesClient, (*armcompute.VirtualMachinesClient).NewListAllPager))},
	{Kind: kind("azure_scale_sets", "compute", "compute", "Microsoft.Compute/virtualMachineScaleSets"),
		read: list(all(armcompute.NewVirtualMachineScaleSetsClient, (*armcompute.VirtualMachineScaleSetsClient).NewListAllPager))},
	{Kind: kind("azure_availability_sets", "compute", "compute", "Microsoft.Compute/availabilitySets"),
		read: list(all(armcompute.NewAvailabilitySetsClient, (*armcompute.AvailabilitySetsClient).NewListBySubscriptionPager))},
	{Kind: kind("azure_images", "compute", "compute", "Microsoft.Compute/images"),
		read: list(all(armcompute.NewImagesClient, (*armcompute.ImagesClient).NewListPager))},
	{Kind: kind("azure_disks", "storage", "compute", "Microsoft.Compute/disks"),
		read: list(all(armcompute.NewDisksClient, (*armcompute.DisksClient).NewListPager))},
	{Kind: kind("azure_snapshots", "storage", "compute", "Microsoft.Compute/snapshots"),
		read: list(all(armcompute.NewSnapshotsClient, (*armcompute.SnapshotsClient).NewListPager))},
}
