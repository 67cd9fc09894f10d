// Package fakeaws is an AWS for tests: an HTTP server that speaks the protocols
// of the services the inventory reads, holds nothing unless told to, and keeps
// what it was asked.
package fakeaws

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// Account is whose account it is.
const Account = "111122223333"

// Request is one that arrived.
type Request struct {
	Op     string // "ec2.DescribeVpcs", "s3.GetBucketTagging"
	Region string // that it was signed for
	Path   string
	Form   url.Values // query string and form together
	Body   string
	N      int // how many of the operation came before
}

// Answer makes a response.
type Answer func(Request) (status int, body string)

// Server is a running fake.
type Server struct {
	URL string

	mu       sync.Mutex
	answers  map[string]Answer
	requests []Request
}

// New starts a server that stops with the test, and takes everything out of the
// environment that could lead an SDK elsewhere. Credentials are set.
func New(t testing.TB) *Server {
	t.Helper()
	Isolate(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "testing")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "testing")
	s := &Server{answers: make(map[string]Answer)}
	for op, body := range empty {
		s.answers[op] = Text(http.StatusOK, body)
	}
	server := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// Isolate takes AWS settings of whoever runs the tests out of the environment,
// and keeps an SDK from asking the machine it runs on.
func Isolate(t testing.TB) {
	t.Helper()
	names := []string{
		"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_REGION",
		"AWS_DEFAULT_REGION", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "AWS_CA_BUNDLE", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN",
		"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_MAX_ATTEMPTS", "AWS_RETRY_MODE",
	}
	for _, set := range os.Environ() {
		if name, _, _ := strings.Cut(set, "="); strings.HasPrefix(name, "AWS_ENDPOINT_URL") { // there is one for each service
			names = append(names, name)
		}
	}
	for _, name := range names {
		t.Setenv(name, "") // puts it back after the test
		if err := os.Unsetenv(name); err != nil {
			t.Fatal(err) // to the SDK an empty one is set
		}
	}
	nowhere := t.TempDir()
	t.Setenv("AWS_CONFIG_FILE", nowhere+"/config")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", nowhere+"/credentials")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
}

// On sets the answer to an operation.
func (s *Server) On(op string, a Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[op] = a
}

// Asked gives the requests for an operation, or for all of a service ("ec2."),
// or all ("").
func (s *Server) Asked(op string) []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []Request
	for _, r := range s.requests {
		if r.Op == op || op == "" || strings.HasSuffix(op, ".") && strings.HasPrefix(r.Op, op) {
			list = append(list, r)
		}
	}
	return list
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	q, err := read(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	answer, ok := s.answers[q.Op]
	for _, earlier := range s.requests {
		if earlier.Op == q.Op {
			q.N++
		}
	}
	s.requests = append(s.requests, q)
	s.mu.Unlock()
	if !ok {
		answer = Fail(http.StatusNotImplemented, "NotImplemented")
	}
	status, body := answer(q)
	if status >= 300 && strings.HasPrefix(body, "fail ") {
		code := strings.TrimPrefix(body, "fail ")
		w.Header().Set("X-Amzn-Errortype", code)
		body = failure(q.Op, code)
	}
	w.Header().Set("X-Amzn-Requestid", fmt.Sprintf("%s-%d", q.Op, q.N+1))
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body) // a client that left is no concern here
}

var credentialScope = regexp.MustCompile(`Credential=[^/]+/\d+/([^/]+)/([^/]+)/aws4_request`)

// read finds out what is asked, each protocol having its own place for it.
func read(r *http.Request) (Request, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return Request{}, err
	}
	q := Request{Path: r.URL.Path, Form: r.URL.Query(), Body: string(body)}
	service := "unsigned"
	if m := credentialScope.FindStringSubmatch(r.Header.Get("Authorization")); m != nil {
		q.Region, service = m[1], m[2]
	}
	var op string
	switch {
	case r.Header.Get("X-Amz-Target") != "":
		_, op, _ = strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	case service == "s3":
		op = s3Op(r)
	case service == "lambda" && strings.HasSuffix(r.URL.Path, "/functions"):
		op = "ListFunctions"
	case service == "lambda" && strings.Contains(r.URL.Path, "/tags/"):
		op = "ListTags"
	default:
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return Request{}, err
		}
		for k, v := range form {
			q.Form[k] = v
		}
		op = form.Get("Action")
	}
	q.Op = service + "." + op
	return q, nil
}

func s3Op(r *http.Request) string {
	switch q := r.URL.Query(); {
	case q.Has("tagging"):
		return "GetBucketTagging"
	case q.Has("location"):
		return "GetBucketLocation"
	}
	return "ListBuckets"
}

// Text answers every request alike.
func Text(status int, body string) Answer {
	return func(Request) (int, string) { return status, body }
}

// Fail answers with an error code in the form of the service's protocol.
func Fail(status int, code string) Answer { return Text(status, "fail "+code) }

// Pages answers the first request with the first body, and so on; the last one
// is for all that come after.
func Pages(bodies ...string) Answer {
	return func(r Request) (int, string) { return http.StatusOK, bodies[min(r.N, len(bodies)-1)] }
}

// Sequence answers the first request with the first answer, and so on.
func Sequence(answers ...Answer) Answer {
	return func(r Request) (int, string) { return answers[min(r.N, len(answers)-1)](r) }
}

// List makes a body of EC2's kind: the items in a set, and a token unless empty.
func List(op, set, next string, items ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<%sResponse><%s>", op, set)
	for _, item := range items {
		fmt.Fprintf(&b, "<item>%s</item>", item)
	}
	fmt.Fprintf(&b, "</%s>", set)
	if next != "" {
		fmt.Fprintf(&b, "<nextToken>%s</nextToken>", next)
	}
	fmt.Fprintf(&b, "</%sResponse>", op)
	return b.String()
}

// failure words an error as the service does.
func failure(op, code string) string {
	service, _, _ := strings.Cut(op, ".")
	switch service {
	case "ec2":
		return fmt.Sprintf("<Response><Errors><Error><Code>%s</Code><Message>no</Message></Error></Errors><RequestID>1</RequestID></Response>", code)
	case "s3":
		return fmt.Sprintf("<Error><Code>%s</Code><Message>no</Message></Error>", code)
	case "iam", "sts":
		return fmt.Sprintf("<ErrorResponse><Error><Type>Sender</Type><Code>%s</Code><Message>no</Message></Error><RequestId>1</RequestId></ErrorResponse>", code)
	}
	text, err := json.Marshal(map[string]string{"__type": code, "message": "no"})
	if err != nil {
		panic(err) // two strings
	}
	return string(text)
}

// Identity is what sts.GetCallerIdentity answers for a partition.
func Identity(partition string) string {
	return fmt.Sprintf("<GetCallerIdentityResponse><GetCallerIdentityResult><Arn>arn:%s:sts::%s:assumed-role/Audit/me</Arn><UserId>A:me</UserId><Account>%s</Account></GetCallerIdentityResult></GetCallerIdentityResponse>", partition, Account, Account)
}

// Regions is what ec2.DescribeRegions answers.
func Regions(names ...string) string {
	items := make([]string, len(names))
	for i, n := range names {
		items[i] = "<regionName>" + n + "</regionName>"
	}
	return List("DescribeRegions", "regionInfo", "", items...)
}

// empty has the answers of an account with nothing in it.
var empty = map[string]string{
	"sts.GetCallerIdentity":      Identity("aws"),
	"ec2.DescribeRegions":        Regions("us-east-1", "eu-west-1", "eu-central-1"),
	"ec2.DescribeInstances":      List("DescribeInstances", "reservationSet", ""),
	"ec2.DescribeVolumes":        List("DescribeVolumes", "volumeSet", ""),
	"ec2.DescribeSnapshots":      List("DescribeSnapshots", "snapshotSet", ""),
	"ec2.DescribeImages":         List("DescribeImages", "imagesSet", ""),
	"ec2.DescribeVpcs":           List("DescribeVpcs", "vpcSet", ""),
	"ec2.DescribeSubnets":        List("DescribeSubnets", "subnetSet", ""),
	"ec2.DescribeSecurityGroups": List("DescribeSecurityGroups", "securityGroupInfo", ""),
	"s3.ListBuckets":             "<ListAllMyBucketsResult><Buckets></Buckets></ListAllMyBucketsResult>",
	"sqs.ListQueues":             "{}",
	"iam.ListRoles":              "<ListRolesResponse><ListRolesResult><Roles/><IsTruncated>false</IsTruncated></ListRolesResult></ListRolesResponse>",
	"lambda.ListFunctions":       `{"Functions":[]}`,
	"tagging.GetResources":       `{"PaginationToken":"","ResourceTagMappingList":[]}`,
}
