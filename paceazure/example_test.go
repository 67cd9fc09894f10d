package paceazure_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resourcegraph/armresourcegraph"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armresources/v3"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/paceazure"
)

// example is a Resource Manager that throttles its first request.
func example() *httptest.Server {
	asked := 0
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		asked++
		switch {
		case asked == 1:
			w.Header().Set("Retry-After", "0.1")
			w.WriteHeader(http.StatusTooManyRequests)
		case strings.HasSuffix(req.URL.Path, "/resources"):
			fmt.Fprint(w, `{"totalRecords":2,"count":2,"resultTruncated":"false","data":[{"name":"one"},{"name":"two"}]}`)
		default:
			fmt.Fprint(w, `{"value":[{"name":"one"},{"name":"two"}]}`)
		}
	}))
}

func ExampleClientOptions() {
	server := example()
	defer server.Close()
	governor, err := cloudpace.New(cloudpace.DefaultConfig())
	if err != nil {
		fmt.Println(err)
		return
	}

	// In a program: paceazure.ClientOptions(nil), with a credential of azidentity.
	base := cloudAt(server.URL)
	base.Transport = server.Client()
	options := paceazure.ClientOptions(base, paceazure.WithGovernor(governor))
	client, err := armresources.NewResourceGroupsClient("00000000-0000-0000-0000-000000000001", login{}, options)
	if err != nil {
		fmt.Println(err)
		return
	}
	for pager := client.NewListPager(nil); pager.More(); {
		page, err := pager.NextPage(context.Background())
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, group := range page.Value {
			fmt.Println(*group.Name)
		}
	}
	fmt.Println(governor.Summary(nil).Messages[0])
	// Output:
	// one
	// two
	// azure/00000000-0000-0000-0000-000000000001/*/resources: throttled 1x, slowed to 7.5 rps, 1 retry
}

func ExampleNewGraph() {
	server := example()
	defer server.Close()
	governor, err := cloudpace.New(cloudpace.DefaultConfig())
	if err != nil {
		fmt.Println(err)
		return
	}

	base := cloudAt(server.URL)
	base.Transport = server.Client()
	graph, err := paceazure.NewGraph(login{}, base, paceazure.WithGovernor(governor))
	if err != nil {
		fmt.Println(err)
		return
	}
	query := armresourcegraph.QueryRequest{Query: to.Ptr("Resources | project name")}
	for row, err := range graph.Query(context.Background(), query) {
		if err != nil {
			fmt.Println(err) // the rows before are good, and something is missing
			return
		}
		fmt.Println(row["name"])
	}
	// Output:
	// one
	// two
}

func ExampleGraphFrom() {
	server := example()
	defer server.Close()

	options := cloudAt(server.URL) // not governed
	options.Transport = server.Client()
	client, err := armresourcegraph.NewClient(login{}, options)
	if err != nil {
		fmt.Println(err)
		return
	}
	query := armresourcegraph.QueryRequest{
		Query:         to.Ptr("Resources | project name"),
		Subscriptions: []*string{to.Ptr("00000000-0000-0000-0000-000000000001")},
	}
	for row, err := range paceazure.GraphFrom(client).Query(context.Background(), query) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(row["name"])
	}
	// Output:
	// one
	// two
}
