package paceaws

import (
	"maps"
	"strings"
	"sync/atomic"
)

// serviceNames has the services whose name is not their id in lower case with
// hyphens for spaces.
//
// Source: AWS service models, metadata.serviceId, and the directory a model
// lies in, which is the name that the AWS command line and botocore use. Of 423
// ids in the models of botocore 1.43, 369 go by the rule.
var serviceNames = map[string]string{
	"API Gateway":                     "apigateway",
	"App Mesh":                        "appmesh",
	"Application Auto Scaling":        "application-autoscaling",
	"Application Discovery Service":   "discovery",
	"Auto Scaling":                    "autoscaling",
	"Auto Scaling Plans":              "autoscaling-plans",
	"CloudHSM V2":                     "cloudhsmv2",
	"CloudSearch Domain":              "cloudsearchdomain",
	"CloudWatch Logs":                 "logs",
	"Cognito Identity Provider":       "cognito-idp",
	"Config Service":                  "config",
	"Cost Explorer":                   "ce",
	"Cost and Usage Report Service":   "cur",
	"Data Pipeline":                   "datapipeline",
	"Database Migration Service":      "dms",
	"Device Farm":                     "devicefarm",
	"Direct Connect":                  "directconnect",
	"Directory Service":               "ds",
	"Directory Service Data":          "ds-data",
	"DynamoDB Streams":                "dynamodbstreams",
	"Elastic Beanstalk":               "elasticbeanstalk",
	"Elastic Load Balancing":          "elb",
	"Elastic Load Balancing v2":       "elbv2",
	"Elasticsearch Service":           "es",
	"EventBridge":                     "events",
	"Global Accelerator":              "globalaccelerator",
	"IoT Data Plane":                  "iot-data",
	"IoT Events":                      "iotevents",
	"IoT Events Data":                 "iotevents-data",
	"IoT Jobs Data Plane":             "iot-jobs-data",
	"IoT Wireless":                    "iotwireless",
	"Kinesis Analytics":               "kinesisanalytics",
	"Kinesis Analytics V2":            "kinesisanalyticsv2",
	"Kinesis Video":                   "kinesisvideo",
	"Lex Model Building Service":      "lex-models",
	"Lex Models V2":                   "lexv2-models",
	"Lex Runtime Service":             "lex-runtime",
	"Lex Runtime V2":                  "lexv2-runtime",
	"Machine Learning":                "machinelearning",
	"Marketplace Commerce Analytics":  "marketplacecommerceanalytics",
	"Marketplace Entitlement Service": "marketplace-entitlement",
	"Marketplace Metering":            "meteringmarketplace",
	"Migration Hub":                   "mgh",
	"Resource Groups Tagging API":     "resourcegroupstaggingapi",
	"Route 53":                        "route53",
	"Route 53 Domains":                "route53domains",
	"S3 Control":                      "s3control",
	"SFN":                             "stepfunctions",
	"Secrets Manager":                 "secretsmanager",
	"ServerlessApplicationRepository": "serverlessrepo",
	"Service Catalog":                 "servicecatalog",
	"Service Catalog AppRegistry":     "servicecatalog-appregistry",
	"SimpleDB":                        "sdb",
	"Storage Gateway":                 "storagegateway",
}

// learned has the names that were made by rule, so that a call makes none. Ids
// are constants of the service modules in the program: it stays small. It is
// replaced as a whole when one is added, so reading it takes no lock.
var learned atomic.Pointer[map[string]string]

// serviceName gives the name of a service in scopes for the SDK's service id:
// "Elastic Load Balancing v2" is elbv2, "Network Firewall" network-firewall.
func serviceName(id string) string {
	if name, ok := serviceNames[id]; ok {
		return name
	}
	old := learned.Load()
	if old != nil {
		if name, ok := (*old)[id]; ok {
			return name
		}
	}
	name := strings.ReplaceAll(strings.ToLower(id), " ", "-")
	next := make(map[string]string)
	if old != nil {
		next = maps.Clone(*old)
	}
	next[id] = name
	learned.CompareAndSwap(old, &next) // one that loses the race learns it next time
	return name
}
