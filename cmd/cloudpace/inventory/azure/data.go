package azure

import (
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/cosmos/armcosmos/v2"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/keyvault/armkeyvault"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/sql/armsql"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/storage/armstorage"
)

var sqlServers = all(armsql.NewServersClient, (*armsql.ServersClient).NewListPager)

var dataRows = []row{
	{Kind: kind("azure_sql_servers", "database", "sql", "Microsoft.Sql/servers"), read: list(sqlServers)},
	{Kind: kind("azure_sql_databases", "database", "sql", "Microsoft.Sql/servers/databases"),
		read: under(sqlServers, armsql.NewDatabasesClient, (*armsql.DatabasesClient).NewListByServerPager)},
	{Kind: kind("azure_cosmos_accounts", "database", "documentdb", "Microsoft.DocumentDB/databaseAccounts"),
		read: list(all(armcosmos.NewDatabaseAccountsClient, (*armcosmos.DatabaseAccountsClient).NewListPager))},
	{Kind: kind("azure_storage_accounts", "storage", "storage", "Microsoft.Storage/storageAccounts"),
		read: list(all(armstorage.NewAccountsClient, (*armstorage.AccountsClient).NewListPager))},
	{Kind: kind("azure_key_vaults", "security", "keyvault", "Microsoft.KeyVault/vaults"),
		read: list(all(armkeyvault.NewVaultsClient, (*armkeyvault.VaultsClient).NewListBySubscriptionPager, &armkeyvault.VaultsClientListBySubscriptionOptions{Top: to.Ptr[int32](1000)}))},
}
