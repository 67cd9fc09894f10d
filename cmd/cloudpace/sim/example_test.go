package sim_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim/aws"
)

// A cloud in the same process: three accounts in four regions, a neighbour who
// uses half of a quota, a region that a policy forbids, a service that is down, a
// listing that is cut short.
func Example() {
	front := aws.New()
	profile := sim.Default(front)
	profile.Speed = 10 // ten seconds of the model in one
	profile.Estate = sim.EstateConfig{
		Accounts: sim.ExampleAccounts(3),
		Regions:  []string{"us-east-1", "us-west-2", "eu-west-1", "ap-southeast-2"},
		Assets:   12_000,
	}
	profile.Neighbours = []sim.Neighbour{
		{Match: sim.Match{Region: sim.Patterns{"us-east-1"}, Service: sim.Patterns{"ec2"}}, Rate: 10},
	}
	profile.Faults = []sim.Fault{
		{Kind: sim.DeniedByPolicy, Match: sim.Match{Region: sim.Patterns{"ap-southeast-2"}}},
		{Kind: sim.HTTP503, Match: sim.Match{Service: sim.Patterns{"sqs"}}},
		{Kind: sim.Cut, Match: sim.Match{Operation: sim.Patterns{"DescribeVolumes"}, Page: 2}},
	}
	server, err := sim.New(front, profile)
	if err != nil {
		fmt.Println(err)
		return
	}

	// A listener on loopback would do as well.
	memory := sim.NewMemory()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	ended := make(chan error)
	go func() { ended <- server.Serve(ctx, memory) }()
	transport := &http.Transport{DialContext: memory.Dial} // an SDK's client takes it too

	for _, region := range []string{"us-west-2", "ap-southeast-2"} {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://sim/", strings.NewReader("Action=DescribeVpcs&Version=2016-11-15"))
		if err != nil {
			fmt.Println(err)
			return
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+aws.AccessKey("111122223333")+"/20261130/"+region+"/ec2/aws4_request, SignedHeaders=host, Signature=0")
		response, err := transport.RoundTrip(r)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(region, response.Status)
		response.Body.Close()
	}

	transport.CloseIdleConnections()
	stop()
	if err := <-ended; err != nil {
		fmt.Println(err)
	}
	report := server.Report()
	fmt.Println(report.Assets, "assets;", report.Totals.Asked, "asked,", report.Totals.FaultedTotal(), "faulted")
	// Output:
	// us-west-2 200 OK
	// ap-southeast-2 403 Forbidden
	// 12000 assets; 2 asked, 1 faulted
}
