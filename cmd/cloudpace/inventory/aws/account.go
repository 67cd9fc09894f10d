package aws

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsarn "github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	"github.com/cloudpace/cloudpace/paceaws"
	"github.com/cloudpace/cloudpace/verdict"
)

// Provider is what assets and records call it.
const Provider = "aws"

// Options say which account is read, and how.
type Options struct {
	Profile    string
	RoleARN    string // assumed from the credentials found
	ExternalID string // for RoleARN
	Regions    []string
	Endpoint   string // URL that all services are asked at, for emulators and proxies
	Governor   *cloudpace.Governor
	// Config, when set, is used as it is: with its credentials, region, endpoint and
	// HTTP client, and nothing is looked for in the environment and its files. It
	// excludes Profile and Endpoint.
	Config *aws.Config
}

// Check finds what is wrong with the options without asking anybody.
func (o Options) Check() error {
	if o.ExternalID != "" && o.RoleARN == "" {
		return errors.New("an external id goes with a role to assume, and there is none")
	}
	if o.Config != nil && (o.Profile != "" || o.Endpoint != "") {
		return errors.New("a profile or an endpoint goes with a configuration that is looked for, not with one that is given")
	}
	if o.Endpoint != "" {
		u, err := url.Parse(o.Endpoint)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return fmt.Errorf("endpoint %q is not a URL like http://localhost:5000", withoutPassword(o.Endpoint))
		}
	}
	if err := CheckRegions(o.Regions); err != nil {
		return err
	}
	if o.RoleARN == "" {
		return nil
	}
	role, err := awsarn.Parse(o.RoleARN)
	if err != nil || role.Service != "iam" || !strings.HasPrefix(role.Resource, "role/") {
		return fmt.Errorf("role %q is not the ARN of a role (arn:aws:iam::111122223333:role/NAME)", o.RoleARN)
	}
	if len(o.Regions) > 0 {
		if p, ok := partitionOf(o.Regions[0]); ok && p.id != role.Partition {
			return fmt.Errorf("region %s is in partition %s, role %s in %s", o.Regions[0], p.id, o.RoleARN, role.Partition)
		}
	}
	return nil
}

// withoutPassword gives a text that is to be a URL as it may be shown. Who leaves
// out the scheme gets a URL in which the password is none: it is what stands
// before the last @.
func withoutPassword(text string) string {
	if u, err := url.Parse(text); err == nil && u.Host != "" {
		return u.Redacted()
	}
	if i := strings.LastIndexByte(text, '@'); i >= 0 {
		return "xxxxx" + text[i:]
	}
	return text
}

// Account is one that can be read.
type Account struct {
	inventory.Account
	cfg       aws.Config
	partition partition
	enabled   []string // regions; known when Regions.Verified
	accepted  accepted
}

// askRetries bounds the retries of the questions that come before a run. Whoever
// starts one wants to hear soon that nobody answers.
const askRetries = 2

// Open finds credentials, asks whose they are, and which regions are enabled. It
// fails with [NoCredentialsError] before anything is sent where there are none.
func Open(ctx context.Context, o Options) (*Account, error) {
	cfg, err := load(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := paceaws.Install(&cfg, paceaws.WithGovernor(o.Governor)); err != nil {
		return nil, fmt.Errorf("aws: %w", err)
	}
	if o.RoleARN != "" {
		cfg = assume(cfg, o.RoleARN, o.ExternalID)
	}
	who, err := sts.NewFromConfig(cfg).GetCallerIdentity(ctx, nil, func(o *sts.Options) { o.RetryMaxAttempts = askRetries + 1 })
	if err != nil {
		return nil, fmt.Errorf("aws: asking whose credentials these are (sts:GetCallerIdentity in %s): %s: %w", cfg.Region, inventory.ReasonOf(Provider, err), err)
	}
	caller, err := awsarn.Parse(aws.ToString(who.Arn))
	if err != nil {
		return nil, fmt.Errorf("aws: sts:GetCallerIdentity in %s: %w", cfg.Region, err)
	}
	a := &Account{
		Account:   inventory.Account{Provider: Provider, ID: aws.ToString(who.Account), Caller: aws.ToString(who.Arn)},
		partition: partitionNamed(caller.Partition),
		cfg:       cfg.Copy(),
	}
	if p, ok := partitionOf(a.cfg.Region); ok && p.id != a.partition.id {
		a.cfg.Region = a.partition.home
	}
	if err := paceaws.Install(&a.cfg, paceaws.Account(a.ID), paceaws.WithGovernor(o.Governor)); err != nil {
		return nil, fmt.Errorf("aws: account %s: %w", a.ID, err)
	}
	a.Regions, err = a.regions(ctx, o.Regions)
	if err != nil {
		return nil, err
	}
	return a, nil
}

// regions settles which regions are asked. Where the account may not be asked,
// regions that were named are taken at their word, and "all" is the built-in list
// of those that every account has.
func (a *Account) regions(ctx context.Context, asked []string) (*inventory.Regions, error) {
	all := len(asked) == 0 || asked[0] == AllRegions
	r := &inventory.Regions{Requested: slices.Clone(asked), NotRequested: []string{}}
	for _, name := range asked {
		if p, ok := partitionOf(name); ok && p.id != a.partition.id {
			return nil, fmt.Errorf("aws: region %s is in partition %s, account %s in %s", name, p.id, a.ID, a.partition.id)
		}
	}
	o, err := ec2.NewFromConfig(a.cfg).DescribeRegions(ctx, &ec2.DescribeRegionsInput{}, func(o *ec2.Options) { o.RetryMaxAttempts = askRetries + 1 })
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		r.Note = fmt.Sprintf("unverified: the account's regions cannot be listed (%s): %s", inventory.ReasonOf(Provider, err), verdict.Describe(err))
		if all {
			r.Requested = a.partition.regions
			r.NotRequested = append(r.NotRequested, a.partition.optIn...)
			r.Note += "; asked are the regions that every account has, not those that have to be enabled"
		}
		return r, nil
	}
	r.Verified = true
	var enabled []string
	for _, region := range o.Regions {
		name := aws.ToString(region.RegionName)
		if p, ok := partitionOf(name); ok && p.id != a.partition.id {
			continue // emulators list all partitions; no account is in two
		}
		enabled = append(enabled, name)
	}
	slices.Sort(enabled)
	a.enabled, r.Enabled = enabled, len(enabled)
	if all {
		r.Requested = enabled
	}
	for _, name := range enabled {
		if !slices.Contains(r.Requested, name) {
			r.NotRequested = append(r.NotRequested, name)
		}
	}
	return r, nil
}

// Tasks makes the tasks of the kinds that are wanted: in every region, or once
// for what belongs to none.
func (a *Account) Tasks(wanted func(inventory.Kind) bool) []inventory.Task {
	listed := make(map[string]bool)
	for _, r := range table {
		if wanted(r.Kind) {
			for _, t := range r.Types {
				listed[t] = true
			}
		}
	}
	var tasks []inventory.Task
	add := func(r row, region, named string) {
		tasks = append(tasks, inventory.Task{
			Kind: r.Kind, Provider: Provider, Account: a.ID, Region: named,
			Read: func(ctx context.Context, out *inventory.Output) error {
				if err := a.closed(region); err != nil {
					return err
				}
				return a.blameRegion(ctx, region, r.read(ctx, newSite(a.cfg, a.partition.id, a.ID, region, listed), out))
			},
		})
	}
	for _, r := range table {
		if !wanted(r.Kind) {
			continue
		}
		if r.Global {
			add(r, a.cfg.Region, a.partition.global)
			continue
		}
		for _, region := range a.Regions.Requested {
			add(r, region, region)
		}
	}
	return tasks
}

// hasCode tells whether the provider answered with one of the codes.
func hasCode(err error, codes ...string) bool {
	var api smithy.APIError
	return errors.As(err, &api) && slices.Contains(codes, api.ErrorCode())
}
