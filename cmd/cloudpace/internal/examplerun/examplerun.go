// Package examplerun makes documents of runs that never were, for tests of what
// shows them.
package examplerun

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/timeline"
)

var started = time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC)

const took = 214.6 // seconds

var (
	types = map[string]string{
		"ec2_images": "AWS::EC2::Image", "ec2_instances": "AWS::EC2::Instance", "ec2_security_groups": "AWS::EC2::SecurityGroup",
		"ec2_snapshots": "AWS::EC2::Snapshot", "ec2_subnets": "AWS::EC2::Subnet", "ec2_volumes": "AWS::EC2::Volume", "ec2_vpcs": "AWS::EC2::VPC",
		"lambda_functions": "AWS::Lambda::Function", "sqs_queues": "AWS::SQS::Queue", "tagging_sweep": "AWS::SNS::Topic",
	}
	tasks   = []string{"ec2_images", "ec2_instances", "ec2_security_groups", "ec2_snapshots", "ec2_subnets", "ec2_volumes", "ec2_vpcs", "lambda_functions", "sqs_queues", "tagging_sweep"}
	regions = []string{"us-east-1", "eu-west-1", "eu-central-1", "ap-southeast-2", "us-west-2", "sa-east-1", "ca-central-1", "ap-northeast-1"}
)

// Document is a run over so many accounts and regions, in which all was read.
func Document(accounts, inRegions int) inventory.Document {
	d := inventory.Document{Summary: inventory.Summary{
		Version: "v0.1.0", Provider: []string{"aws"}, Started: started, Finished: started.Add(time.Duration(took * float64(time.Second))), Seconds: took,
		AssetsFile: inventory.AssetsFile,
	}, Timeline: &timeline.Timeline{Seconds: took, Scopes: []timeline.Scope{}}}
	for a := range accounts {
		id := fmt.Sprint(111122223333 + a*111111111111%888888888888 + a/8)
		names := make([]string, inRegions)
		for r := range names {
			names[r] = regions[r%len(regions)]
			if r >= len(regions) {
				names[r] = fmt.Sprintf("xx-test-%d", r)
			}
			for t, task := range tasks {
				n := (a*31 + r*17 + t*t*7) % 90
				d.Coverage = append(d.Coverage, inventory.Record{
					Provider: "aws", Account: id, Region: names[r], Task: task, Family: "compute", Scope: "aws/" + id + "/" + names[r] + "/ec2",
					Status: inventory.Success, Assets: n, Pages: n/100 + 1, Calls: n/100 + 1,
					Started: started, Finished: started.Add(time.Minute), Seconds: float64(n) / 9,
				})
			}
		}
		d.Summary.Accounts = append(d.Summary.Accounts, inventory.Account{
			Provider: "aws", ID: id, Caller: "arn:aws:sts::" + id + ":assumed-role/Audit/cloudpace",
			Regions: &inventory.Regions{Requested: names, Enabled: inRegions + 2, NotRequested: []string{"ap-south-1", "eu-north-1"}, Verified: true},
		})
	}
	return Count(d)
}

// Count makes the summary of a document that of its records again.
func Count(d inventory.Document) inventory.Document {
	s := &d.Summary
	s.Assets, s.ByType, s.ByPlace, s.ByStatus = 0, make(map[string]int), make(inventory.Places), make(map[inventory.Status]int)
	s.Complete = []inventory.Scope{}
	for _, r := range d.Coverage {
		s.ByStatus[r.Status]++
		s.Assets += r.Assets
		if r.Status == inventory.Success {
			s.Complete = append(s.Complete, inventory.Scope{Provider: r.Provider, Account: r.Account, Region: r.Region, Task: r.Task})
		}
		if r.Assets == 0 {
			continue
		}
		s.ByType[types[r.Task]] += r.Assets
		if s.ByPlace[r.Account] == nil {
			s.ByPlace[r.Account] = make(map[string]map[string]int)
		}
		if s.ByPlace[r.Account][r.Region] == nil {
			s.ByPlace[r.Account][r.Region] = make(map[string]int)
		}
		s.ByPlace[r.Account][r.Region][types[r.Task]] += r.Assets
	}
	s.Outcome = inventory.Complete
	if s.ByStatus[inventory.Success] < len(d.Coverage) {
		s.Outcome = inventory.WithGaps
	}
	return d
}

// WithGaps is a run over three accounts and four regions with everything that can
// happen: a denied region, throttled services, a listing that was cut short, a
// service that is not there.
func WithGaps() inventory.Document {
	d := Document(3, 4)
	lose := func(r *inventory.Record, s inventory.Status, why inventory.Reason, text string) {
		r.Status, r.Reason, r.Error, r.Errors = s, why, text, 1
		if s != inventory.Partial {
			r.Assets, r.Pages = 0, 0
		}
	}
	second := d.Summary.Accounts[1].ID
	for i := range d.Coverage {
		switch r := &d.Coverage[i]; {
		case r.Account == second && r.Region == "ap-southeast-2":
			lose(r, inventory.Failed, inventory.AccessDenied, "operation error EC2: Describe"+r.Task+", https response error StatusCode: 403, RequestID: 5e0c1f0a-7a44-4a5c-9a77-2f1b4c3d2e1f, api error UnauthorizedOperation: You are not authorized to perform this operation with an explicit deny in a service control policy")
		case r.Task == "sqs_queues":
			lose(r, inventory.Failed, inventory.NotSupported, "operation error SQS: ListQueues, https response error StatusCode: 404, <html><title>404 Not Found</title></html>")
		case r.Task == "ec2_images" && r.Region == "us-east-1":
			lose(r, inventory.Partial, inventory.Throttled, "")
			r.Ledger = "throttled: 3 call(s) gave up after retries, 14 call(s) skipped (circuit open) (RequestLimitExceeded: Request limit exceeded.)"
			r.RetryAfterSeconds, r.Incomplete, r.Assets = 45, 17, 212
		case r.Task == "ec2_snapshots" && r.Region == "eu-west-1" && r.Account == second:
			lose(r, inventory.Partial, inventory.Truncated, "a page token came twice: AAIAAQ9vcGFxdWUtdG9rZW4tdGhhdC1pcy1sb25nZXItdGhhbi1hbnktbGluZS1vZi10aGUtcmVwb3J0LWNhbi1iZS1hbmQtaGFzLW5vLXNwYWNl")
		}
	}
	d.Summary.Accounts[2].Regions.Verified, d.Summary.Accounts[2].Regions.NotRequested = false, []string{}
	d.Summary.Accounts[2].Regions.Note = "cannot be listed (access_denied), so those that are not enabled by default were left out"
	d = Count(d)
	for i, a := range d.Summary.Accounts {
		scope := "aws/" + a.ID + "/us-east-1/ec2"
		d.Throttling.Scopes = append(d.Throttling.Scopes, cloudpace.ScopeSummary{
			Scope: scope, Totals: cloudpace.Totals{Calls: 1840 - i*300, Throttled: 61 - i*20, Retries: 58 - i*20, GaveUp: 1, Waits: 1402, WaitSeconds: 3120.4},
			LongestWaitSeconds: 12.7, RPS: 20, LowestRPS: 1.25, LastError: "RequestLimitExceeded: Request limit exceeded.",
		}, cloudpace.ScopeSummary{Scope: "aws/" + a.ID + "/eu-west-1/lambda", Totals: cloudpace.Totals{Calls: 44, Waits: 3, WaitSeconds: 0.4}, LongestWaitSeconds: 0.2, RPS: 15})
		d.Throttling.Messages = append(d.Throttling.Messages, fmt.Sprintf("%s: throttled %dx, slowed to 1.2 rps, %d retries, 1 call gave up", scope, 61-i*20, 58-i*20))
		d.Timeline.Scopes = append(d.Timeline.Scopes, Slowed(scope, took, 61-i*20))
	}
	for _, s := range d.Throttling.Scopes {
		t := &d.Throttling.Totals
		t.Calls, t.Throttled, t.Retries, t.GaveUp = t.Calls+s.Calls, t.Throttled+s.Throttled, t.Retries+s.Retries, t.GaveUp+s.GaveUp
		t.Waits, t.WaitSeconds = t.Waits+s.Waits, t.WaitSeconds+s.WaitSeconds
	}
	return d
}

// Slowed is a scope that is throttled three times in its run, so many answers in
// all, and recovers.
func Slowed(scope string, seconds float64, throttled int) timeline.Scope {
	s := timeline.Scope{Scope: scope}
	const n = 200
	rate, sofar, calls := 20.0, 0, 0
	for i := 1; i <= n; i++ {
		p := timeline.Point{Seconds: math.Round(seconds*float64(i)/n*1000) / 1000, MaxRPS: 20}
		if phase := float64(i) / n; slices.ContainsFunc([]float64{0.15, 0.33, 0.6}, func(at float64) bool { return phase >= at && phase < at+0.04 }) && sofar < throttled {
			sofar = min(throttled, sofar+throttled/20+1)
			rate = max(1.25, rate/2)
			p.Paused = phase > 0.33 && phase < 0.6
		} else {
			rate = min(20, rate*1.03)
		}
		calls += int(rate)
		p.RPS, p.Throttled, p.Calls = rate, sofar, calls
		s.Points = append(s.Points, p)
	}
	s.Points[n-1].Throttled = throttled
	return s
}

// Hostile is a run in which every text that comes from outside tries to be markup.
func Hostile() inventory.Document {
	const evil = `</script></style></title>"'><img src=x onerror="window.hacked=1"><script>window.hacked=1</script>` + "\u2028{{.}}`${window.hacked=1}`<!--"
	d := WithGaps()
	s := &d.Summary
	s.Version, s.Error, s.Outcome = evil, evil, inventory.Interrupted
	for i := range s.Accounts {
		a := &s.Accounts[i]
		a.ID, a.Caller, a.Regions.Note, a.Regions.Requested, a.Regions.NotRequested = a.ID+evil, evil, evil, []string{evil}, []string{evil}
	}
	s.ByType = map[string]int{evil: 3}
	s.ByPlace = inventory.Places{evil: {evil: {evil: 3}}}
	for i := range d.Coverage {
		r := &d.Coverage[i]
		r.Account, r.Region, r.Task, r.Error, r.Ledger = r.Account+evil, r.Region+evil, r.Task+evil, evil, evil
		if r.Status != inventory.Success {
			r.Reason += evil
		}
	}
	for i := range d.Throttling.Scopes {
		d.Throttling.Scopes[i].Scope += evil
		d.Throttling.Scopes[i].LastError = evil
	}
	for i := range d.Throttling.Messages {
		d.Throttling.Messages[i] = evil
	}
	for i := range d.Timeline.Scopes {
		d.Timeline.Scopes[i].Scope += evil
	}
	return d
}
