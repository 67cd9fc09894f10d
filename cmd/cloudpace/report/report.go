package report

import (
	"crypto/sha256"
	_ "embed" // for what the page is made of
	"encoding/base64"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/words"
	"github.com/cloudpace/cloudpace/internal/wholefile"
)

// What the page is made of. The style sheet and the script are this package's
// own text, and are put in as they are.
var (
	//go:embed page.html
	pageText string
	//go:embed style.css
	style template.CSS
	//go:embed script.js
	script template.JS

	layout = template.Must(template.New("page").Parse(pageText))
)

// Write puts the report of a run into dir as report.html, whole or not at all.
func Write(dir string, doc inventory.Document) error {
	return wholefile.Write(dir, inventory.ReportFile, 0o644, func(w io.Writer) error { return Render(w, doc) })
}

// Render writes the page.
func Render(w io.Writer, doc inventory.Document) error {
	return layout.Execute(w, pageOf(doc))
}

// page is all that the layout needs.
type page struct {
	Policy string
	Style  template.CSS
	Script template.JS

	Class     string // of the outcome
	Headline  string
	Alerts    []string
	Sentences []string // as the screen had them
	Provider  string
	Date      string
	Tiles     []tile

	LongIDs  bool // of accounts: the tables are wider then
	Missing  missing
	Counts   []found
	Quotas   quotas
	Coverage coverage
	How      how
}

// tile is a number at the top.
type tile struct{ Value, Of, Label, Class string }

// how is how the account was read.
type how struct {
	Version, Started, Finished, Took string
	Accounts                         []account
	More                             string
	AssetsFile, EdgesFile, RunFile   string
}

type account struct {
	Provider, ID, Caller string
	Requested            []string
	NotRequested         string
	Verified             bool
	HasRegions           bool
}

func pageOf(doc inventory.Document) page {
	s := doc.Summary
	return page{
		Policy: policy(),
		Style:  style,
		Script: script,

		Class:     string(s.Outcome),
		Headline:  headline(s),
		Alerts:    alerts(s),
		Sentences: sentences(doc),
		Provider:  strings.Join(s.Provider, ", "),
		Date:      s.Started.UTC().Format("2 January 2006, 15:04 UTC"),
		Tiles:     tiles(doc),

		LongIDs:  slices.ContainsFunc(s.Accounts, func(a inventory.Account) bool { return len(a.ID) > longID }),
		Missing:  missingOf(doc),
		Counts:   foundOf(doc),
		Quotas:   quotasOf(doc),
		Coverage: coverageOf(doc.Coverage),
		How:      howOf(s),
	}
}

// policy allows the page its own style and script and nothing else: no request,
// no form, no frame.
func policy() string {
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; style-src " + hash(string(style)) + "; script-src " + hash(string(script)) +
		"; base-uri 'none'; form-action 'none'"
}

// sentences are those that the screen ends with.
func sentences(doc inventory.Document) []string {
	list := []string{words.Found(doc.Summary, ""), words.Paced(doc)}
	if shared := words.Shared(doc.Fleet); shared != "" {
		list = append(list, shared)
	}
	return append(list, words.Missing(doc.Coverage))
}

func headline(s inventory.Summary) string {
	switch {
	case s.Outcome == inventory.Complete:
		return "Complete: everything asked for was read"
	case s.Outcome == inventory.WithGaps:
		return "Finished, with gaps"
	case s.Outcome == inventory.Interrupted:
		return "Interrupted: what is here is right, and there is more"
	case s.Error != "":
		return "Failed: the run broke"
	}
	return "Failed: nothing could be read"
}

func alerts(s inventory.Summary) []string {
	var list []string
	switch {
	case s.Outcome == inventory.Interrupted:
		list = append(list, words.Stopped(s))
	case s.Error != "":
		list = append(list, "What broke the run: "+words.Short(s.Error))
	}
	if s.AssetsFile == "" {
		list = append(list, "This run wrote no assets. If "+inventory.AssetsFile+" lies here, it is an earlier run's.")
	}
	return list
}

func tiles(doc inventory.Document) []tile {
	done, t := doc.Summary.ByStatus[inventory.Success], doc.Throttling.Totals
	tasks := tile{words.Number(done), "of " + words.Number(len(doc.Coverage)), "tasks complete", "good"}
	switch {
	case done == 0:
		tasks.Class = "bad"
	case done < len(doc.Coverage):
		tasks.Class = "warn"
	}
	throttled := tile{words.Number(t.Throttled), "of " + words.Count(t.Calls, "call"), "throttled", "good"}
	if t.Throttled+t.Rejected > 0 {
		throttled.Class = "warn"
	}
	return []tile{
		tasks,
		{words.Number(doc.Summary.Assets), "", "assets of " + words.Count(len(doc.Summary.ByType), "type"), ""},
		throttled,
		{span(doc.Summary.Seconds), "", "from start to end", ""},
	}
}

const (
	accountsShown = 200
	longID        = 20
)

func howOf(s inventory.Summary) how {
	h := how{
		Version: s.Version, Started: clock(s.Started), Finished: clock(s.Finished), Took: span(s.Seconds),
		AssetsFile: s.AssetsFile, EdgesFile: s.EdgesFile, RunFile: inventory.RunFile,
	}
	for i, a := range s.Accounts {
		if i == accountsShown {
			h.More = words.Count(len(s.Accounts)-i, "more account") + ", see " + inventory.RunFile + "."
			break
		}
		line := account{Provider: a.Provider, ID: a.ID, Caller: a.Caller}
		if r := a.Regions; r != nil {
			line.HasRegions, line.Requested, line.Verified = true, r.Requested, r.Verified
			line.NotRequested = strings.Join(r.NotRequested, ", ")
		}
		h.Accounts = append(h.Accounts, line)
	}
	return h
}
