package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/internal/examplerun"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/words"
)

// parsed is a page that was rendered and read again.
type parsed struct {
	t    *testing.T
	text string
	root *html.Node
}

func render(t *testing.T, d inventory.Document) parsed {
	t.Helper()
	var b bytes.Buffer
	if err := Render(&b, d); err != nil {
		t.Fatal(err)
	}
	root, err := html.Parse(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	return parsed{t, b.String(), root}
}

// all gives the elements of a name, in their order.
func (p parsed) all(name string) []*html.Node {
	var list []*html.Node
	for n := range p.root.Descendants() {
		if n.Type == html.ElementNode && n.Data == name {
			list = append(list, n)
		}
	}
	return list
}

func (p parsed) byID(id string) *html.Node {
	p.t.Helper()
	for n := range p.root.Descendants() {
		if attribute(n, "id") == id {
			return n
		}
	}
	p.t.Fatalf("nothing has the id %s", id)
	return nil
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// content is the text in an element, with single spaces.
func content(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data + " ")
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// says fails unless the element with the id has each of the texts.
func (p parsed) says(id string, texts ...string) {
	p.t.Helper()
	got := content(p.byID(id))
	for _, want := range texts {
		if !strings.Contains(got, want) {
			p.t.Errorf("%s does not say %q but\n%s", id, want, got)
		}
	}
}

// checkOrder fails unless the page says things in the order in which they are
// needed, with headings that nest.
func (p parsed) checkOrder() {
	p.t.Helper()
	last := 0
	for _, id := range []string{"missing", "found", "quotas", "coverage", "how"} {
		at := strings.Index(p.text, `<section id="`+id+`"`)
		if at <= last {
			p.t.Errorf("%s is at %d, after %d", id, at, last)
		}
		last = at
	}
	level := 0
	for n := range p.root.Descendants() {
		if n.Type == html.ElementNode && len(n.Data) == 2 && n.Data[0] == 'h' && n.Data[1] >= '1' && n.Data[1] <= '6' {
			now := int(n.Data[1] - '0')
			if now > level+1 {
				p.t.Errorf("a heading of level %d (%s) follows one of %d", now, content(n), level)
			}
			level = now
		}
	}
	for _, th := range p.all("th") {
		if attribute(th, "scope") == "" {
			p.t.Errorf("the header %q has no scope", content(th))
		}
	}
}

// TestOutcomes: how a run ended is the first thing the page says.
func TestOutcomes(t *testing.T) {
	complete := examplerun.Document(1, 2)
	complete.Fleet = &inventory.Fleet{Store: "redis://cache.example.com", Members: 4}
	interrupted, failed, broken, empty := examplerun.WithGaps(), examplerun.Document(1, 1), examplerun.Document(1, 1), inventory.Document{}
	interrupted.Summary.Outcome, interrupted.Summary.Error = inventory.Interrupted, "interrupt"
	interrupted.Coverage = append(interrupted.Coverage, inventory.Record{Account: "111122223333", Region: "us-east-1", Task: "iam_roles", Status: inventory.Skipped, Reason: inventory.Truncated})
	for i := range failed.Coverage {
		r := &failed.Coverage[i]
		r.Status, r.Reason, r.Error, r.Assets = inventory.Failed, inventory.CredentialsExpired, "ExpiredToken", 0
	}
	failed = examplerun.Count(failed)
	failed.Summary.Outcome, failed.Summary.AssetsFile = inventory.NothingRead, ""
	broken.Summary.Outcome, broken.Summary.Error = inventory.NothingRead, "the assets cannot be written: no space left on device"
	for _, c := range []struct {
		name     string
		doc      inventory.Document
		class    string
		headline string
		header   []string
		missing  []string
	}{
		{"complete", complete, "complete", "Complete: everything asked for was read", []string{"20 of 20", "Throttled: never", "Shared its limits with 3 other processes, through redis://cache.example.com."}, []string{"Nothing: all tasks are complete.", "2 regions enabled and not asked for"}},
		{"gaps", examplerun.WithGaps(), "partial", "Finished, with gaps", []string{"Missing: something in 25 of 120 tasks"}, []string{"access_denied 10 tasks", "not_supported 11 tasks"}},
		{"interrupted", interrupted, "interrupted", "Interrupted", []string{"Interrupted (interrupt); what was read until then is kept."}, []string{"not begun iam_roles"}},
		{"failed", failed, "failed", "Failed: nothing could be read", []string{"an earlier run's", "0 of 10"}, []string{"credentials_expired 10 tasks", "Renew them"}},
		{"broken", broken, "failed", "Failed: the run broke", []string{"no space left on device"}, nil},
		{"empty", empty, "", "Failed", nil, []string{"There was nothing to ask for."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := render(t, c.doc)
			p.checkOrder()
			header := p.all("header")[0]
			if got := attribute(header, "class"); got != "outcome "+c.class {
				t.Errorf("class %q, want %q", got, c.class)
			}
			if got := content(p.all("h1")[0]); !strings.HasPrefix(got, c.headline) {
				t.Errorf("headline %q, want %q", got, c.headline)
			}
			if got := content(p.all("title")[0]); !strings.HasPrefix(got, c.headline) {
				t.Errorf("title %q", got)
			}
			for _, want := range append(c.header, words.Found(c.doc.Summary, ""), words.Paced(c.doc), words.Missing(c.doc.Coverage)) {
				if !strings.Contains(content(header), want) {
					t.Errorf("the header does not say %q but\n%s", want, content(header))
				}
			}
			p.says("missing", c.missing...)
			if n := len(rowsOf(p)); n != len(c.doc.Coverage) {
				t.Errorf("%d rows of coverage, want %d", n, len(c.doc.Coverage))
			}
		})
	}
}

// rowsOf gives the rows of the table of coverage.
func rowsOf(p parsed) (rows []*html.Node) {
	p.t.Helper()
	for n := range p.byID("records").Descendants() {
		if n.Type == html.ElementNode && n.Data == "tr" && n.Parent.Data == "tbody" {
			rows = append(rows, n)
		}
	}
	return rows
}

// TestGaps: what is missing for one cause in one place is one line, whatever the
// number of tasks, and gaps lead the table.
func TestGaps(t *testing.T) {
	d := examplerun.WithGaps()
	p := render(t, d)
	m := missingOf(d)
	lines := 0
	for _, r := range m.Reasons {
		lines += len(r.Gaps)
	}
	if len(m.Reasons) != 4 || lines != 4 {
		t.Errorf("%d reasons with %d lines, want 4 with one each: %+v", len(m.Reasons), lines, m.Reasons)
	}
	p.says("missing",
		"ec2_images , ec2_instances , ec2_security_groups", "222233334444: ap-southeast-2", "and 8 others",
		"Trying again makes sense after 2026-03-14 09:28:38 UTC.", "The endpoint does not have this API.",
		"Regions of 333344445555 cannot be listed", "ap-south-1, eu-north-1 (111122223333, 222233334444).")
	p.says("found", "222233334444 ≥ 1,348 25 of 40", "AWS::EC2::Image 959")
	first := content(rowsOf(p)[0])
	if !strings.HasPrefix(first, "FAILED not_supported 111122223333 us-east-1 sqs_queues 0 0 1 1") {
		t.Errorf("the first row is %q", first)
	}
	if last := content(rowsOf(p)[119]); !strings.HasPrefix(last, "SUCCESS 333344445555") {
		t.Errorf("the last row is %q", last)
	}
}

// TestManyGaps: very many lines, places and errors are folded, and none is lost.
func TestManyGaps(t *testing.T) {
	d := examplerun.Document(60, 4)
	for i := range d.Coverage {
		if r := &d.Coverage[i]; r.Task == "sqs_queues" || i%7 == 0 {
			r.Status, r.Reason, r.Error = inventory.Failed, inventory.AccessDenied, "denied to "+r.Account
		}
	}
	d = examplerun.Count(d)
	m := missingOf(d)
	if len(m.Reasons) != 1 || len(m.Reasons[0].Gaps) > gapsShown {
		t.Fatalf("reasons %+v", m.Reasons)
	}
	g := m.Reasons[0].Gaps[0]
	if g.Where != "240 times in 60 accounts" || len(g.Places) != 60 || len(g.Errors) != errorsShown || g.Further != 60-errorsShown {
		t.Errorf("the widest gap is %q in %d places with errors %q and %d more", g.Where, len(g.Places), g.Errors, g.Further)
	}
	sum := 0
	for _, g := range append(m.Reasons[0].Gaps, m.Reasons[0].More...) {
		sum += g.records
	}
	if want := d.Summary.ByStatus[inventory.Failed]; sum != want {
		t.Errorf("the lines stand for %d records, want %d", sum, want)
	}
}

// TestFunctionOfDocument: the report can be made again from run.json.
func TestFunctionOfDocument(t *testing.T) {
	for _, d := range []inventory.Document{examplerun.WithGaps(), examplerun.Hostile(), {}} {
		text, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		var again inventory.Document
		if err := json.Unmarshal(text, &again); err != nil {
			t.Fatal(err)
		}
		if render(t, again).text != render(t, d).text {
			t.Error("the report of run.json is not that of the run")
		}
	}
}

// TestHostile: whatever comes from outside stays text: the page has the elements
// that the same page has with harmless names.
func TestHostile(t *testing.T) {
	p := render(t, examplerun.Hostile())
	p.checkOrder()
	for _, name := range []string{"img", "iframe", "object", "base", "link"} {
		if n := len(p.all(name)); n != 0 {
			t.Errorf("%d elements %s", n, name)
		}
	}
	if n := len(p.all("script")); n != 2 {
		t.Errorf("%d scripts, want the page's two", n)
	}
	for n := range p.root.Descendants() {
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "style" || a.Key == "src" {
				t.Errorf("%s has the attribute %s", n.Data, a.Key)
			}
		}
	}
	var rows [][]any
	if err := json.Unmarshal([]byte(p.byID("rows").FirstChild.Data), &rows); err != nil {
		t.Fatalf("the rows for the script: %v", err)
	}
	if got, ok := rows[0][4].(string); !ok || !strings.Contains(got, "<img src=x onerror=") {
		t.Errorf("the task is %q for the script", rows[0][4])
	}
}

// TestPolicy: the page forbids everything but its own style and script, whose
// sums are those of the text that is really in it, and names nothing elsewhere.
func TestPolicy(t *testing.T) {
	p := render(t, examplerun.WithGaps())
	if got := p.all("style")[0].FirstChild.Data; got != string(style) {
		t.Error("the style sheet in the page is not the one that the policy allows")
	}
	if got := p.all("script")[1].FirstChild.Data; got != string(script) {
		t.Error("the script in the page is not the one that the policy allows")
	}
	meta := attribute(p.all("meta")[1], "content")
	if meta != policy() || !strings.HasPrefix(meta, "default-src 'none'") || strings.Contains(meta, "unsafe") {
		t.Errorf("policy %q", meta)
	}
	for _, word := range []string{"http://", "https://", "@import", "url("} {
		if strings.Contains(string(style)+string(script)+pageText, word) {
			t.Errorf("the page's own text has %q", word)
		}
	}
}

// TestHuge: ten thousand records of two hundred accounts stay a file that opens.
func TestHuge(t *testing.T) {
	d := examplerun.Document(200, 5)
	p := render(t, d)
	const most = 2 << 20
	if len(d.Coverage) != 10_000 || len(p.text) > most {
		t.Errorf("%d records make %d bytes, want at most %d", len(d.Coverage), len(p.text), most)
	}
	t.Logf("%d bytes", len(p.text))
	if n := len(rowsOf(p)); n != rowsShown {
		t.Errorf("%d rows, want %d", n, rowsShown)
	}
	p.says("shown", "The first 300 of 10,000 tasks, gaps first; run.json has all.")
}

// TestWrite: the file is replaced whole, and an error is one.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []inventory.Document{examplerun.WithGaps(), {}} {
		if err := Write(dir, d); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, inventory.ReportFile))
	if err != nil || string(text) != render(t, inventory.Document{}).text {
		t.Errorf("the file has %d bytes (%v)", len(text), err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("left in the directory: %v (%v)", files, err)
	}
	if err := Write(filepath.Join(dir, "nowhere"), inventory.Document{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

// TestAdvice: every reason there is, and any other, has one.
func TestAdvice(t *testing.T) {
	for _, r := range []inventory.Reason{
		inventory.Throttled, inventory.AccessDenied, inventory.DeniedByPolicy, inventory.RegionDisabled, inventory.APIDisabled,
		inventory.QuotaExhausted, inventory.Unreachable, inventory.CredentialsExpired, inventory.ServiceNotInRegion,
		inventory.NotSupported, inventory.Capped, inventory.Truncated, inventory.Protocol,
	} {
		if _, ok := advices[r]; !ok {
			t.Errorf("%s has no advice", r)
		}
	}
	for _, r := range []inventory.Reason{"", "new"} {
		if a := adviceFor(r); a.means == "" || a.do == "" {
			t.Errorf("%q: %+v", r, a)
		}
	}
}
