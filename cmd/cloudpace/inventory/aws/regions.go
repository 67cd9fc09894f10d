package aws

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

// partition is a part of AWS with accounts of its own.
type partition struct {
	id string
	// global is what its global services are called by in scopes and assets.
	global string
	// home is where a client asks when nothing else names a region.
	home string
	// regions are enabled in every account; optIn have to be enabled.
	regions, optIn []string
}

// partitions as of late 2026. The account itself is asked which of them it has
// enabled; the list serves to check names before anything is sent, and to go on
// when that question is denied.
var partitions = []partition{
	{
		id: "aws", global: "aws-global", home: "us-east-1",
		regions: []string{
			"us-east-1", "us-east-2", "us-west-1", "us-west-2", "ca-central-1", "sa-east-1",
			"eu-central-1", "eu-north-1", "eu-west-1", "eu-west-2", "eu-west-3",
			"ap-northeast-1", "ap-northeast-2", "ap-northeast-3", "ap-south-1", "ap-southeast-1", "ap-southeast-2",
		},
		optIn: []string{
			"af-south-1", "ap-east-1", "ap-east-2", "ap-south-2", "ap-southeast-3", "ap-southeast-4", "ap-southeast-5",
			"ap-southeast-6", "ap-southeast-7", "ca-west-1", "eu-central-2", "eu-south-1", "eu-south-2", "il-central-1",
			"me-central-1", "me-south-1", "me-west-1", "mx-central-1", "sa-west-1",
		},
	},
	{id: "aws-cn", global: "aws-cn-global", home: "cn-north-1", regions: []string{"cn-north-1", "cn-northwest-1"}},
	{id: "aws-us-gov", global: "aws-us-gov-global", home: "us-gov-west-1", regions: []string{"us-gov-east-1", "us-gov-west-1"}},
	{id: "aws-eusc", global: "aws-eusc-global", home: "eusc-de-east-1", regions: []string{"eusc-de-east-1"}},
	{id: "aws-iso", global: "aws-iso-global", home: "us-iso-east-1", regions: []string{"us-iso-east-1", "us-iso-west-1"}},
	{id: "aws-iso-b", global: "aws-iso-b-global", home: "us-isob-east-1", regions: []string{"us-isob-east-1", "us-isob-west-1"}},
	{id: "aws-iso-e", global: "aws-iso-e-global", home: "eu-isoe-west-1", regions: []string{"eu-isoe-west-1"}},
	{id: "aws-iso-f", global: "aws-iso-f-global", home: "us-isof-south-1", regions: []string{"us-isof-east-1", "us-isof-south-1"}},
}

// AllRegions asks for every region that the account has enabled.
const AllRegions = "all"

// RegionNames lists the regions that are known by name.
func RegionNames() []string {
	var list []string
	for _, p := range partitions {
		list = append(list, p.all()...)
	}
	return list
}

func (p partition) all() []string { return slices.Concat(p.regions, p.optIn) }

// partitionNamed gives the first partition, the public one, for a name it does
// not know.
func partitionNamed(id string) partition {
	for _, p := range partitions {
		if p.id == id {
			return p
		}
	}
	return partitions[0]
}

// partitionOf tells where a region is.
func partitionOf(region string) (partition, bool) {
	for _, p := range partitions {
		if slices.Contains(p.all(), region) {
			return p, true
		}
	}
	return partition{}, false
}

// CheckRegions tells whether regions can be asked for: each known, all in one
// partition, "all" by itself. It asks nobody.
func CheckRegions(regions []string) error {
	if slices.Contains(regions, AllRegions) {
		if len(regions) > 1 {
			return fmt.Errorf("regions: %q stands alone or not at all, got %q", AllRegions, strings.Join(regions, ","))
		}
		return nil
	}
	first := ""
	for _, name := range regions {
		p, ok := partitionOf(name)
		if !ok {
			text := fmt.Sprintf("unknown region %q", name)
			if near, ok := inventory.Nearest(name, append(RegionNames(), AllRegions)); ok {
				text += fmt.Sprintf(", did you mean %q?", near)
			}
			return fmt.Errorf("%s (%q takes those that the account has enabled)", text, AllRegions)
		}
		if first == "" {
			first = name
		} else if q, _ := partitionOf(first); q.id != p.id {
			return fmt.Errorf("regions %s and %s are in different partitions (%s, %s): no credentials are good for both", first, name, q.id, p.id)
		}
	}
	return nil
}
