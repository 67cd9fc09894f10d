package main

import (
	"regexp"
	"strings"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/internal/databricks"
	"github.com/cloudpace/cloudpace/paceaws"
)

// guessProvider tells the provider by the host; "http" where nothing is known.
func (rec *record) guessProvider() string {
	host := strings.ToLower(rec.url.Hostname())
	for _, known := range []struct{ suffix, provider string }{
		{".amazonaws.com", "aws"}, {".amazonaws.com.cn", "aws"}, {".api.aws", "aws"}, {".amazonaws.eu", "aws"},
		{"management.azure.com", "azure"}, {"management.usgovcloudapi.net", "azure"}, {"management.chinacloudapi.cn", "azure"},
		{".googleapis.com", "gcp"},
		{".azuredatabricks.net", "databricks"}, {".cloud.databricks.com", "databricks"}, {".gcp.databricks.com", "databricks"},
	} {
		if strings.HasSuffix(host, known.suffix) {
			return known.provider
		}
	}
	if rec.GRPC != nil {
		return "gcp"
	}
	return "http"
}

// scope is what the request belongs to, as far as a record tells (S1.2).
func (rec *record) scope() cloudpace.Scope {
	s := cloudpace.Scope{Provider: rec.Provider, Service: strings.ToLower(rec.Service), Operation: rec.Command}
	switch rec.Provider {
	case "aws":
		rec.awsScope(&s)
	case "azure":
		rec.azureScope(&s)
	case "gcp":
		rec.gcpScope(&s)
	case "databricks":
		rec.databricksScope(&s)
	default:
		s.Account = rec.url.Host
		if s.Service == "" {
			s.Service = "web"
		}
	}
	return s
}

var (
	awsHost   = regexp.MustCompile(`^(.+)\.(?:amazonaws\.com(?:\.cn)?|amazonaws\.eu|api\.aws)$`)
	awsRegion = regexp.MustCompile(`^[a-z]{2,4}(-[a-z]+)+-[0-9]+$`)

	// awsPrefixes are the services whose endpoint is not called as botocore calls
	// the service.
	awsPrefixes = map[string]string{
		"tagging": "resourcegroupstaggingapi", "cloudcontrolapi": "cloudcontrol", "monitoring": "cloudwatch", "states": "stepfunctions",
		"email": "ses", "elasticloadbalancing": "elbv2", "elasticfilesystem": "efs", "elasticmapreduce": "emr", "access-analyzer": "accessanalyzer",
		"aoss": "opensearchserverless", "es": "opensearch", "streams.dynamodb": "dynamodbstreams", "models.lex": "lex-models",
		"runtime.lex": "lex-runtime", "portal.sso": "sso", "oidc": "sso-oidc", "entitlement.marketplace": "marketplace-entitlement",
		"metering.marketplace": "meteringmarketplace", "s3-control": "s3control", "execute-api": "apigateway",
	}
)

// awsScope reads service and region from the host, the operation from the URL or
// the header that JSON services are told it with. The account is in neither.
func (rec *record) awsScope(s *cloudpace.Scope) {
	host := strings.ToLower(rec.url.Hostname())
	if m := awsHost.FindStringSubmatch(host); m != nil {
		labels := strings.Split(m[1], ".")
		if last := labels[len(labels)-1]; awsRegion.MatchString(last) {
			s.Region = last
			labels = labels[:len(labels)-1]
		}
		if n := len(labels); n > 1 && labels[n-1] == "dualstack" {
			labels = labels[:n-1]
		}
		if s.Service == "" && len(labels) > 0 {
			s.Service = awsService(labels)
		}
	}
	// A global service's host has no region, and tells its partition otherwise.
	client := s.Region
	switch {
	case client != "":
	case strings.HasSuffix(host, ".cn"):
		client = "cn-"
	case strings.HasSuffix(host, ".eu"):
		client = "eusc-"
	case strings.Contains(host, ".us-gov."):
		client = "us-gov-"
	}
	if region := paceaws.ScopeRegion(s.Service, client); region != client {
		s.Region = region
	}
	if s.Operation == "" {
		target := rec.header("X-Amz-Target")
		if s.Operation = target[strings.LastIndexByte(target, '.')+1:]; s.Operation == "" {
			s.Operation = rec.url.Query().Get("Action")
		}
	}
}

// awsService names the service of an endpoint; labels are what stands before
// region and domain, as in bucket.s3 and api.ecr.
func awsService(labels []string) string {
	name := labels[len(labels)-1]
	name = strings.TrimSuffix(strings.TrimPrefix(name, "fips-"), "-fips")
	if len(labels) > 1 {
		if service, ok := awsPrefixes[labels[len(labels)-2]+"."+name]; ok {
			return service
		}
	}
	if service, ok := awsPrefixes[name]; ok {
		return service
	}
	if region, ok := strings.CutPrefix(name, "s3-"); ok && awsRegion.MatchString(region) {
		return "s3"
	}
	return name
}

// azureScope reads subscription and namespace from the path. The operation is no
// part of Azure's scopes.
func (rec *record) azureScope(s *cloudpace.Scope) {
	s.Operation = ""
	parts := strings.Split(strings.ToLower(rec.url.Path), "/")
	namespace := ""
	for i, part := range parts {
		if ns, ok := strings.CutPrefix(part, "microsoft."); ok && i > 0 && parts[i-1] == "providers" {
			namespace = ns // the last one counts: an extension's is the one that is asked
		}
		if part == "subscriptions" && i+1 < len(parts) && s.Account == "" {
			s.Account = parts[i+1]
		}
	}
	if s.Service == "" {
		s.Service = namespace
	}
	if s.Service == "" {
		s.Service = "resources"
	}
	if s.Service == "resourcegraph" {
		s.Account = "" // its quota is the caller's
	}
}

var gcpParent = regexp.MustCompile(`(?:^|/)((?:projects|organizations|folders)/[^/:]+)`)

// gcpScope reads the API from the host, the parent from the path, and the RPC from
// a gRPC path (/google.cloud.asset.v1.AssetService/ListAssets).
func (rec *record) gcpScope(s *cloudpace.Scope) {
	host, path := strings.ToLower(rec.url.Hostname()), rec.url.Path
	if api, ok := strings.CutSuffix(host, ".googleapis.com"); ok && s.Service == "" {
		s.Service = api[strings.LastIndexByte(api, '.')+1:]
		if s.Service == "www" {
			s.Service, _, _ = strings.Cut(strings.TrimPrefix(path, "/"), "/")
		}
	}
	if m := gcpParent.FindStringSubmatch(path); m != nil {
		s.Account = m[1]
	}
	service, rpc, ok := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if ok && strings.Contains(service, ".") && !strings.Contains(rpc, "/") && s.Operation == "" {
		s.Operation = rpc
	}
}

// databricksScope: the workspace, which of the APIs, and the command, or verb and
// path without ids.
func (rec *record) databricksScope(s *cloudpace.Scope) {
	s.Account = databricks.Workspace(rec.url)
	c := rec.databricksCommand()
	if s.Service == "" {
		s.Service = c.Service
	}
	if s.Operation == "" {
		s.Operation = c.Name
	}
}

// databricksCommand is what the record's request asked for: a Thrift command where
// one is named or the path is none of the REST API's.
func (rec *record) databricksCommand() databricks.Command {
	if rec.Command == "" {
		if c, ok := databricks.REST(rec.method(), rec.url.Path); ok {
			return c
		}
	}
	return databricks.Method(rec.Command)
}

// method is the request's; a record without one is taken for a read.
func (rec *record) method() string {
	if rec.Method == "" {
		return "GET"
	}
	return rec.Method
}
