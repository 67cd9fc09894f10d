package aws

import (
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// FuzzRequest: whatever arrives is answered, its body is still there for an
// upstream, and its name is fit to be shown.
func FuzzRequest(f *testing.F) {
	const auth = "AWS4-HMAC-SHA256 Credential=AKIA111122223333EXAM/20261130/us-east-1/%/aws4_request, SignedHeaders=host, Signature=0"
	const form = "application/x-www-form-urlencoded"
	for _, s := range []struct{ method, path, service, target, content, body string }{
		{"POST", "/", "ec2", "", form, "Action=DescribeVolumes&Version=2016-11-15&MaxResults=5&NextToken=abc"},
		{"POST", "/", "ec2", "", form, "Action=DescribeVolumes&VolumeId.1=vol-0&Filter.1.Name=x"},
		{"POST", "/", "iam", "", form, "Action=ListRoleTags&RoleName=app-00001"},
		{"POST", "/", "sqs", "AmazonSQS.ListQueues", "application/x-amz-json-1.0", `{"MaxResults":1000}`},
		{"POST", "/", "tagging", "ResourceGroupsTaggingAPI_20170126.GetResources", "application/x-amz-json-1.1", `{"PaginationToken":"x"}`},
		{"GET", "/2015-03-31/functions/?MaxItems=50&Marker=a", "lambda", "", "", ""},
		{"GET", "/2017-03-31/tags/arn%3Aaws%3Alambda", "lambda", "", "", ""},
		{"HEAD", "/bucket", "s3", "", "", ""},
		{"GET", "/bucket?tagging", "s3", "", "", ""},
		{"GET", "//?max-buckets=1", "s3", "", "", ""},
		{"POST", "/service/X/operation/GetResources", "tagging", "", "application/cbor", "\xbf\x70ResourcesPerPage\x18\x32\xff"},
		{"GET", "/2013-04-01/hostedzone", "route53", "", "", ""},
	} {
		f.Add(s.method, s.path, s.service, s.target, s.content, s.body)
	}
	front := New()
	profile := sim.Default(front)
	server, err := sim.New(front, profile)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, method, path, service, target, content, body string) {
		r, err := http.NewRequestWithContext(t.Context(), method, "http://sim"+path, strings.NewReader(body))
		if err != nil {
			t.Skip()
		}
		r.Header.Set("Authorization", strings.Replace(auth, "%", service, 1))
		r.Header.Set("X-Amz-Target", target)
		r.Header.Set("Content-Type", content)
		if content == "application/cbor" {
			r.Header.Set("Smithy-Protocol", "rpc-v2-cbor")
		}
		c, settled := front.Identify(r, sim.Setting{Estate: server.Estate()})
		rest, err := io.ReadAll(r.Body)
		if err != nil || string(rest) != body {
			t.Errorf("the body is %q afterwards, %v", rest, err)
		}
		if c == nil || c.Operation == "" || strings.ContainsAny(c.Operation, "<>\n \"") || len(c.Operation) > 80 {
			t.Fatalf("identified as %+v", c)
		}
		if settled == nil {
			for _, e := range []sim.Edit{{}, {EmptyPage: true}, {RepeatToken: true}} {
				if a := front.Answer(c, sim.Setting{Estate: server.Estate()}, e); a.Status < 200 || a.Status > 599 {
					t.Errorf("status %d", a.Status)
				}
			}
			for why := range sim.WhyRegionDisabled + 1 {
				if a := front.Refuse(c, sim.Refusal{Why: why}); a.Status < 400 {
					t.Errorf("a refusal with status %d", a.Status)
				}
			}
			front.Wrong(c)
		}
		server.ServeHTTP(httptest.NewRecorder(), r)
	})
}

func FuzzCursor(f *testing.F) {
	f.Add(cursor{7, 3}.token(42), uint64(42))
	f.Add("", uint64(0))
	f.Fuzz(func(t *testing.T, token string, salt uint64) {
		if c, ok := parseCursor(token, salt); ok && c.token(salt) != strings.TrimSpace(token) {
			t.Errorf("%q is taken for %+v, which is %q", token, c, c.token(salt))
		}
	})
}

// TestCursor: what is written is read, with the salt it was written with alone.
func TestCursor(t *testing.T) {
	for _, c := range []cursor{{}, {1, 1}, {50_000_000, 1000}} {
		token := c.token(5)
		if got, ok := parseCursor(token, 5); !ok || got != c {
			t.Errorf("%+v is read as %+v, %v", c, got, ok)
		}
		if _, ok := parseCursor(token, 6); ok {
			t.Errorf("%+v is read with another salt", c)
		}
	}
}

func FuzzCBOR(f *testing.F) {
	f.Add(appendCBOR(nil, fields("a", "b", "c", list{"", []any{1, -1, 70000, 2.5, true, false, fields("d", epoch)}})))
	f.Add([]byte("\xbf\x61a\x9f\x01\xff\xff"))
	f.Add([]byte("\xbb\xff\xff\xff\xff\xff\xff\xff\xff"))
	f.Fuzz(func(_ *testing.T, text []byte) {
		_, _ = (&cborReader{b: text}).value()
	})
}

func TestCBOR(t *testing.T) {
	got, err := (&cborReader{b: appendCBOR(nil, fields("a", "b", "c", list{"", []any{1, -300, 70000, int64(1) << 40, 2.5, true, epoch}}))}).value()
	want := map[string]any{"a": "b", "c": []any{1.0, -300.0, 70000.0, float64(int64(1) << 40), 2.5, true, float64(epoch.Unix())}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	endless, err := (&cborReader{b: []byte("\xbf\x61a\x9f\x01\x02\xff\x61b\xf6\xff")}).value()
	if err != nil || !reflect.DeepEqual(endless, map[string]any{"a": []any{1.0, 2.0}, "b": nil}) {
		t.Errorf("%v, %v", endless, err)
	}
	for _, text := range []string{"", "\x61", "\x7b\xff\xff\xff\xff\xff\xff\xff\xff", "\xa1\x01\x01", strings.Repeat("\x81", 100), "\x1f\x1f", "\xff"} {
		if v, err := (&cborReader{b: []byte(text)}).value(); err == nil && text != "\x1f\x1f" {
			t.Errorf("%q is read as %v", text, v)
		}
	}
}
