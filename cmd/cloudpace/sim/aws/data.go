package aws

import (
	"fmt"
	"iter"
	"net/http"
	"slices"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// rdsPages: a hundred, and never fewer than twenty.
var rdsPages = &pages{size: "MaxRecords", token: "Marker", next: "Marker", usual: 100, least: 20, most: 100}

var rdsOperations = map[string]*operation{
	"DescribeDBInstances": {
		kind: dbInstance, set: "DBInstances", of: "DBInstance", pages: rdsPages,
		each: func(x *context, i int) any {
			name := x.id(dbInstance, i)
			var cluster any
			if c, ok := x.of(dbCluster, i); ok && x.draw(dbInstance, i, "clustered")%2 == 0 {
				cluster = x.id(dbCluster, c)
			}
			return fields(
				"DBInstanceIdentifier", name, "DBInstanceClass", "db.t4g.medium", "Engine", "aurora-postgresql", "DBInstanceStatus", "available",
				"AllocatedStorage", 100, "InstanceCreateTime", x.born(dbInstance, i), "AvailabilityZone", x.zone(dbInstance, i), "EngineVersion", "17.4",
				"PubliclyAccessible", false, "StorageEncrypted", true, "DBClusterIdentifier", cluster, "DBInstanceArn", x.dbARN(dbInstance, i),
				"TagList", x.tagList("Tag", "Key", "Value", x.tagsOf(dbInstance, i)),
			)
		},
	},
	"DescribeDBClusters": {
		kind: dbCluster, set: "DBClusters", of: "DBCluster", pages: rdsPages,
		each: func(x *context, i int) any {
			return fields(
				"DBClusterIdentifier", x.id(dbCluster, i), "DBClusterArn", x.dbARN(dbCluster, i), "Status", "available", "Engine", "aurora-postgresql",
				"EngineVersion", "17.4", "AllocatedStorage", 1, "ClusterCreateTime", x.born(dbCluster, i), "StorageEncrypted", true, "MultiAZ", true,
				"TagList", x.tagList("Tag", "Key", "Value", x.tagsOf(dbCluster, i)),
			)
		},
	},
}

func (x *context) dbARN(kind string, i int) string {
	word := "db:"
	if kind == dbCluster {
		word = "cluster:"
	}
	return x.arn("rds", x.place.Region, word+x.id(kind, i))
}

var dynamodbOperations = map[string]*operation{
	"ListTables": {
		kind: table, set: "TableNames",
		pages: &pages{size: "Limit", token: "ExclusiveStartTableName", next: "LastEvaluatedTableName", usual: 100, least: 1, most: 100},
		each:  func(x *context, i int) any { return x.id(table, i) },
	},
	"DescribeTable": {item: "TableName", once: func(x *context) (object, *problem) {
		name := x.param("TableName")
		i, ok := find(x.estate, x.place, table, name)
		if !ok {
			return nil, &problem{http.StatusBadRequest, "ResourceNotFoundException", "Requested resource not found: Table: " + name + " not found"}
		}
		return fields("Table", fields(
			"TableName", name, "TableArn", x.arn("dynamodb", x.place.Region, "table/"+name), "TableStatus", "ACTIVE", "CreationDateTime", x.born(table, i),
			"ItemCount", int(x.draw(table, i, "items")%1e6), "TableSizeBytes", int(x.draw(table, i, "bytes")%1e9),
			"AttributeDefinitions", list{"", []any{fields("AttributeName", "id", "AttributeType", "S")}},
			"KeySchema", list{"", []any{fields("AttributeName", "id", "KeyType", "HASH")}},
			"BillingModeSummary", fields("BillingMode", "PAY_PER_REQUEST"),
		)), nil
	}},
	"ListTagsOfResource": {item: "ResourceArn", once: func(x *context) (object, *problem) {
		for i := range x.estate.Count(x.place, table) {
			if x.arn("dynamodb", x.place.Region, "table/"+x.id(table, i)) == x.param("ResourceArn") {
				return fields("Tags", x.tagList("", "Key", "Value", x.tagsOf(table, i))), nil
			}
		}
		return nil, &problem{http.StatusBadRequest, "ResourceNotFoundException", "Requested resource not found"}
	}},
}

var logsOperations = map[string]*operation{
	"DescribeLogGroups": {
		kind: logGroup, set: "logGroups",
		pages: &pages{size: "limit", token: "nextToken", next: "nextToken", usual: 50, least: 1, most: 50},
		each: func(x *context, i int) any {
			name := x.id(logGroup, i)
			arn := x.arn("logs", x.place.Region, "log-group:"+name)
			return fields(
				"logGroupName", name, "creationTime", x.born(logGroup, i).UnixMilli(), "metricFilterCount", 0, "arn", arn+":*", "logGroupArn", arn,
				"retentionInDays", optional(x.draw(logGroup, i, "kept")%2 == 0, 30), "storedBytes", int(x.draw(logGroup, i, "bytes")%1e9), "logGroupClass", "STANDARD",
			)
		},
	},
}

type taggableKind struct {
	kind string
	arn  func(x *context, i int) string
}

// taggable are the kinds that the tagging API lists, with their ARNs.
var taggable = []taggableKind{
	{instance, ec2ARN(instance, "instance")},
	{volume, ec2ARN(volume, "volume")},
	{snapshot, ec2ARN(snapshot, "snapshot")},
	{image, ec2ARN(image, "image")},
	{vpc, ec2ARN(vpc, "vpc")},
	{subnet, ec2ARN(subnet, "subnet")},
	{securityGroup, ec2ARN(securityGroup, "security-group")},
	{bucket, func(x *context, i int) string { return "arn:aws:s3:::" + x.id(bucket, i) }},
	{queue, func(x *context, i int) string { return x.arn("sqs", x.place.Region, x.id(queue, i)) }},
	{function, lambdaARN},
	{dbInstance, func(x *context, i int) string { return x.dbARN(dbInstance, i) }},
	{dbCluster, func(x *context, i int) string { return x.dbARN(dbCluster, i) }},
	{table, func(x *context, i int) string { return x.arn("dynamodb", x.place.Region, "table/"+x.id(table, i)) }},
	{topic, func(x *context, i int) string { return x.topicARN(i) }},
	{logGroup, func(x *context, i int) string { return x.arn("logs", x.place.Region, "log-group:"+x.id(logGroup, i)) }},
	{loadBalancer, balancerARN},
}

// ec2ARN: images and snapshots have no account in theirs.
func ec2ARN(kind, word string) func(x *context, i int) string {
	return func(x *context, i int) string {
		if kind == image || kind == snapshot {
			return fmt.Sprintf("arn:aws:ec2:%s::%s/%s", x.place.Region, word, x.id(kind, i))
		}
		return x.arn("ec2", x.place.Region, word+"/"+x.id(kind, i))
	}
}

// taggedAt takes the index of a listing over all kinds apart.
func (x *context) taggedAt(i int) (which, index int) {
	for n, t := range taggable {
		count := x.estate.Count(x.in(t.kind), t.kind)
		if i < count {
			return n, i
		}
		i -= count
	}
	panic("sim: an index beyond the end of a listing")
}

// tagged tells whether the tagging API lists a thing in the region.
func (x *context) tagged(kind string, i int) bool {
	if kind == bucket && x.bucketRegion(i) != x.place.Region {
		return false
	}
	return x.tagsOf(kind, i) != nil
}

// Tagged lists the ids of those of a type that the tagging API lists in a region.
func Tagged(e *sim.Estate, p sim.Place, kind string) iter.Seq[string] {
	x := &context{estate: e, place: p}
	return func(yield func(string) bool) {
		if !slices.ContainsFunc(taggable, func(t taggableKind) bool { return t.kind == kind }) {
			return
		}
		for i := range e.Count(x.in(kind), kind) {
			if x.tagged(kind, i) && !yield(x.id(kind, i)) {
				return
			}
		}
	}
}

var taggingOperations = map[string]*operation{
	"GetResources": {
		set:   "ResourceTagMappingList",
		pages: &pages{size: "ResourcesPerPage", token: "PaginationToken", next: "PaginationToken", usual: 50, least: 1, most: 100, always: true},
		count: func(x *context) int {
			n := 0
			for _, t := range taggable {
				n += x.estate.Count(x.in(t.kind), t.kind)
			}
			return n
		},
		// What has tags, and of the buckets those of the region.
		keep: func(x *context, i int) bool {
			which, index := x.taggedAt(i)
			return x.tagged(taggable[which].kind, index)
		},
		each: func(x *context, i int) any {
			which, index := x.taggedAt(i)
			t := taggable[which]
			return fields("ResourceARN", t.arn(x, index), "Tags", x.tagList("", "Key", "Value", x.tagsOf(t.kind, index)))
		},
	},
}
