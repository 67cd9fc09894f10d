package azure

import (
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/appservice/armappservice"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerregistry/armcontainerregistry"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v6"
)

var webRows = []row{
	{Kind: kind("azure_kubernetes_clusters", "containers", "containerservice", "Microsoft.ContainerService/managedClusters"),
		read: list(all(armcontainerservice.NewManagedClustersClient, (*armcontainerservice.ManagedClustersClient).NewListPager))},
	{Kind: kind("azure_container_registries", "containers", "containerregistry", "Microsoft.ContainerRegistry/registries"),
		read: list(all(armcontainerregistry.NewRegistriesClient, (*armcontainerregistry.RegistriesClient).NewListPager))},
	{Kind: kind("azure_web_apps", "web", "web", "Microsoft.Web/sites"),
		read: list(all(armappservice.NewWebAppsClient, (*armappservice.WebAppsClient).NewListPager))},
	{Kind: kind("azure_app_service_plans", "web", "web", "Microsoft.Web/serverfarms"),
		read: list(all(armappservice.NewPlansClient, (*armappservice.PlansClient).NewListPager))},
}
