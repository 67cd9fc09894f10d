package aws

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/internal/fakeaws"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

// service is what a server holds for one row, and what the row makes of it.
type service struct {
	task string
	on   map[string]fakeaws.Answer
	// record is "SUCCESS, 2 assets" or "PARTIAL access_denied, 2 assets,
	// 1 vanished, 1 incomplete".
	record string
	// assets are "id", "id {tag:value}", or "id untagged" where tags were not read,
	// each with what is missing: "id untagged -tags". They are sorted.
	assets []string
	has    []string // what assets.jsonl has, word for word
}

// secret stands in the answers where secrets may be. None may be written.
const secret = "hunter2"

// q words an answer of the Query protocol.
func q(op, inner string) string {
	return fmt.Sprintf("<%[1]sResponse><%[1]sResult>%[2]s</%[1]sResult></%[1]sResponse>", op, inner)
}

func text(body string) fakeaws.Answer { return fakeaws.Text(200, body) }

// about answers a question that has one of the words with the answer after it,
// and all others with the first.
func about(otherwise string, pairs ...any) fakeaws.Answer {
	return func(r fakeaws.Request) (int, string) {
		asked := r.Path + r.Body + r.Form.Encode()
		for i := 0; i < len(pairs); i += 2 {
			if strings.Contains(asked, pairs[i].(string)) {
				return pairs[i+1].(fakeaws.Answer)(r)
			}
		}
		return 200, otherwise
	}
}

var denied = fakeaws.Fail(403, "AccessDenied")

func gone(code string) fakeaws.Answer { return fakeaws.Fail(400, code) }

// summary words a record as a service does.
func summary(r inventory.Record) string {
	s := string(r.Status)
	if r.Reason != "" {
		s += " " + string(r.Reason)
	}
	s += fmt.Sprintf(", %d assets", r.Assets)
	if r.Vanished > 0 {
		s += fmt.Sprintf(", %d vanished", r.Vanished)
	}
	if r.Incomplete > 0 {
		s += fmt.Sprintf(", %d incomplete", r.Incomplete)
	}
	return s
}

func words(a inventory.Asset) string {
	s := a.ID
	switch {
	case a.Tags == nil:
		s += " untagged"
	case len(a.Tags) > 0:
		s += strings.ReplaceAll(fmt.Sprintf(" {%v}", a.Tags), "map", "")
		s = strings.NewReplacer("{[", "{", "]}", "}").Replace(s)
	}
	for _, detail := range slices.Sorted(maps.Keys(a.Missing)) {
		s += " -" + detail
	}
	return s
}

// check runs the row of a service against a server that holds it.
func check(t *testing.T, c service) {
	t.Helper()
	s := fakeaws.New(t)
	for op, a := range c.on {
		s.On(op, a)
	}
	a := open(t, s, "us-east-1")
	tasks := a.Tasks(func(k inventory.Kind) bool { return k.Name == c.task })
	if len(tasks) != 1 {
		t.Fatalf("%d tasks are called %s", len(tasks), c.task)
	}
	dir := t.TempDir()
	records, err := inventory.Run(t.Context(), tasks, inventory.Options{Sink: inventory.NewSink(dir)})
	if err != nil {
		t.Fatal(err)
	}
	if got := summary(records[0]); got != c.record {
		t.Errorf("record: %s, want %s\n%s", got, c.record, records[0].Error)
	}
	var got []string
	for _, a := range assets(t, dir) {
		got = append(got, words(a))
		if !slices.Contains(tasks[0].Types, a.Type) {
			t.Errorf("%s is of type %s, which the row does not list", a.ID, a.Type)
		}
		if typ := parseARN(a.ARN).typ; a.ARN != "" && !slices.Contains(tasks[0].Types, typ) {
			t.Errorf("%s has the ARN %s, which the sweep takes for %s", a.ID, a.ARN, typ)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, c.assets) {
		t.Errorf("assets\n got %s\nwant %s", strings.Join(got, "\n     "), strings.Join(c.assets, "\n     "))
	}
	written, err := os.ReadFile(filepath.Join(dir, inventory.AssetsFile))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(written), secret) {
		t.Errorf("a secret was written:\n%s", written)
	}
	for _, want := range c.has {
		if !strings.Contains(string(written), want) {
			t.Errorf("not written: %s\n%s", want, written)
		}
	}
}

// TestServices: each row through the real client: two pages, tags, a detail that
// is denied, an item that is gone by then, and what may be secret.
func TestServices(t *testing.T) {
	for _, c := range slices.Concat(databaseServices, containerServices, networkServices, otherServices) {
		t.Run(c.task, func(t *testing.T) { check(t, c) })
	}
}

// TestEC2 reads two pages of every type of EC2 that has nothing peculiar.
func TestEC2(t *testing.T) {
	for _, c := range []struct {
		task, op, set, id string
		tags              string // what the set of tags is called
		pages             bool
		has               string
	}{
		{"ec2_volumes", "DescribeVolumes", "volumeSet", "volumeId", "tagSet", true, "arn:aws:ec2:us-east-1:111122223333:volume/one"},
		{"ec2_snapshots", "DescribeSnapshots", "snapshotSet", "snapshotId", "tagSet", true, "arn:aws:ec2:us-east-1::snapshot/one"},
		{"ec2_key_pairs", "DescribeKeyPairs", "keySet", "keyPairId", "tagSet", false, ":key-pair/one"},
		{"ec2_launch_templates", "DescribeLaunchTemplates", "launchTemplates", "launchTemplateId", "tagSet", true, ":launch-template/one"},
		{"ec2_vpcs", "DescribeVpcs", "vpcSet", "vpcId", "tagSet", true, ":vpc/one"},
		{"ec2_subnets", "DescribeSubnets", "subnetSet", "subnetId", "tagSet", true, ":subnet/one"},
		{"ec2_security_groups", "DescribeSecurityGroups", "securityGroupInfo", "groupId", "tagSet", true, ":security-group/one"},
		{"ec2_addresses", "DescribeAddresses", "addressesSet", "allocationId", "tagSet", false, ":elastic-ip/one"},
		{"ec2_network_interfaces", "DescribeNetworkInterfaces", "networkInterfaceSet", "networkInterfaceId", "tagSet", true, ":network-interface/one"},
		{"ec2_route_tables", "DescribeRouteTables", "routeTableSet", "routeTableId", "tagSet", true, ":route-table/one"},
		{"ec2_network_acls", "DescribeNetworkAcls", "networkAclSet", "networkAclId", "tagSet", true, ":network-acl/one"},
		{"ec2_dhcp_options", "DescribeDhcpOptions", "dhcpOptionsSet", "dhcpOptionsId", "tagSet", true, ":dhcp-options/one"},
		{"ec2_internet_gateways", "DescribeInternetGateways", "internetGatewaySet", "internetGatewayId", "tagSet", true, ":internet-gateway/one"},
		{"ec2_nat_gateways", "DescribeNatGateways", "natGatewaySet", "natGatewayId", "tagSet", true, ":natgateway/one"},
		{"ec2_vpc_endpoints", "DescribeVpcEndpoints", "vpcEndpointSet", "vpcEndpointId", "tagSet", true, ":vpc-endpoint/one"},
		{"ec2_vpc_peerings", "DescribeVpcPeeringConnections", "vpcPeeringConnectionSet", "vpcPeeringConnectionId", "tagSet", true, ":vpc-peering-connection/one"},
		{"ec2_flow_logs", "DescribeFlowLogs", "flowLogSet", "flowLogId", "tagSet", true, ":vpc-flow-log/one"},
		{"ec2_transit_gateways", "DescribeTransitGateways", "transitGatewaySet", "transitGatewayId", "tagSet", true, ":transit-gateway/one"},
		{"ec2_vpn_gateways", "DescribeVpnGateways", "vpnGatewaySet", "vpnGatewayId", "tagSet", false, ":vpn-gateway/one"},
		{"ec2_customer_gateways", "DescribeCustomerGateways", "customerGatewaySet", "customerGatewayId", "tagSet", false, ":customer-gateway/one"},
	} {
		t.Run(c.task, func(t *testing.T) {
			one := fmt.Sprintf("<%[1]s>one</%[1]s><%[2]s><item><key>env</key><value>test</value></item></%[2]s>", c.id, c.tags)
			two := fmt.Sprintf("<%[1]s>two</%[1]s>", c.id)
			answer := text(fakeaws.List(c.op, c.set, "", one, two))
			if c.pages {
				answer = fakeaws.Pages(fakeaws.List(c.op, c.set, "more", one), fakeaws.List(c.op, c.set, "", two))
			}
			check(t, service{
				task: c.task, on: map[string]fakeaws.Answer{"ec2." + c.op: answer},
				record: "SUCCESS, 2 assets", assets: []string{"one {env:test}", "two"}, has: []string{c.has + `"`},
			})
		})
	}
}

// TestVPNKeys: neither of the two places with the tunnels' keys is kept.
func TestVPNKeys(t *testing.T) {
	check(t, service{
		task: "ec2_vpn_connections",
		on: map[string]fakeaws.Answer{"ec2.DescribeVpnConnections": text(fakeaws.List("DescribeVpnConnections", "vpnConnectionSet", "",
			"<vpnConnectionId>vpn-1</vpnConnectionId><customerGatewayConfiguration>key: "+secret+"</customerGatewayConfiguration>"+
				"<options><tunnelOptionSet><item><outsideIpAddress>192.0.2.1</outsideIpAddress><preSharedKey>"+secret+"</preSharedKey></item></tunnelOptionSet></options>"))},
		record: "SUCCESS, 1 assets", assets: []string{"vpn-1"}, has: []string{`"PreSharedKey":"(not kept)"`, `"OutsideIpAddress":"192.0.2.1"`},
	})
}
