package aws

import (
	"fmt"
	"net/http"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// ec2Pages: without MaxResults EC2 lists everything at once.
func ec2Pages(least int) *pages {
	return &pages{size: "MaxResults", token: "NextToken", next: "nextToken", least: least, most: 1000}
}

// ec2Listing is what EC2's listings have in common.
func ec2Listing(kind, set, ids, missing string, least int, each func(*context, int) any) *operation {
	return &operation{kind: kind, set: set, of: "item", ids: ids, missing: missing, pages: ec2Pages(least), each: each}
}

var ec2Operations = map[string]*operation{
	"DescribeRegions":        {once: ec2Regions},
	"DescribeInstances":      ec2Listing(instance, "reservationSet", "InstanceId", "InvalidInstanceID.NotFound", 5, ec2Instance),
	"DescribeVolumes":        ec2Listing(volume, "volumeSet", "VolumeId", "InvalidVolume.NotFound", 5, ec2Volume),
	"DescribeSnapshots":      ownedBySelf("Owner", ec2Listing(snapshot, "snapshotSet", "SnapshotId", "InvalidSnapshot.NotFound", 5, ec2Snapshot)),
	"DescribeImages":         ownedBySelf("Owner", ec2Listing(image, "imagesSet", "ImageId", "InvalidAMIID.NotFound", 1, ec2Image)),
	"DescribeImageAttribute": {item: "ImageId", once: ec2ImageAttribute},
	"DescribeVpcs":           ec2Listing(vpc, "vpcSet", "VpcId", "InvalidVpcID.NotFound", 5, ec2VPC),
	"DescribeSubnets":        ec2Listing(subnet, "subnetSet", "SubnetId", "InvalidSubnetID.NotFound", 5, ec2Subnet),
	"DescribeSecurityGroups": ec2Listing(securityGroup, "securityGroupInfo", "GroupId", "InvalidGroup.NotFound", 5, ec2SecurityGroup),
}

// ownedBySelf: whoever asks for others' things gets none, for there are only the
// account's own.
func ownedBySelf(param string, op *operation) *operation {
	op.count = func(x *context) int {
		for _, owner := range x.request.list(param) {
			if owner != "self" && owner != x.place.Account {
				return 0
			}
		}
		return x.estate.Count(x.place, op.kind)
	}
	return op
}

func ec2Regions(x *context) (object, *problem) {
	var items []any
	for _, name := range x.estate.Regions() {
		items = append(items, fields("regionName", name, "regionEndpoint", "ec2."+name+".amazonaws.com", "optInStatus", "opt-in-not-required"))
	}
	return fields("regionInfo", list{"item", items}), nil
}

func (x *context) ec2Tags(kind string, i int) any {
	return x.tagList("item", "key", "value", x.tagsOf(kind, i))
}

// network gives the subnet that something is in, and the VPC of that.
func (x *context) network(i int) (subnetID, vpcID any) {
	s, ok := x.of(subnet, i)
	if !ok {
		return nil, nil
	}
	v, ok := x.of(vpc, s)
	if !ok {
		return x.id(subnet, s), nil
	}
	return x.id(subnet, s), x.id(vpc, v)
}

// zone of a thing; a volume that is attached has its instance's.
func (x *context) zone(kind string, i int) string {
	return x.place.Region + x.pick(kind, i, "zone", "a", "b", "c")
}

func ec2Instance(x *context, i int) any {
	id := x.id(instance, i)
	subnetID, vpcID := x.network(i)
	state := fields("code", 16, "name", "running")
	if x.draw(instance, i, "state")%8 == 0 {
		state = fields("code", 80, "name", "stopped")
	}
	var groups, disks []any
	if g, ok := x.of(securityGroup, i); ok {
		groups = append(groups, fields("groupId", x.id(securityGroup, g), "groupName", groupName(x, g)))
	}
	if i < x.estate.Count(x.place, volume) {
		disks = append(disks, fields("deviceName", "/dev/xvda", "ebs", fields(
			"volumeId", x.id(volume, i), "status", "attached", "attachTime", x.born(instance, i), "deleteOnTermination", true,
		)))
	}
	im, hasImage := x.of(image, i)
	var imageID any
	if hasImage {
		imageID = x.id(image, im)
	}
	one := fields(
		"instanceId", id, "imageId", imageID, "instanceState", state,
		"privateDnsName", fmt.Sprintf("ip-10-0-%d-%d.ec2.internal", i/250%250, i%250+4),
		"instanceType", x.pick(instance, i, "type", "t3.micro", "m7g.large", "c7g.xlarge", "r7g.2xlarge"),
		"launchTime", x.born(instance, i), "placement", fields("availabilityZone", x.zone(instance, i), "tenancy", "default"),
		"monitoring", fields("state", "disabled"), "subnetId", subnetID, "vpcId", vpcID,
		"privateIpAddress", fmt.Sprintf("10.0.%d.%d", i/250%250, i%250+4),
		"groupSet", list{"item", groups}, "architecture", "arm64", "rootDeviceType", "ebs", "rootDeviceName", "/dev/xvda",
		"blockDeviceMapping", list{"item", disks}, "virtualizationType", "hvm", "tagSet", x.ec2Tags(instance, i),
	)
	return fields(
		"reservationId", fmt.Sprintf("r-0%016x", x.draw(instance, i, "reservation")), "ownerId", x.place.Account,
		"groupSet", list{of: "item"}, "instancesSet", list{"item", []any{one}},
	)
}

// ec2Volume: the first so many are the instances' disks.
func ec2Volume(x *context, i int) any {
	state, zone := "available", x.zone(volume, i)
	var attached []any
	if i < x.estate.Count(x.place, instance) {
		state, zone = "in-use", x.zone(instance, i)
		attached = append(attached, fields(
			"volumeId", x.id(volume, i), "instanceId", x.id(instance, i), "device", "/dev/xvda", "status", "attached",
			"attachTime", x.born(instance, i), "deleteOnTermination", true,
		))
	}
	return fields(
		"volumeId", x.id(volume, i), "size", 8<<(x.draw(volume, i, "size")%6), "availabilityZone", zone, "status", state,
		"createTime", x.born(volume, i), "attachmentSet", list{"item", attached}, "volumeType", "gp3", "iops", 3000,
		"encrypted", x.draw(volume, i, "encrypted")%4 != 0, "tagSet", x.ec2Tags(volume, i),
	)
}

func ec2Snapshot(x *context, i int) any {
	var volumeID any = "vol-ffffffff" // what EC2 says when the volume is not known
	if v, ok := x.of(volume, i); ok {
		volumeID = x.id(volume, v)
	}
	return fields(
		"snapshotId", x.id(snapshot, i), "volumeId", volumeID, "status", "completed", "startTime", x.born(snapshot, i),
		"progress", "100%", "ownerId", x.place.Account, "volumeSize", 8<<(x.draw(snapshot, i, "size")%6),
		"description", "daily", "encrypted", x.draw(snapshot, i, "encrypted")%4 != 0, "storageTier", "standard", "tagSet", x.ec2Tags(snapshot, i),
	)
}

func ec2Image(x *context, i int) any {
	var disks []any
	if s, ok := x.of(snapshot, i); ok {
		disks = append(disks, fields("deviceName", "/dev/xvda", "ebs", fields("snapshotId", x.id(snapshot, s), "volumeSize", 8, "volumeType", "gp3", "deleteOnTermination", true)))
	}
	name := fmt.Sprintf("base-%s-%05d", x.pick(image, i, "base", "web", "worker", "bastion"), i)
	return fields(
		"imageId", x.id(image, i), "imageLocation", x.place.Account+"/"+name, "imageState", "available", "imageOwnerId", x.place.Account,
		"isPublic", false, "architecture", "arm64", "imageType", "machine", "name", name, "creationDate", x.born(image, i),
		"rootDeviceType", "ebs", "rootDeviceName", "/dev/xvda", "blockDeviceMapping", list{"item", disks}, "virtualizationType", "hvm",
		"tagSet", x.ec2Tags(image, i),
	)
}

// ec2ImageAttribute knows who may launch an image: for every fifth, another
// account.
func ec2ImageAttribute(x *context) (object, *problem) {
	id := x.param("ImageId")
	i, ok := find(x.estate, x.place, image, id)
	if !ok {
		return nil, &problem{http.StatusBadRequest, "InvalidAMIID.NotFound", fmt.Sprintf("The image id '[%s]' does not exist", id)}
	}
	if a := x.param("Attribute"); a != "launchPermission" {
		return nil, &problem{http.StatusBadRequest, "InvalidParameterValue", "The simulator models launchPermission, not " + a + "."}
	}
	return fields("imageId", id, "launchPermission", list{"item", launchPermissions(x.estate, x.place, i)}), nil
}

func launchPermissions(e *sim.Estate, p sim.Place, i int) []any {
	if e.Draw(p, image, i, "shared")%5 != 0 {
		return nil
	}
	accounts := e.Accounts()
	other := accounts[e.Draw(p, image, i, "with")%uint64(len(accounts))]
	if other == p.Account {
		other = "888877776666"
	}
	return []any{fields("userId", other)}
}

func ec2VPC(x *context, i int) any {
	return fields(
		"vpcId", x.id(vpc, i), "ownerId", x.place.Account, "state", "available", "cidrBlock", fmt.Sprintf("10.%d.0.0/16", i%256),
		"instanceTenancy", "default", "isDefault", i == 0, "tagSet", x.ec2Tags(vpc, i),
	)
}

func ec2Subnet(x *context, i int) any {
	var vpcID any
	v, ok := x.of(vpc, i)
	third := i
	if ok {
		vpcID = x.id(vpc, v)
		third = i / x.estate.Count(x.place, vpc)
	}
	id := x.id(subnet, i)
	return fields(
		"subnetId", id, "subnetArn", x.arn("ec2", x.place.Region, "subnet/"+id), "state", "available", "ownerId", x.place.Account, "vpcId", vpcID,
		"cidrBlock", fmt.Sprintf("10.%d.%d.0/24", v%256, third%256), "availableIpAddressCount", 200+int(x.draw(subnet, i, "free")%51),
		"availabilityZone", x.zone(subnet, i), "defaultForAz", false, "mapPublicIpOnLaunch", x.draw(subnet, i, "public")%3 == 0,
		"tagSet", x.ec2Tags(subnet, i),
	)
}

func groupName(x *context, i int) string {
	return fmt.Sprintf("%s-%05d", x.pick(securityGroup, i, "word", "web", "db", "internal", "ssh"), i)
}

func ec2SecurityGroup(x *context, i int) any {
	var vpcID any
	if v, ok := x.of(vpc, i); ok {
		vpcID = x.id(vpc, v)
	}
	id := x.id(securityGroup, i)
	return fields(
		"ownerId", x.place.Account, "groupId", id, "groupName", groupName(x, i), "groupDescription", "made by the simulator", "vpcId", vpcID,
		"securityGroupArn", x.arn("ec2", x.place.Region, "security-group/"+id),
		"ipPermissions", list{"item", []any{fields(
			"ipProtocol", "tcp", "fromPort", 443, "toPort", 443,
			"ipRanges", list{"item", []any{fields("cidrIp", x.pick(securityGroup, i, "from", "10.0.0.0/8", "10.0.0.0/8", "0.0.0.0/0"))}},
		)}},
		"ipPermissionsEgress", list{of: "item"}, "tagSet", x.ec2Tags(securityGroup, i),
	)
}
