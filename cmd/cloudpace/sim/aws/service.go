package aws

import "net/http"

// protocol is how a service's requests and answers are written.
type protocol int

const (
	ec2Query protocol = iota
	query
	json10
	json11
	restJSON
	restXML
	rpcCBOR
)

// service is what AWS's services have of their own.
type service struct {
	name      string // botocore's
	protocol  protocol
	namespace string // of its XML
	// throttled is the answer to too many requests, where it is not the protocol's
	// usual one.
	throttled problem
	// badToken and badValue are its codes for parameters that it does not take.
	badToken, badValue string
	// queryCompatible services spoke the query protocol before, and tell its codes
	// in a header.
	queryCompatible bool
	route           func(method string, q *request) string
	operations      map[string]*operation
}

// speaking gives a service in another protocol than its own.
func (s *service) speaking(p protocol) *service {
	if s.protocol == p {
		return s
	}
	t := *s
	t.protocol = p
	return &t
}

func serviceNamed(signing string, p protocol) *service {
	s, ok := services[alias(signing, "")]
	if !ok {
		return &service{name: alias(signing, ""), protocol: p}
	}
	if s.protocol == restJSON || s.protocol == restXML {
		return s
	}
	if p == restJSON {
		return s.speaking(restJSON)
	}
	return s
}

// alias gives the name that botocore has for what a request is signed for.
func alias(signing, version string) string {
	switch signing {
	case "elasticloadbalancing":
		if version == "2012-06-01" {
			return "elb"
		}
		return "elbv2"
	case "tagging":
		return "resourcegroupstaggingapi"
	case "monitoring":
		return "cloudwatch"
	case "states":
		return "stepfunctions"
	case "cloudcontrolapi":
		return "cloudcontrol"
	case "elasticfilesystem":
		return "efs"
	case "elasticmapreduce":
		return "emr"
	}
	return signing
}

// services are those that have something to be said about them.
var services = index(
	&service{
		name: "ec2", protocol: ec2Query, namespace: "http://ec2.amazonaws.com/doc/2016-11-15/",
		badToken: "InvalidNextToken", badValue: "InvalidParameterValue", operations: ec2Operations,
	},
	&service{
		name: "sts", protocol: query, namespace: "https://sts.amazonaws.com/doc/2011-06-15/",
		badToken: "ValidationError", badValue: "ValidationError", operations: stsOperations,
	},
	&service{
		name: "iam", protocol: query, namespace: "https://iam.amazonaws.com/doc/2010-05-08/",
		badToken: "ValidationError", badValue: "ValidationError", operations: iamOperations,
	},
	&service{
		name: "sns", protocol: query, namespace: "http://sns.amazonaws.com/doc/2010-03-31/",
		badToken: "InvalidParameter", badValue: "InvalidParameter", operations: snsOperations,
	},
	&service{
		name: "rds", protocol: query, namespace: "http://rds.amazonaws.com/doc/2014-10-31/",
		badToken: "InvalidParameterValue", badValue: "InvalidParameterValue", operations: rdsOperations,
	},
	&service{
		name: "elbv2", protocol: query, namespace: "http://elasticloadbalancing.amazonaws.com/doc/2015-12-01/",
		badToken: "ValidationError", badValue: "ValidationError", operations: elbOperations,
	},
	&service{
		name: "sqs", protocol: json10, queryCompatible: true,
		throttled: problem{http.StatusBadRequest, "RequestThrottled", "Request is throttled."},
		badToken:  "InvalidParameterValueException", badValue: "InvalidParameterValueException", operations: sqsOperations,
	},
	&service{name: "dynamodb", protocol: json10, badToken: "ValidationException", badValue: "ValidationException", operations: dynamodbOperations},
	&service{name: "logs", protocol: json11, badToken: "InvalidParameterException", badValue: "InvalidParameterException", operations: logsOperations},
	&service{name: "organizations", protocol: json11, throttled: problem{http.StatusBadRequest, "TooManyRequestsException", "You have sent too many requests in too short a period of time."},
		badToken: "InvalidInputException", badValue: "InvalidInputException", operations: organizationsOperations},
	&service{
		name: "resourcegroupstaggingapi", protocol: json11,
		throttled: problem{http.StatusBadRequest, "ThrottledException", "Rate exceeded"},
		badToken:  "InvalidParameterException", badValue: "InvalidParameterException", operations: taggingOperations,
	},
	&service{
		name: "lambda", protocol: restJSON, route: lambdaRoute,
		throttled: problem{http.StatusTooManyRequests, "TooManyRequestsException", "Rate exceeded"},
		badToken:  "InvalidParameterValueException", badValue: "InvalidParameterValueException", operations: lambdaOperations,
	},
	&service{
		name: "s3", protocol: restXML, route: s3Route, namespace: "http://s3.amazonaws.com/doc/2006-03-01/",
		throttled: problem{http.StatusServiceUnavailable, "SlowDown", "Please reduce your request rate."},
		badToken:  "InvalidArgument", badValue: "InvalidArgument", operations: s3Operations,
	},
	&service{name: "route53", protocol: restXML, namespace: "https://route53.amazonaws.com/doc/2013-04-01/", throttled: problem{http.StatusBadRequest, "Throttling", "Rate exceeded"}},
	&service{name: "cloudfront", protocol: restXML, namespace: "http://cloudfront.amazonaws.com/doc/2020-05-31/"},
)

func index(list ...*service) map[string]*service {
	m := make(map[string]*service, len(list))
	for _, s := range list {
		m[s.name] = s
	}
	return m
}
