package cloudpace_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/cloudpace/cloudpace"
)

// starless is the scope with "*" read as missing, which is what the text keeps.
func starless(s cloudpace.Scope) cloudpace.Scope {
	for _, part := range []*string{&s.Provider, &s.Account, &s.Region, &s.Service, &s.Operation} {
		if *part == "*" {
			*part = ""
		}
	}
	return s
}

func TestS1_1_EveryAccountIsReadBack(t *testing.T) {
	for _, account := range []string{
		"projects/*", "organizations/*", "folders/*", "projects/", "projects", "projects/a/b", "projects/a/*", "projects/%2A", "projects/%",
		"projects//", "projects/projects/x", "*", "**", "%2A", "/", "/*", "*/", "a*", "Projects/*", "projectsx/*", "folders", "",
	} {
		s := cloudpace.Scope{Provider: "gcp", Account: account, Service: "x", Operation: "Op"}
		if got, err := cloudpace.ParseScope(s.String()); err != nil || got != starless(s) {
			t.Errorf("%q → %q → %q, %v", account, s, got.Account, err)
		}
	}
}

// Every scope comes back from its text, and what the text of a person gives comes
// back from its own.
func TestS1_1_EveryScopeIsReadBack(t *testing.T) {
	text := rapid.Custom(func(t *rapid.T) string {
		out := ""
		for _, s := range rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom([]string{
			"*", "/", "%", "%2A", "%2F", "2", "projects", "organizations", "folders", "projects/", "folders/*",
		}), rapid.String()), 0, 4).Draw(t, "pieces") {
			out += s
		}
		return out
	})
	rapid.Check(t, func(t *rapid.T) {
		s := cloudpace.Scope{
			Provider: text.Draw(t, "provider"), Account: text.Draw(t, "account"), Region: text.Draw(t, "region"),
			Service: text.Draw(t, "service"), Operation: text.Draw(t, "operation"),
		}
		got, err := cloudpace.ParseScope(s.String())
		if err != nil || got != starless(s) {
			t.Fatalf("%#v → %q → %#v, %v", s, s, got, err)
		}
		read, err := cloudpace.ParseScope(s.Provider + "/" + s.Account + "/" + s.Region + "/" + s.Service + "/" + s.Operation)
		if err != nil {
			return // an escape that is none
		}
		if again, err := cloudpace.ParseScope(read.String()); err != nil || again != read {
			t.Fatalf("%#v → %q → %#v, %v", read, read, again, err)
		}
	})
}

func FuzzScope(f *testing.F) {
	f.Add("gcp", "projects/*", "*", "cloudasset", "ListAssets")
	f.Add("gcp", "projects", "%2A", "folders/", "/")
	f.Fuzz(func(t *testing.T, provider, account, region, service, operation string) {
		s := cloudpace.Scope{Provider: provider, Account: account, Region: region, Service: service, Operation: operation}
		if got, err := cloudpace.ParseScope(s.String()); err != nil || got != starless(s) {
			t.Errorf("%#v → %q → %#v, %v", s, s, got, err)
		}
	})
}
