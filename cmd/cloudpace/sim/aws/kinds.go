package aws

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// The types of things in an estate, by the names that a map has for them.
const (
	instance      = "AWS::EC2::Instance"
	volume        = "AWS::EC2::Volume"
	snapshot      = "AWS::EC2::Snapshot"
	image         = "AWS::EC2::Image"
	vpc           = "AWS::EC2::VPC"
	subnet        = "AWS::EC2::Subnet"
	securityGroup = "AWS::EC2::SecurityGroup"
	bucket        = "AWS::S3::Bucket"
	queue         = "AWS::SQS::Queue"
	role          = "AWS::IAM::Role"
	user          = "AWS::IAM::User"
	group         = "AWS::IAM::Group"
	policy        = "AWS::IAM::ManagedPolicy"
	function      = "AWS::Lambda::Function"
	dbInstance    = "AWS::RDS::DBInstance"
	dbCluster     = "AWS::RDS::DBCluster"
	table         = "AWS::DynamoDB::Table"
	topic         = "AWS::SNS::Topic"
	logGroup      = "AWS::Logs::LogGroup"
	loadBalancer  = "AWS::ElasticLoadBalancingV2::LoadBalancer"
)

// kinds has them with their share of an estate: what accounts have many and few
// of, by experience rather than by any count.
var kinds = []sim.Kind{
	{Name: instance, Weight: 12, ID: hex("i-0", instance)},
	{Name: volume, Weight: 16, ID: hex("vol-0", volume)},
	{Name: snapshot, Weight: 24, ID: hex("snap-0", snapshot)},
	{Name: image, Weight: 4, ID: hex("ami-0", image)},
	{Name: vpc, Weight: 0.5, ID: hex("vpc-0", vpc)},
	{Name: subnet, Weight: 3, ID: hex("subnet-0", subnet)},
	{Name: securityGroup, Weight: 6, ID: hex("sg-0", securityGroup)},
	{Name: bucket, Global: true, Weight: 1.5, ID: named(bucket, "logs", "assets", "backup", "exports", "artifacts")},
	{Name: queue, Weight: 3, ID: named(queue, "orders", "mail", "thumbnails", "billing-events", "dead-letters")},
	{Name: role, Global: true, Weight: 3, ID: named(role, "app", "deploy", "lambda", "audit", "ci")},
	{Name: user, Global: true, Weight: 0.5, ID: named(user, "svc-ci", "svc-monitor", "jane", "alex")},
	{Name: group, Global: true, Weight: 0.1, ID: named(group, "developers", "operators", "readers")},
	{Name: policy, Global: true, Weight: 1, ID: named(policy, "read-only", "deploy", "boundary")},
	{Name: function, Weight: 5, ID: named(function, "api", "worker", "cleanup", "authorizer", "stream-reader")},
	{Name: dbInstance, Weight: 0.6, ID: named(dbInstance, "orders-db", "users-db", "reports-db")},
	{Name: dbCluster, Weight: 0.2, ID: named(dbCluster, "orders-cluster", "users-cluster")},
	{Name: table, Weight: 2, ID: named(table, "sessions", "carts", "locks", "events")},
	{Name: topic, Weight: 1.5, ID: named(topic, "alarms", "deployments", "orders")},
	{Name: logGroup, Weight: 8, ID: named(logGroup, "/aws/lambda/api", "/aws/lambda/worker", "/app/web", "/aws/rds/instance")},
	{Name: loadBalancer, Weight: 0.7, ID: named(loadBalancer, "web", "internal", "edge")},
}

// Kinds are the types of things that an estate has.
func (Front) Kinds() []sim.Kind { return kinds }

// Quotas are what AWS documents, and assumptions where it documents nothing.
func (Front) Quotas() []sim.Quota { return documented() }

func kindOf(name string) sim.Kind {
	for _, k := range kinds {
		if k.Name == name {
			return k
		}
	}
	panic("sim: no kind " + name)
}

// hex makes ids as EC2 has them, which lead back to the thing.
func hex(prefix, kind string) func(*sim.Estate, sim.Place, int) string {
	return func(e *sim.Estate, p sim.Place, i int) string {
		return fmt.Sprintf("%s%016x", prefix, e.Hide(p, kind, i))
	}
}

// named makes names of words and a number. A bucket's has the account in it, for
// no two accounts can have the same.
func named(kind string, words ...string) func(*sim.Estate, sim.Place, int) string {
	return func(e *sim.Estate, p sim.Place, i int) string {
		word := words[e.Draw(p, kind, i, "word")%uint64(len(words))]
		if kind == bucket {
			word += "-" + p.Account
		}
		return fmt.Sprintf("%s-%05d", word, i)
	}
}

// find takes an id or a name back to its thing.
func find(e *sim.Estate, p sim.Place, kind, id string) (int, bool) {
	dash := strings.LastIndexByte(id, '-')
	if dash < 0 {
		return 0, false
	}
	var i int
	if digits := id[dash+1:]; len(digits) == 17 {
		hidden, err := strconv.ParseUint(digits, 16, 64)
		if err != nil {
			return 0, false
		}
		var ok bool
		if i, ok = e.Find(p, kind, hidden); !ok {
			return 0, false
		}
	} else {
		var err error
		if i, err = strconv.Atoi(digits); err != nil || i < 0 || i >= e.Count(p, kind) {
			return 0, false
		}
	}
	return i, kindOf(kind).ID(e, p, i) == id
}

func (x *context) arn(service, region, resource string) string {
	return "arn:aws:" + service + ":" + region + ":" + x.place.Account + ":" + resource
}

// The epoch of everything's age; estates do not change from day to day.
var epoch = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// born is when a thing was made: within the three years before the epoch.
func (x *context) born(kind string, i int) time.Time {
	const days = 3 * 365
	seconds := x.draw(kind, i, "born") % (days * 24 * 3600)
	return epoch.Add(-time.Duration(seconds) * time.Second)
}

func (x *context) draw(kind string, i int, aspect string) uint64 {
	return x.estate.Draw(x.in(kind), kind, i, aspect)
}

// pick takes one of some words.
func (x *context) pick(kind string, i int, aspect string, words ...string) string {
	return words[x.draw(kind, i, aspect)%uint64(len(words))]
}

// tag is a key and its value.
type tag struct{ key, value string }

// tagsOf gives the tags of a thing; every fifth has none, as in life.
func (x *context) tagsOf(kind string, i int) []tag {
	if x.draw(kind, i, "tagged")%5 == 0 {
		return nil
	}
	env := x.pick(kind, i, "env", "prod", "prod", "staging", "dev")
	team := x.pick(kind, i, "team", "payments", "search", "platform", "data")
	return []tag{{"Name", fmt.Sprintf("%s-%s-%d", team, env, i)}, {"env", env}, {"team", team}}
}

// tagList writes tags as a list of pairs under the names a service has for them.
func (x *context) tagList(of, key, value string, tags []tag) list {
	l := list{of: of, items: make([]any, len(tags))}
	for n, t := range tags {
		l.items[n] = fields(key, t.key, value, t.value)
	}
	return l
}

// tagMap writes tags as a mapping.
func tagMap(tags []tag) object {
	o := object{}
	for _, t := range tags {
		o = append(o, field{t.key, t.value})
	}
	return o
}

// optional leaves a field out when there is nothing to say.
func optional(ok bool, value any) any {
	if !ok {
		return nil
	}
	return value
}
