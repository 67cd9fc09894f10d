package paceaws

import (
	"sync"
	"testing"
)

func TestS1_2_ServiceNames(t *testing.T) {
	t.Parallel()
	if len(models) < 400 {
		t.Fatalf("the list has %d services", len(models))
	}
	for _, m := range models {
		for range 2 { // made by rule, then remembered
			if got := serviceName(m.id); got != m.name {
				t.Errorf("serviceName(%q) = %q, want %q", m.id, got, m.name)
			}
		}
	}
	// The names that the rules and the tables of limits use.
	for id, name := range map[string]string{
		"EC2": "ec2", "IAM": "iam", "STS": "sts", "Lambda": "lambda", "Organizations": "organizations",
		"CloudFormation": "cloudformation", "CloudControl": "cloudcontrol", "ControlTower": "controltower",
		"Resource Groups Tagging API": "resourcegroupstaggingapi", "Route 53": "route53", "CloudWatch Logs": "logs",
		"Auto Scaling": "autoscaling", "Elastic Load Balancing v2": "elbv2", "SFN": "stepfunctions",
		"Config Service": "config", "EventBridge": "events", "Secrets Manager": "secretsmanager",
	} {
		equal(t, id, serviceName(id), name)
	}
}

func TestS1_2_ServiceNamesOfTheFuture(t *testing.T) {
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				equal(t, "by rule", serviceName("Quite New Service"), "quite-new-service")
			}
		})
	}
	all.Wait()
	if n := testing.AllocsPerRun(100, func() { serviceName("Quite New Service") }); n != 0 {
		t.Errorf("a name that is known costs %v allocations", n)
	}
}

func TestS1_2_NoTableEntryGoesByTheRule(t *testing.T) {
	t.Parallel()
	known := map[string]string{}
	for _, m := range models {
		known[m.id] = m.name
	}
	for id, name := range serviceNames {
		equal(t, "the model of "+id, known[id], name)
	}
}

func TestS1_2_GlobalServicesAreServices(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, m := range models {
		known[m.name] = true
	}
	for name := range globalServices {
		if !known[name] {
			t.Errorf("there is no service %q", name)
		}
	}
	for _, name := range []string{"sts", "s3", "ec2"} {
		if globalServices[name] {
			t.Errorf("%s is regional", name)
		}
	}
}

func TestS1_2_PseudoRegions(t *testing.T) {
	t.Parallel()
	for region, want := range map[string]string{
		"":                  "aws-global",
		"us-east-1":         "aws-global",
		"eu-central-1":      "aws-global",
		"aws-global":        "aws-global",
		"cn-north-1":        "aws-cn-global",
		"aws-cn-global":     "aws-cn-global",
		"us-gov-west-1":     "aws-us-gov-global",
		"us-iso-east-1":     "aws-iso-global",
		"us-isob-east-1":    "aws-iso-b-global",
		"eu-isoe-west-1":    "aws-iso-e-global",
		"us-isof-south-1":   "aws-iso-f-global",
		"eusc-de-east-1":    "aws-eusc-global",
		"aws-us-gov-global": "aws-us-gov-global",
	} {
		equal(t, region, pseudoRegion(region), want)
	}
}
