package gcp

import (
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

type object = map[string]any

// data is the resource as its own API has it: the fields that people look at.
func (t thing) data(e *sim.Estate) *structpb.Struct {
	o := object{"name": t.title(e)}
	if labels := t.labels(e); labels != nil {
		shown := object{}
		for key, value := range labels {
			shown[key] = value
		}
		o["labels"] = shown
	}
	switch t.kind.host() {
	case "compute.googleapis.com":
		o["id"], o["selfLink"], o["creationTimestamp"] = t.number(e), t.link(e), t.created(e).Format(time.RFC3339)
	case "cloudresourcemanager.googleapis.com":
		o["createTime"] = t.created(e).Format(time.RFC3339)
	default:
		o["name"] = relative(t.fullName(e))
	}
	if own := particulars[t.kind.name]; own != nil {
		own(t, e, o)
	}
	if state := t.state(e); state != "" {
		word := "state"
		if t.kind.host() == "compute.googleapis.com" || t.kind.host() == "container.googleapis.com" {
			word = "status"
		}
		o[word] = state
	}
	s, err := structpb.NewStruct(o)
	if err != nil {
		panic(err) // of values that this package makes
	}
	return s
}

// link is the address of a resource of Compute.
func (t thing) link(e *sim.Estate) string {
	return "https://www.googleapis.com/compute/v1/" + relative(t.fullName(e))
}

// relative is a full resource name without the API.
func relative(full string) string {
	_, name, _ := strings.Cut(strings.TrimPrefix(full, "//"), "/")
	return name
}

// particulars are the fields of one kind.
var particulars = map[string]func(thing, *sim.Estate, object){
	instances: func(t thing, e *sim.Estate, o object) {
		o["machineType"] = "https://www.googleapis.com/compute/v1/projects/" + t.place.Account + "/zones/" + t.zone(e) + "/machineTypes/" + t.pick(e, "size", "e2-small", "e2-standard-4", "n2-standard-8")
		card := object{"networkIP": t.address(e), "name": "nic0"}
		if s, ok := t.other(e, subnets); ok {
			card["subnetwork"] = s.link(e)
		}
		if n, ok := t.other(e, networks); ok {
			card["network"] = n.link(e)
		}
		o["networkInterfaces"] = []any{card}
		if a, ok := t.other(e, accounts); ok {
			o["serviceAccounts"] = []any{object{"email": a.email(e), "scopes": []any{"https://www.googleapis.com/auth/cloud-platform"}}}
		}
	},
	"compute.googleapis.com/Disk": func(t thing, e *sim.Estate, o object) {
		o["sizeGb"] = t.pick(e, "size", "10", "50", "100", "500")
		o["type"] = "https://www.googleapis.com/compute/v1/projects/" + t.place.Account + "/zones/" + t.zone(e) + "/diskTypes/" + t.pick(e, "type", "pd-standard", "pd-balanced", "pd-ssd")
	},
	networks: func(_ thing, _ *sim.Estate, o object) { o["autoCreateSubnetworks"] = false },
	subnets: func(t thing, e *sim.Estate, o object) {
		o["ipCidrRange"] = fmt.Sprintf("10.%d.%d.0/24", t.draw(e, "net")%256, t.draw(e, "net")>>8%256)
		if n, ok := t.other(e, networks); ok {
			o["network"] = n.link(e)
		}
	},
	"compute.googleapis.com/Firewall": func(t thing, e *sim.Estate, o object) {
		o["direction"], o["disabled"] = "INGRESS", false
		o["sourceRanges"] = []any{t.pick(e, "from", "10.0.0.0/8", "10.0.0.0/8", "35.191.0.0/16", "0.0.0.0/0")}
		o["allowed"] = []any{object{"IPProtocol": "tcp", "ports": []any{t.pick(e, "port", "22", "80", "443", "8080")}}}
		if n, ok := t.other(e, networks); ok {
			o["network"] = n.link(e)
		}
	},
	"compute.googleapis.com/Address": func(t thing, e *sim.Estate, o object) {
		o["address"], o["addressType"] = t.address(e), "INTERNAL"
	},
	buckets: func(t thing, e *sim.Estate, o object) {
		o["location"], o["storageClass"] = strings.ToUpper(t.place.Region), t.pick(e, "class", "STANDARD", "STANDARD", "NEARLINE")
		o["timeCreated"] = t.created(e).Format(time.RFC3339)
		o["iamConfiguration"] = object{"uniformBucketLevelAccess": object{"enabled": t.draw(e, "uniform")%4 != 0}, "publicAccessPrevention": t.pick(e, "public", "enforced", "inherited")}
		o["versioning"] = object{"enabled": t.draw(e, "versions")%2 == 0}
	},
	datasets: func(t thing, e *sim.Estate, o object) {
		o["datasetReference"] = object{"projectId": t.place.Account, "datasetId": t.short(e)}
		o["location"] = t.place.Region
	},
	"bigquery.googleapis.com/Table": func(t thing, e *sim.Estate, o object) {
		o["type"] = t.pick(e, "type", "TABLE", "TABLE", "VIEW")
		o["tableReference"] = object{"projectId": t.place.Account, "datasetId": lastWord(t.up(e)), "tableId": t.short(e)}
	},
	accounts: func(t thing, e *sim.Estate, o object) {
		o["email"], o["uniqueId"], o["projectId"] = t.email(e), t.short(e), t.place.Account
		o["name"] = "projects/" + t.place.Account + "/serviceAccounts/" + t.email(e)
		o["disabled"] = t.draw(e, "disabled")%10 == 0
	},
	"iam.googleapis.com/ServiceAccountKey": func(t thing, e *sim.Estate, o object) {
		o["keyType"], o["validAfterTime"] = t.pick(e, "type", "USER_MANAGED", "SYSTEM_MANAGED"), t.created(e).Format(time.RFC3339)
	},
	"pubsub.googleapis.com/Subscription": func(t thing, e *sim.Estate, o object) {
		o["ackDeadlineSeconds"] = 10
		if topic, ok := t.other(e, topics); ok {
			o["topic"] = relative(topic.fullName(e))
		}
	},
	"container.googleapis.com/Cluster": func(t thing, e *sim.Estate, o object) {
		o["location"], o["currentMasterVersion"] = t.place.Region, "1.33.4-gke.1000000"
		o["currentNodeCount"] = float64(3 + t.draw(e, "nodes")%30)
		o["name"] = t.short(e)
	},
	"sqladmin.googleapis.com/Instance": func(t thing, e *sim.Estate, o object) {
		o["databaseVersion"], o["region"] = t.pick(e, "version", "POSTGRES_16", "MYSQL_8_0"), t.place.Region
	},
	cryptoKeys: func(t thing, e *sim.Estate, o object) {
		o["purpose"], o["rotationPeriod"] = "ENCRYPT_DECRYPT", t.pick(e, "rotation", "7776000s", "31536000s")
	},
	"dns.googleapis.com/ManagedZone": func(t thing, e *sim.Estate, o object) {
		o["dnsName"], o["visibility"] = fmt.Sprintf("z%08x.example.com.", t.draw(e, "zone")&0xffffffff), t.pick(e, "visibility", "public", "private")
	},
	projects: func(t thing, e *sim.Estate, o object) {
		o["projectId"], o["projectNumber"], o["lifecycleState"] = t.place.Account, Number(e, t.place.Account), "ACTIVE"
		o["parent"] = object{"type": "folder", "id": lastWord(folderOf(t.project))}
	},
	folder:  func(t thing, e *sim.Estate, o object) { o["displayName"], o["name"] = t.title(e), t.container },
	theRoot: func(t thing, e *sim.Estate, o object) { o["displayName"], o["name"] = t.title(e), t.container },
}

func lastWord(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// address is one of a private network.
func (t thing) address(e *sim.Estate) string {
	n := t.draw(e, "address")
	return fmt.Sprintf("10.%d.%d.%d", n%256, n>>8%256, 2+n>>16%252)
}
