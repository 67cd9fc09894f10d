package gcp

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/asset/apiv1/assetpb"
	"google.golang.org/protobuf/proto"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// settings of a small estate.
func settings(f *testing.F) (*Front, sim.Setting) {
	front := New()
	p := sim.Default(front)
	p.Estate.Accounts = front.ExampleAccounts(3)
	server, err := sim.New(front, p)
	if err != nil {
		f.Fatal(err)
	}
	return front, sim.Setting{Estate: server.Estate(), Speed: 1}
}

// FuzzRPC: whatever comes as a call of gRPC, there is an answer in its form.
func FuzzRPC(f *testing.F) {
	front, s := settings(f)
	add := func(method string, m proto.Message) {
		text, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(assetMethods+method, frame(text), "")
		f.Add(assetMethods+method, text, "example-2")
	}
	add(listAssets, &assetpb.ListAssetsRequest{Parent: "projects/example-1", AssetTypes: []string{".*Disk"}, PageToken: "x", ContentType: assetpb.ContentType_RESOURCE})
	add(searchResources, &assetpb.SearchAllResourcesRequest{Scope: Organization, Query: "NOT name:a* \"b\"", PageSize: -5})
	add(searchPolicies, &assetpb.SearchAllIamPoliciesRequest{Scope: "folders/111122223333", Query: "policy:a"})
	f.Add("/google.cloud.asset.v1.AssetService/ListFeeds", []byte{1, 0, 0, 0, 0}, "a b")
	f.Add("/x", []byte{0, 255, 255, 255, 255}, "")
	f.Fuzz(func(t *testing.T, path string, body []byte, quotaProject string) {
		r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body))
		r.URL = &url.URL{Path: path}
		r.Header.Set("Content-Type", "application/grpc")
		r.Header.Set(userProject, quotaProject)
		c, settled := front.Identify(r, s)
		a := settled
		if a == nil {
			answered := front.Answer(c, s, sim.Edit{})
			a = &answered
		}
		ok := a.Trailer.Get("Grpc-Status") == "0"
		if a.Status != http.StatusOK || ok != (a.Header.Get("Grpc-Status") == "") || ok && len(a.Body) < frameHead || !ok && len(a.Body) > 0 {
			t.Fatalf("%+v", a)
		}
		for _, text := range a.Header {
			if strings.ContainsAny(text[0], "\r\n\x00") {
				t.Fatalf("a header has %q", text)
			}
		}
		text, _ := sim.Peek(r, maxBody)
		if left, err := unframe(text); err == nil && !bytes.Equal(frame(left), body) {
			t.Fatal("the body is not as it came")
		}
	})
}

// FuzzREST: whatever address is asked, there is an answer in JSON, of a request that
// is about what the path says.
func FuzzREST(f *testing.F) {
	front, s := settings(f)
	for _, address := range []string{
		"/v1/projects/example-1/assets?assetTypes=compute.*&assetTypes=.*Disk&contentType=RESOURCE&pageSize=10&pageToken=a&readTime=2026-01-01T00:00:00Z",
		"/v1/organizations/123456789012:searchAllResources?query=name:a*&readMask=name,labels&$alt=json;enum-encoding=int&order_by=",
		"/v1/folders/111122223333:searchAllIamPolicies?query=NOT%20policy:a", "/v3/projects:search?query=state:ACTIVE&pageSize=3",
		"/v1/projects/a:b:c/assets", "/v1//assets", "/v1/projects/%ff/assets?x", "/",
	} {
		f.Add(address)
	}
	f.Fuzz(func(t *testing.T, address string) {
		u, err := url.ParseRequestURI(address)
		if err != nil || u.Host != "" {
			t.Skip()
		}
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		r.URL = u
		c, settled := front.Identify(r, s)
		a := settled
		if a == nil {
			answered := front.Answer(c, s, sim.Edit{})
			a = &answered
		}
		if a.Status < 200 || a.Status > 599 || len(a.Body) == 0 || a.Body[0] != '{' {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		if settled == nil && c.Account != "*" && !strings.Contains(u.Path, c.Account) {
			t.Fatalf("%s is about %s", u.Path, c.Account)
		}
	})
}

// FuzzToken: no token but one's own is good, and that leads back to where it is
// from.
func FuzzToken(f *testing.F) {
	now := time.Unix(1_790_000_000, 0).UTC()
	f.Add(cursor{position: position{-1, 0, 2}, page: 1, begun: now}.token(7), uint64(7), 1, 2, 3, 4)
	f.Add("", uint64(0), 0, 0, 0, 0)
	f.Fuzz(func(t *testing.T, token string, salt uint64, project, cell, i, page int) {
		if c, ok := parseCursor(token, salt); ok && c.token(salt) != token {
			t.Fatalf("%q is taken for %+v", token, c)
		}
		const most = 1 << 30
		c := cursor{position: position{project & (most - 1), cell & (most - 1), i & (most - 1)}, page: page & (most - 1), begun: now}
		if d, ok := parseCursor(c.token(salt), salt); !ok || d != c {
			t.Fatalf("%+v became %+v, %v", c, d, ok)
		}
		if _, ok := parseCursor(c.token(salt), salt+1); ok {
			t.Fatal("it is good for another listing")
		}
	})
}

// FuzzQuery: a query is understood, or refused; what is understood can be asked of
// anything.
func FuzzQuery(f *testing.F) {
	for _, q := range []string{"", "name:a", "NOT location:us-west* AND labels.env:prod", `"two words"`, "a OR b", "x=", "NOT", "-*", "name:*"} {
		f.Add(q, "//storage.googleapis.com/a-b")
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		q, no := parseQuery(text, func(field string) bool { return field == "name" })
		if no != nil && q != nil {
			t.Fatalf("%v and %v", q, no)
		}
		for _, term := range q {
			term.not = false
			holds := query{term}.holds(func(string) []string { return []string{value} })
			term.not = true
			if holds == (query{term}).holds(func(string) []string { return []string{value} }) {
				t.Fatalf("%+v holds for %q, and its opposite too", term, value)
			}
		}
	})
}

// TestOldToken: a token is good for 72 hours after the first page, in the model's
// time too.
func TestOldToken(t *testing.T) {
	front := New()
	server, err := sim.New(front, sim.Default(front))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		age   time.Duration
		speed float64
		good  bool
	}{{71 * time.Hour, 1, true}, {73 * time.Hour, 1, false}, {time.Hour, 71, true}, {time.Hour, 73, false}} {
		q := &request{operation: listAssets}
		q.asks(&assetpb.ListAssetsRequest{Parent: "projects/example-1"})
		token := cursor{position: position{0, 1, 3}, page: 1, begun: time.Now().Add(-c.age).Truncate(time.Second)}.token(salt(server.Estate(), q.listing()))
		text, err := proto.Marshal(&assetpb.ListAssetsRequest{Parent: "projects/example-1", PageToken: token})
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(http.MethodPost, assetMethods+listAssets, bytes.NewReader(frame(text)))
		r.Header.Set("Content-Type", "application/grpc")
		s := sim.Setting{Estate: server.Estate(), Speed: c.speed}
		call, settled := front.Identify(r, s)
		if settled != nil {
			t.Fatalf("%+v", settled)
		}
		a := front.Answer(call, s, sim.Edit{})
		if good := a.Trailer.Get("Grpc-Status") == "0"; good != c.good || !good && !strings.Contains(a.Header.Get("Grpc-Message"), "expired") {
			t.Errorf("%s old, %g times as fast: %+v", c.age, c.speed, a.Header)
		}
		if call.Page != 2 || !call.Token {
			t.Errorf("page %d", call.Page)
		}
	}
}
