// Package fakeaws is an AWS for tests: an HTTP server that speaks the protocols
// of the services the inventory reads, holds nothing unless told to, and keeps
// what it was asked. It knows protocols, not services: an operation that no test
// has set an answer for finds nothing there.
package fakeaws

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// Account is whose account it is.
const Account = "111122223333"

// Request is one that arrived.
type Request struct {
	// Op is the service that the request was signed for and the operation, or for
	// services whose operations have no name on the wire, method and path:
	// "ec2.DescribeVpcs", "eks.GET /clusters".
	Op     string
	Region string // that it was signed for
	Path   string
	Form   url.Values // query string and form together
	Body   string
	N      int // how many of the operation came before

	protocol protocol
	name     string // of the operation, where it has one
}

// Answer makes a response.
type Answer func(Request) (status int, body string)

// Server is a running fake.
type Server struct {
	URL string

	mu       sync.Mutex
	answers  map[string]Answer
	patterns map[string]Answer
	other    Answer
	requests []Request
}

// New starts a server that stops with the test, and takes everything out of the
// environment that could lead an SDK elsewhere. Credentials are set.
func New(t testing.TB) *Server {
	t.Helper()
	Isolate(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "testing")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "testing")
	s := &Server{other: Empty, patterns: make(map[string]Answer), answers: map[string]Answer{
		"sts.GetCallerIdentity": Text(http.StatusOK, Identity("aws")),
		"ec2.DescribeRegions":   Text(http.StatusOK, Regions("us-east-1", "eu-west-1", "eu-central-1")),
	}}
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

// On sets the answer to an operation. In a path, * stands for what is between
// two slashes: "eks.GET /clusters/*".
func (s *Server) On(op string, a Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if strings.Contains(op, "*") {
		s.patterns[op] = a
		return
	}
	s.answers[op] = a
}

// Otherwise sets the answer to all operations that have none of their own, but
// for those that say whose account it is and which regions it has.
func (s *Server) Otherwise(a Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.other = a
}

func (s *Server) answer(op string) Answer {
	if a, ok := s.answers[op]; ok {
		return a
	}
	for pattern, a := range s.patterns {
		if ok, err := path.Match(pattern, op); ok && err == nil {
			return a
		}
	}
	return s.other
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
	answer := s.answer(q.Op)
	for _, earlier := range s.requests {
		if earlier.Op == q.Op {
			q.N++
		}
	}
	s.requests = append(s.requests, q)
	s.mu.Unlock()
	status, body := answer(q)
	if code, ok := strings.CutPrefix(body, "fail "); ok && status >= 300 {
		w.Header().Set("X-Amzn-Errortype", code)
		body = q.failure(code)
	}
	w.Header().Set("X-Amzn-Requestid", fmt.Sprintf("%s-%d", q.Op, q.N+1))
	w.WriteHeader(status)
	//nolint:gosec // no browser reads this; and a client that left is no concern here
	_, _ = io.WriteString(w, body)
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
	switch {
	case r.Header.Get("Smithy-Protocol") != "":
		q.protocol, q.name = unread, path.Base(r.URL.Path)
	case r.Header.Get("X-Amz-Target") != "":
		q.protocol = json1
		_, q.name, _ = strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	case strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded"):
		q.protocol = query
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return Request{}, err
		}
		for k, v := range form {
			q.Form[k] = v
		}
		q.name = form.Get("Action")
		switch {
		case service == "ec2":
			q.protocol = ec2
		case service == "elasticloadbalancing" && form.Get("Version") >= "2015":
			service = "elbv2" // of the same name to the signature
		}
	case service == "s3":
		q.protocol, q.name = restXML, s3Op(r)
	case service == "route53", service == "cloudfront":
		q.protocol = restXML
	default:
		q.protocol = restJSON
	}
	q.Op = service + "." + q.name
	if q.name == "" {
		q.Op += r.Method + " " + strings.TrimSuffix(r.URL.EscapedPath(), "/")
	}
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
