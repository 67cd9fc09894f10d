package paceazure

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resourcegraph/armresourcegraph"
)

func FuzzQuotaHeaders(f *testing.F) {
	for _, s := range []string{"0", "24", " 7 ", "99999999999999999999", "-1", "1.5", "Microsoft.Compute/HighCostGet3Min;139,Microsoft.Compute/A;0", ";", ",;,", "microsoft.compute/x;\t3"} {
		f.Add(s, "compute")
	}
	f.Fuzz(func(t *testing.T, line, service string) {
		n, ok := count(line)
		if n < 0 {
			t.Errorf("count(%q) is %d", line, n)
		}
		// The standard library's reading is the reference, where it has one.
		if want, err := strconv.ParseInt(strings.Trim(line, " \t"), 10, 64); err == nil && line != "" && !strings.ContainsAny(line, "+-_") && (!ok || n != want) {
			t.Errorf("count(%q) is %d, %t", line, n, ok)
		}
		if left, ok := least([]string{line, "5"}); !ok || left > 5 || left < 0 {
			t.Errorf("least of %q and 5 is %d, %t", line, left, ok)
		}
		left, ok := leastOfPolicies([]string{line, "Microsoft." + service + "/Policy;3"}, service)
		named := service != "" && !strings.ContainsAny(service, "/;,") && strings.TrimSpace(service) == service
		if left < 0 || named && (!ok || left > 3) || !ok && left != math.MaxInt64 {
			t.Errorf("leastOfPolicies(%q, %q) is %d, %t", line, service, left, ok)
		}
		if d := userReset([]string{line}); d < 0 {
			t.Errorf("userReset(%q) is %v", line, d)
		}
	})
}

// Paths come from callers, and from the links of answers.
func FuzzScopeOf(f *testing.F) {
	for _, s := range []string{"", "/", "/subscriptions/A/providers/Microsoft.Compute/disks", "/providers/Microsoft.ResourceGraph/resources", "//providers//Microsoft./x", "/subscriptions/subscriptions"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, path string) {
		s := scopeOf(path)
		if s.Provider != "azure" || s.Region != "" || s.Operation != "" || s.Service == "" {
			t.Errorf("%q: %+v", path, s)
		}
		if s.Account != strings.ToLower(s.Account) || s.Service != strings.ToLower(s.Service) || strings.Contains(s.Account+s.Service, "/") {
			t.Errorf("%q: %+v", path, s)
		}
		if again := scopeOf(path); again != s { // from the names that are kept
			t.Errorf("%q: %+v, then %+v", path, s, again)
		}
		if s.Service == graph && s.Account != "" {
			t.Errorf("%q: %+v", path, s)
		}
		readsByPost(path)
	})
}

func FuzzGraphPage(f *testing.F) {
	for _, s := range []string{`{}`, `{"count":0,"data":[]}`, `{"count":1,"data":[{"a":1}]}`, `{"data":[null]}`, `{"data":[[1]]}`, `{"data":{"rows":[]}}`, `{"count":0,"data":null}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		var page armresourcegraph.QueryResponse
		if json.Unmarshal([]byte(body), &page) != nil {
			return
		}
		rows, err := rowsOf(page)
		if err != nil && rows != nil {
			t.Errorf("%q: rows and %v", body, err)
		}
		list, isList := page.Data.([]any)
		if err == nil && isList && len(rows) != len(list) {
			t.Errorf("%q: %d rows of %d", body, len(rows), len(list))
		}
		if err == nil && !isList && (page.Count == nil || *page.Count != 0) {
			t.Errorf("%q is taken for empty", body)
		}
	})
}

// What is kept of namespaces is bounded, and right beyond the bound.
func TestLowerIsBounded(t *testing.T) {
	defer lowered.Store(lowered.Load())
	for i := range 2 * loweredKept {
		if got, want := lower("Name"+strconv.Itoa(i)), "name"+strconv.Itoa(i); got != want {
			t.Fatalf("%s for %s", got, want)
		}
	}
	if n := len(*lowered.Load()); n > loweredKept {
		t.Errorf("%d names are kept", n)
	}
}
