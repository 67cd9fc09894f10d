package azure

import "github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"

// usualPage is what a list has on a page where nobody says: nearly everywhere, for the
// lists of Resource Manager take no size.
const usualPage = 100

// calls has what tasks ask where that is more than a list of usual pages. Scopes have no
// operations here.
var calls = map[string]inventory.Calls{
	"azure_key_vaults":               {Page: 1000},
	"azure_dns_zones":                {Page: 100},
	"azure_dns_record_sets":          {Page: 100, Under: &inventory.Calls{Page: 100}, Of: "azure_dns_zones"},
	"azure_private_dns_zones":        {Page: 100},
	"azure_private_dns_record_sets":  {Page: 100, Under: &inventory.Calls{Page: 100}, Of: "azure_private_dns_zones"},
	"azure_sql_databases":            {Page: usualPage, Assumed: true, Under: &inventory.Calls{Page: usualPage}, Of: "azure_sql_servers"},
	"azure_virtual_network_gateways": {Page: usualPage, Assumed: true, Under: &inventory.Calls{Service: "resources", Page: 1000}, Of: "azure_resource_groups"},
	"azure_resource_groups":          {Page: 1000},
	"azure_resources":                {Page: 1000, Rest: true},
	"azure_graph_resources":          {Page: rowsAtOnce, Rest: true},
	"azure_graph_resource_groups":    {Page: rowsAtOnce},
}

func init() { // it looks into it
	for i := range table {
		c, ok := calls[table[i].Name]
		if !ok {
			c = inventory.Calls{Page: usualPage, Assumed: true}
		}
		c.Everywhere, c.Nothing = table[i].everywhere, table[i].read == nil
		table[i].Calls = c
	}
}
