package words

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

func TestNumbers(t *testing.T) {
	for n, want := range map[int]string{0: "0 tasks", 1: "1 task", 999: "999 tasks", 1000: "1,000 tasks", 1234567: "1,234,567 tasks"} {
		if got := Count(n, "task"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

// TestBearable: a sentence stays one, however many accounts and scopes there are.
func TestBearable(t *testing.T) {
	s := inventory.Summary{Assets: 3, ByType: map[string]int{"T": 3}, AssetsFile: inventory.AssetsFile}
	var doc inventory.Document
	doc.Throttling.Totals = cloudpace.Totals{Calls: 5000, Throttled: 300}
	for i := range 300 {
		s.Accounts = append(s.Accounts, inventory.Account{Provider: "aws", ID: fmt.Sprint(111122220000 + i)})
		doc.Throttling.Messages = append(doc.Throttling.Messages, fmt.Sprintf("aws/%d/us-east-1/ec2: throttled 1x", i))
	}
	if got, want := Found(s, ""), "Found 3 assets of 1 type in aws accounts 111122220000, 111122220001, 111122220002, 111122220003, 111122220004 and 295 more, in assets.jsonl."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := Slowed(doc); !strings.HasSuffix(got, "; and 297 scopes more in run.json.") || !strings.HasPrefix(got, "Throttled: 300 times; 5,000 calls in 0.0 s.") {
		t.Errorf("%q", got)
	}
	for i := range s.Accounts { // each read in another number of regions
		s.Accounts[i].Regions = &inventory.Regions{Enabled: 1000, NotRequested: make([]string, i), Verified: true}
	}
	if got, want := Found(s, ""), "Found 3 assets of 1 type in 300 accounts, in assets.jsonl."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for i := range s.Accounts {
		s.Accounts[i].Regions = nil
	}
	s.Accounts = s.Accounts[:2]
	if got := Found(s, ""); !strings.Contains(got, "aws accounts 111122220000 and 111122220001, in") {
		t.Errorf("%q", got)
	}
}

// TestShort: an answer as the Azure SDK writes it out is one line too, wherever it
// stands.
func TestShort(t *testing.T) {
	rule := strings.Repeat("-", 80)
	answer := "GET https://management.azure.com/subscriptions/1/x\n" + rule + "\nRESPONSE 403: 403 Forbidden\nERROR CODE: AuthorizationFailed\n" + rule +
		"\n{\n  \"error\": {\n    \"code\": \"AuthorizationFailed\",\n    \"message\": \"The client may not.\"\n  }\n}\n" + rule + "\n"
	for text, want := range map[string]string{
		answer: "HTTP 403, AuthorizationFailed: The client may not.",
		"1 call gave up (azure/1/*/x: " + answer + ")": "1 call gave up (azure/1/*/x: HTTP 403, AuthorizationFailed: The client may not. )",
		strings.ReplaceAll(answer, "{", "<"):           "HTTP 403, AuthorizationFailed: < \"error\": < \"code\": \"AuthorizationFailed\", \"message\": \"The client may not.\" } }",
		"a\nb":                                         "a b",
	} {
		if got := Short(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestWhereAll: accounts of several providers, and subscriptions, whose ids nobody
// reads out.
func TestWhereAll(t *testing.T) {
	var list []inventory.Account
	for i := range 3 {
		list = append(list, inventory.Account{Provider: "azure", ID: fmt.Sprintf("00000000-0000-0000-0000-%012d", i)})
	}
	aws := inventory.Account{Provider: "aws", ID: "1"}
	for want, accounts := range map[string][]inventory.Account{
		"3 azure subscriptions":                                   list,
		"azure subscription 00000000-0000-0000-0000-000000000000": list[:1],
		"aws account 1 and 3 azure subscriptions":                 append([]inventory.Account{aws}, list...),
		"azure subscriptions 00000000-0000-0000-0000-000000000000 and 00000000-0000-0000-0000-000000000001": list[:2],
	} {
		if got := where(accounts); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
