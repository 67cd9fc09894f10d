package aws

import (
	"net/http"
	"strings"
	"testing"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/internal/fakeaws"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

// S15.2: an answer with nothing in it, or a page instead of one, is not an account
// with nothing in it, whatever the SDK makes of it. Every task is asked.
func TestS15_2NoAnswerIsNotEmpty(t *testing.T) {
	for name, body := range map[string]string{
		"no body":                  "",
		"another's JSON":           `{"ok":true,"data":{"Functions":[]}}`,
		"another's XML":            `<status><code>0</code></status>`,
		"a mark and another's XML": "\ufeff<status><code>0</code></status>",
		"a word":                   "\u2713 ok",
		"a log-in page":            "<!DOCTYPE html><html><head><title>Log in</title></head><body><form></form></body></html>",
	} {
		t.Run(name, func(t *testing.T) {
			s := fakeaws.New(t)
			mapped(t, s, "")
			for _, r := range s.Asked("") {
				if r.Op != "sts.GetCallerIdentity" && r.Op != "ec2.DescribeRegions" {
					status := http.StatusOK
					if name == "no content" {
						status = http.StatusNoContent
					}
					s.On(r.Op, fakeaws.Text(status, body))
				}
			}
			records, assets := mapped(t, s, "")
			if len(assets) != 0 {
				t.Errorf("%d assets", len(assets))
			}
			for _, r := range records {
				if r.Status != inventory.Failed || r.Reason != inventory.Protocol {
					t.Errorf("%s: %s, %s: %s", r.Task, r.Status, r.Reason, r.Error)
				}
			}
		})
	}
}

func TestPromised(t *testing.T) {
	names := []string{"Buckets", "NextToken"}
	for head, want := range map[string]bool{
		`{}`:                                   true,
		` {"NextToken":null}`:                  true,
		`{"nextToken":null}`:                   true,
		`{"x":{"deep":[1,2]},"buckets":null}`:  true,
		`{"x":1}`:                              false,
		`{"x":"` + strings.Repeat("y", 600):    false,
		`{`:                                    false,
		`[]`:                                   false,
		`<?xml version="1.0"?><ListResponse/>`: true,
		`<ListResult xmlns="x">`:               true,
		`<Anything><Buckets/></Anything>`:      true,
		`<html><body>Buckets</body></html>`:    false,
		`Buckets`:                              false,
		"\xef\xbb\xbf<ListResult/>":            true,
		"\xef\xbb\xbf<status/>":                false,
		"\xe2\x9c\x93 ok":                      false,
		"\n":                                   false,
	} {
		b := beginning{[]byte(head), xmlForm}
		if strings.HasPrefix(strings.TrimSpace(head), "{") {
			b.form = jsonForm
		}
		other := b
		other.form = xmlForm + jsonForm - b.form
		if promised(other, "List", names) {
			t.Errorf("%.60q passes for the other form", head)
		}
		if got := promised(b, "List", names); got != want {
			t.Errorf("%.60q: %v, want %v", head, got, want)
		}
	}
}

// S15.2: a description with nothing in it is a detail that is missing.
func TestS15_2NoDescription(t *testing.T) {
	s := fakeaws.New(t)
	s.On("dynamodb.ListTables", fakeaws.Text(http.StatusOK, `{"TableNames":["orders"]}`))
	s.On("dynamodb.DescribeTable", fakeaws.Text(http.StatusOK, `{}`))
	records, assets := mapped(t, s, "dynamodb_tables")
	if r := records[0]; r.Status != inventory.Partial || r.Reason != inventory.Protocol || len(assets) != 1 || len(assets[0].Missing) == 0 {
		t.Errorf("%+v, %+v", r, assets)
	}
}
