package main

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/cloudpace/cloudpace"
	inventoryaws "github.com/cloudpace/cloudpace/cmd/cloudpace/inventory/aws"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
	simaws "github.com/cloudpace/cloudpace/cmd/cloudpace/sim/aws"
)

const (
	// What the demo's AWS has besides the things that it has so many of for a reason.
	demoAssets = 9_000
	// Images in each account and region: each takes a call of its own, of which EC2
	// grants 100 at once and 20 a second, so that they are what is waited for.
	demoImages = 600
	// Functions likewise: three pages of them, so that a listing can end after two.
	demoFunctions = 120
	// The demo waits less for a service that is down: the SDK's pauses between
	// retries are not a quota, and do not get shorter with the quotas.
	demoRetries = 6
)

// What goes wrong in the demo's AWS, and where. A test holds the coverage against it.
const (
	demoBusyRegion   = "us-east-1"      // a neighbour uses half of EC2's quotas
	demoDeniedRegion = "ap-southeast-2" // a policy of the organization forbids it
	demoDownRegion   = "eu-central-1"   // SQS is down
	demoCutRegion    = "eu-west-1"      // the list of Lambda functions leads back to itself
	demoCutAccount   = "444455556666"   // in this account
)

var awsDemo = demonstration{
	front:   func() sim.Front { return simaws.New() },
	profile: awsProfile,
	what: func(e *sim.Estate) string {
		return fmt.Sprintf("AWS organization of %s in %s and %s", count(e.Total(), "asset"), count(len(e.Accounts()), "account"), count(len(e.Regions()), "region"))
	},
	patience: func(c *cloudpace.Config) { c.AWS.MaxRetries = min(c.AWS.MaxRetries, demoRetries) },
	sources: func(d *demo, g *cloudpace.Governor) (list []source) {
		accounts := d.awsAccounts(g)
		for i, o := range accounts {
			list = append(list, awsSource(o, numbered(i, len(accounts))))
		}
		return list
	},
}

// awsProfile is the simulated organization.
func awsProfile(speed float64) sim.Profile {
	p := sim.Default(simaws.New())
	p.Name, p.Seed, p.Speed = "demo", 7, speed
	p.Estate = sim.EstateConfig{
		Accounts: sim.ExampleAccounts(3),
		Regions:  []string{demoBusyRegion, demoCutRegion, demoDownRegion, demoDeniedRegion},
		Assets:   demoAssets,
		Types:    map[string]int{"AWS::EC2::Image": demoImages, "AWS::Lambda::Function": demoFunctions},
	}
	const half = 10 // of the 20 a second that EC2 grants to each Describe
	p.Neighbours = []sim.Neighbour{{Match: sim.Match{Region: sim.Patterns{demoBusyRegion}, Service: sim.Patterns{"ec2"}}, Rate: half}}
	p.Faults = []sim.Fault{
		// Nothing in the same process is as far away as a cloud is.
		{Kind: sim.Latency, Seconds: 0.01 * speed},
		{Kind: sim.DeniedByPolicy, Match: sim.Match{
			Region: sim.Patterns{demoDeniedRegion}, Service: regionalServices(),
		}},
		{Kind: sim.HTTP500, Match: sim.Match{Region: sim.Patterns{demoDownRegion}, Service: sim.Patterns{"sqs"}}},
		{Kind: sim.RepeatToken, Match: sim.Match{
			Account: sim.Patterns{demoCutAccount}, Region: sim.Patterns{demoCutRegion}, Operation: sim.Patterns{"ListFunctions"}, Page: 2,
		}},
	}
	return p
}

// regionalServices are those that are read region by region. A bucket's region is
// asked about it although S3 is read once.
func regionalServices() (list sim.Patterns) {
	for _, k := range inventoryaws.Kinds() {
		if !k.Global && !slices.Contains(list, k.Service) {
			list = append(list, k.Service)
		}
	}
	return list
}

// awsAccounts are those of the organization, each with what opens it. The user's own
// environment and files are not looked at.
func (d *demo) awsAccounts(governor *cloudpace.Governor) (list []inventoryaws.Options) {
	for _, id := range d.profile.Estate.Accounts {
		list = append(list, inventoryaws.Options{Governor: governor, Config: &aws.Config{
			Region:       demoBusyRegion,
			Credentials:  credentials.NewStaticCredentialsProvider(simaws.AccessKey(id), "simulated", ""),
			BaseEndpoint: aws.String("http://simulated"),
			HTTPClient:   &http.Client{Transport: whole{d.transport}},
		}})
	}
	return list
}
