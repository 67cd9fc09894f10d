package aws

import (
	"fmt"
	"net/http"
	"strings"
)

// lambdaRoute finds Lambda's operations by their paths, which begin with a
// version.
func lambdaRoute(method string, q *request) string {
	if len(q.path) < 2 || method != http.MethodGet {
		return ""
	}
	switch rest := q.path[1:]; {
	case len(rest) == 1 && rest[0] == "functions":
		return "ListFunctions"
	case len(rest) == 2 && rest[0] == "functions":
		return "GetFunction"
	case len(rest) == 3 && rest[0] == "functions" && rest[2] == "policy":
		return "GetPolicy"
	case len(rest) == 2 && rest[0] == "tags":
		return "ListTags"
	}
	return ""
}

var lambdaOperations = map[string]*operation{
	"ListFunctions": {
		kind: function, set: "Functions", each: lambdaFunction,
		// More than 50 may be asked for and do not come.
		pages: &pages{size: "MaxItems", token: "Marker", next: "NextMarker", usual: 50, least: 1, most: 10_000, cap: 50},
	},
	"ListTags": {
		about: func(q *request) string { return q.path[len(q.path)-1] },
		once: func(x *context) (object, *problem) {
			arn := x.path[len(x.path)-1]
			i, ok := find(x.estate, x.place, function, arn[strings.LastIndexByte(arn, ':')+1:])
			if !ok || lambdaARN(x, i) != arn {
				return nil, &problem{http.StatusNotFound, "ResourceNotFoundException", "Function not found: " + arn}
			}
			return fields("Tags", tagMap(x.tagsOf(function, i))), nil
		},
	},
}

func lambdaARN(x *context, i int) string {
	return x.arn("lambda", x.place.Region, "function:"+x.id(function, i))
}

func lambdaFunction(x *context, i int) any {
	var runsAs any
	if r, ok := x.of(role, i); ok {
		runsAs = x.arn("iam", "", "role/"+x.id(role, r))
	}
	return fields(
		"FunctionName", x.id(function, i), "FunctionArn", lambdaARN(x, i), "Runtime", x.pick(function, i, "runtime", "python3.13", "nodejs22.x", "java21"),
		"Role", runsAs, "Handler", "main.handler", "CodeSize", int(1000+x.draw(function, i, "size")%5_000_000),
		"Description", "", "Timeout", 30, "MemorySize", 128<<(x.draw(function, i, "memory")%4),
		"LastModified", x.born(function, i).Format("2006-01-02T15:04:05.000+0000"), "CodeSha256", fmt.Sprintf("%032x", x.draw(function, i, "code")),
		"Version", "$LATEST", "TracingConfig", fields("Mode", "PassThrough"), "RevisionId", fmt.Sprintf("%016x", x.draw(function, i, "revision")),
		"PackageType", "Zip", "Architectures", list{"", []any{"arm64"}},
		"Environment", fields("Variables", fields("STAGE", "prod")),
	)
}

var elbOperations = map[string]*operation{
	"DescribeLoadBalancers": {
		kind: loadBalancer, set: "LoadBalancers", of: "member",
		pages: &pages{size: "PageSize", token: "Marker", next: "NextMarker", usual: 400, least: 1, most: 400},
		each: func(x *context, i int) any {
			name := x.id(loadBalancer, i)
			_, vpcID := x.network(i)
			return fields(
				"LoadBalancerArn", balancerARN(x, i), "DNSName", fmt.Sprintf("%s-%d.%s.elb.amazonaws.com", name, x.draw(loadBalancer, i, "dns")%1e9, x.place.Region),
				"CreatedTime", x.born(loadBalancer, i), "LoadBalancerName", name, "Scheme", x.pick(loadBalancer, i, "scheme", "internal", "internet-facing"),
				"VpcId", vpcID, "State", fields("Code", "active"), "Type", "application", "IpAddressType", "ipv4",
			)
		},
	},
}

func balancerARN(x *context, i int) string {
	return x.arn("elasticloadbalancing", x.place.Region, fmt.Sprintf("loadbalancer/app/%s/%016x", x.id(loadBalancer, i), x.estate.Hide(x.place, loadBalancer, i)))
}
