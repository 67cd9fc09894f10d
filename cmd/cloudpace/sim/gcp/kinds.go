package gcp

import (
	"strings"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

const (
	projects   = "cloudresourcemanager.googleapis.com/Project"
	folder     = "cloudresourcemanager.googleapis.com/Folder"
	theRoot    = "cloudresourcemanager.googleapis.com/Organization"
	instances  = "compute.googleapis.com/Instance"
	networks   = "compute.googleapis.com/Network"
	subnets    = "compute.googleapis.com/Subnetwork"
	accounts   = "iam.googleapis.com/ServiceAccount"
	topics     = "pubsub.googleapis.com/Topic"
	datasets   = "bigquery.googleapis.com/Dataset"
	keyRings   = "cloudkms.googleapis.com/KeyRing"
	cryptoKeys = "cloudkms.googleapis.com/CryptoKey"
	buckets    = "storage.googleapis.com/Bucket"
)

// kind is a type of asset.
type kind struct {
	name   string  // "compute.googleapis.com/Instance"
	path   string  // of its full resource name, with {p}, {n}, {r}, {z}, {x} and {up}
	prefix string  // of names
	weight float64 // its share of an estate
	flags  flag
	above  string   // the kind of what it is part of; "" is the project
	states []string // drawn from; none is no state
	iam    int      // in percent, how many have a policy of their own
	roles  []string // that these give
}

// flag is something that not all types are.
type flag int

const (
	anywhere flag = 1 << iota // in no region
	zonal                     // in a zone of one
	labelled                  // may have labels
	numbered                  // called by a number
)

func (k *kind) is(f flag) bool { return k.flags&f != 0 }

// host is the API's: "compute.googleapis.com".
func (k *kind) host() string { h, _, _ := strings.Cut(k.name, "/"); return h }

// short is the type without it.
func (k *kind) short() string { _, s, _ := strings.Cut(k.name, "/"); return s }

// The parts of the hierarchy. They come on top of what an estate counts.
var (
	projectKind = &kind{
		name: projects, path: "//cloudresourcemanager.googleapis.com/projects/{n}", flags: anywhere | labelled, states: []string{"ACTIVE"},
		iam: 100, roles: []string{"roles/owner", "roles/editor", "roles/viewer", "roles/browser", "roles/compute.admin"},
	}
	folderKind = &kind{
		name: folder, flags: anywhere, states: []string{"ACTIVE"},
		iam: 100, roles: []string{"roles/resourcemanager.folderAdmin", "roles/resourcemanager.folderViewer", "roles/viewer"},
	}
	organizationKind = &kind{
		name: theRoot, flags: anywhere, states: []string{"ACTIVE"},
		iam: 100, roles: []string{"roles/resourcemanager.organizationAdmin", "roles/billing.admin", "roles/iam.securityReviewer"},
	}
)

var active = []string{"ACTIVE"}

// kinds has them with their share of an estate: what projects have many and few of,
// by experience rather than by any count. Names are written as Asset Inventory
// writes them (Cloud Asset Inventory, Asset names).
var kinds = []*kind{
	{name: instances, path: "//compute.googleapis.com/projects/{p}/zones/{z}/instances/{x}", prefix: "vm-", weight: 12, flags: zonal | labelled, states: []string{"RUNNING", "RUNNING", "RUNNING", "TERMINATED"}, iam: 5, roles: []string{"roles/compute.osLogin", "roles/compute.instanceAdmin.v1"}},
	{name: "compute.googleapis.com/Disk", path: "//compute.googleapis.com/projects/{p}/zones/{z}/disks/{x}", prefix: "disk-", weight: 18, flags: zonal | labelled, states: []string{"READY"}},
	{name: "compute.googleapis.com/Image", path: "//compute.googleapis.com/projects/{p}/global/images/{x}", prefix: "image-", weight: 0.8, flags: anywhere | labelled, states: []string{"READY"}, iam: 10, roles: []string{"roles/compute.imageUser"}},
	{name: "compute.googleapis.com/Snapshot", path: "//compute.googleapis.com/projects/{p}/global/snapshots/{x}", prefix: "snapshot-", weight: 5, flags: anywhere | labelled, states: []string{"READY"}},
	{name: networks, path: "//compute.googleapis.com/projects/{p}/global/networks/{x}", prefix: "vpc-", weight: 0.4, flags: anywhere},
	{name: subnets, path: "//compute.googleapis.com/projects/{p}/regions/{r}/subnetworks/{x}", prefix: "subnet-", weight: 2, iam: 10, roles: []string{"roles/compute.networkUser"}},
	{name: "compute.googleapis.com/Firewall", path: "//compute.googleapis.com/projects/{p}/global/firewalls/{x}", prefix: "allow-", weight: 2.5, flags: anywhere},
	{name: "compute.googleapis.com/Route", path: "//compute.googleapis.com/projects/{p}/global/routes/{x}", prefix: "route-", weight: 2, flags: anywhere},
	{name: "compute.googleapis.com/Address", path: "//compute.googleapis.com/projects/{p}/regions/{r}/addresses/{x}", prefix: "ip-", weight: 2, flags: labelled, states: []string{"IN_USE", "RESERVED"}},
	{name: "compute.googleapis.com/ForwardingRule", path: "//compute.googleapis.com/projects/{p}/regions/{r}/forwardingRules/{x}", prefix: "lb-", weight: 0.6, flags: labelled},
	{name: buckets, path: "//storage.googleapis.com/{x}", prefix: "example-bucket-", weight: 4, flags: labelled, iam: 80, roles: []string{"roles/storage.objectViewer", "roles/storage.objectAdmin", "roles/storage.legacyBucketReader"}},
	{name: datasets, path: "//bigquery.googleapis.com/projects/{p}/datasets/{x}", prefix: "dataset_", weight: 1.5, flags: labelled, iam: 100, roles: []string{"roles/bigquery.dataViewer", "roles/bigquery.dataEditor", "roles/bigquery.dataOwner"}},
	{name: "bigquery.googleapis.com/Table", path: "{up}/tables/{x}", prefix: "table_", weight: 9, flags: labelled, above: datasets},
	{name: accounts, path: "//iam.googleapis.com/projects/{p}/serviceAccounts/{x}", weight: 3, flags: anywhere | numbered, iam: 30, roles: []string{"roles/iam.serviceAccountUser", "roles/iam.serviceAccountTokenCreator", "roles/iam.workloadIdentityUser"}},
	{name: "iam.googleapis.com/ServiceAccountKey", path: "{up}/keys/{x}", weight: 4, flags: anywhere, above: accounts},
	{name: "iam.googleapis.com/Role", path: "//iam.googleapis.com/projects/{p}/roles/{x}", prefix: "custom_", weight: 0.3, flags: anywhere},
	{name: topics, path: "//pubsub.googleapis.com/projects/{p}/topics/{x}", prefix: "topic-", weight: 3, flags: anywhere | labelled, iam: 30, roles: []string{"roles/pubsub.publisher", "roles/pubsub.subscriber"}},
	{name: "pubsub.googleapis.com/Subscription", path: "//pubsub.googleapis.com/projects/{p}/subscriptions/{x}", prefix: "sub-", weight: 4, flags: anywhere | labelled, states: active, iam: 15, roles: []string{"roles/pubsub.subscriber"}},
	{name: "container.googleapis.com/Cluster", path: "//container.googleapis.com/projects/{p}/locations/{r}/clusters/{x}", prefix: "gke-", weight: 0.3, flags: labelled, states: []string{"RUNNING"}},
	{name: "sqladmin.googleapis.com/Instance", path: "//cloudsql.googleapis.com/projects/{p}/instances/{x}", prefix: "sql-", weight: 0.6, flags: labelled, states: []string{"RUNNABLE"}},
	{name: keyRings, path: "//cloudkms.googleapis.com/projects/{p}/locations/{r}/keyRings/{x}", prefix: "ring-", weight: 0.3, iam: 30, roles: []string{"roles/cloudkms.admin"}},
	{name: cryptoKeys, path: "{up}/cryptoKeys/{x}", prefix: "key-", weight: 0.9, flags: labelled, above: keyRings, states: []string{"ENABLED"}, iam: 60, roles: []string{"roles/cloudkms.cryptoKeyEncrypterDecrypter"}},
	{name: "run.googleapis.com/Service", path: "//run.googleapis.com/projects/{p}/locations/{r}/services/{x}", prefix: "run-", weight: 1.5, flags: labelled, iam: 70, roles: []string{"roles/run.invoker"}},
	{name: "cloudfunctions.googleapis.com/Function", path: "//cloudfunctions.googleapis.com/projects/{p}/locations/{r}/functions/{x}", prefix: "fn-", weight: 1, flags: labelled, states: active, iam: 40, roles: []string{"roles/cloudfunctions.invoker"}},
	{name: "secretmanager.googleapis.com/Secret", path: "//secretmanager.googleapis.com/projects/{n}/secrets/{x}", prefix: "secret-", weight: 1.5, flags: anywhere | labelled, iam: 50, roles: []string{"roles/secretmanager.secretAccessor"}},
	{name: "artifactregistry.googleapis.com/Repository", path: "//artifactregistry.googleapis.com/projects/{p}/locations/{r}/repositories/{x}", prefix: "repo-", weight: 0.3, flags: labelled, iam: 40, roles: []string{"roles/artifactregistry.reader", "roles/artifactregistry.writer"}},
	{name: "dns.googleapis.com/ManagedZone", path: "//dns.googleapis.com/projects/{p}/managedZones/{x}", weight: 0.3, flags: anywhere | labelled | numbered},
	{name: "logging.googleapis.com/LogSink", path: "//logging.googleapis.com/projects/{n}/sinks/{x}", prefix: "sink-", weight: 0.3, flags: anywhere},
	{name: "monitoring.googleapis.com/AlertPolicy", path: "//monitoring.googleapis.com/projects/{p}/alertPolicies/{x}", weight: 0.8, flags: anywhere | labelled | numbered},
}

var byName = func() map[string]*kind {
	m := map[string]*kind{projects: projectKind, folder: folderKind, theRoot: organizationKind}
	for _, k := range kinds {
		m[k.name] = k
	}
	return m
}()

// Kinds are the types of assets that an estate counts.
func (*Front) Kinds() []sim.Kind {
	list := make([]sim.Kind, 0, len(kinds))
	for _, k := range kinds {
		list = append(list, sim.Kind{
			Name: k.name, Global: k.is(anywhere), Weight: k.weight,
			ID: func(e *sim.Estate, p sim.Place, i int) string { return thing{kind: k, place: p, i: i}.fullName(e) },
		})
	}
	return list
}
