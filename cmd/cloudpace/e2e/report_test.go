//go:build e2e

package e2e

import (
	"fmt"
	"image"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/internal/examplerun"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/report"
)

// written writes the report of a document.
func written(t *testing.T, d inventory.Document) string {
	t.Helper()
	dir := t.TempDir()
	if err := report.Write(dir, d); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, inventory.ReportFile)
}

const rows = `document.querySelectorAll("#records tbody tr").length`

// TestReportOfMap opens the report of a real run.
func TestReportOfMap(t *testing.T) {
	r := runMap(t, credentials, "-p", "aws", "--regions", region, "--endpoint-url", endpoint, "--only", "network,messaging")
	path := filepath.Join(r.dir, inventory.ReportFile)
	b := browse(t)
	b.open(path)
	if got := eval[string](b, `document.querySelector("h1").textContent`); !strings.HasPrefix(got, "Complete") {
		t.Errorf("headline %q", got)
	}
	if got, want := eval[int](b, rows), len(r.document(t).Coverage); got != want || want < 30 {
		t.Errorf("%d rows of coverage, want %d", got, want)
	}
	text := eval[string](b, `document.querySelector(".sentences").textContent`)
	for line := range strings.Lines(r.stderr) {
		if strings.HasPrefix(line, "Missing: ") && !strings.Contains(text, strings.TrimSpace(line)) {
			t.Errorf("the screen said %q, the report %q", line, text)
		}
	}
	b.quiet(path)
}

// TestReportLooks: in light and dark, wide and narrow, there is something to see,
// it does not stick out, and it can be read.
func TestReportLooks(t *testing.T) {
	path := written(t, examplerun.WithGaps())
	b := browse(t)
	b.open(path)
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{1280, 400} {
			b.look(scheme, width)
			picture := b.screenshot(fmt.Sprintf("report-%s-%d", scheme, width))
			if n := colours(picture); n < 20 {
				t.Errorf("%s, %d pixels: %d colours in the picture", scheme, width, n)
			}
			r, _, _, _ := picture.At(1, 1).RGBA()
			if (r > 0x8000) != (scheme == "light") {
				t.Errorf("%s, %d pixels: the background has %x of red", scheme, width, r)
			}
			if out := eval[[]string](b, sticksOut); len(out) > 0 {
				t.Errorf("%s, %d pixels: wider than the page: %q", scheme, width, out)
			}
			if faint := eval[[]string](b, faint); len(faint) > 0 {
				t.Errorf("%s, %d pixels: too little contrast: %q", scheme, width, faint)
			}
		}
	}
	b.quiet(path)
}

// colours counts the colours of a picture.
func colours(p image.Image) int {
	seen := map[[3]uint32]bool{}
	for y := p.Bounds().Min.Y; y < p.Bounds().Max.Y; y += 2 {
		for x := p.Bounds().Min.X; x < p.Bounds().Max.X; x += 2 {
			r, g, b, _ := p.At(x, y).RGBA()
			seen[[3]uint32{r, g, b}] = true
		}
	}
	return len(seen)
}

// sticksOut lists what is wider than the page, unless it is within something that
// scrolls.
const sticksOut = `[...document.querySelectorAll("body *")]
	.filter(e => !e.closest(".wide, svg") && e.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
	.map(e => e.tagName + "." + e.className).slice(0, 5)`

// faint lists texts with less than 4.5 times the luminance of what they are on.
const faint = `(() => {
	const parse = c => (c.match(/[\d.]+/g) || []).map(Number);
	const light = c => {
		const [r, g, b] = c.slice(0, 3).map(v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
		return 0.2126 * r + 0.7152 * g + 0.0722 * b;
	};
	const ground = e => {
		for (; e; e = e.parentElement) {
			const c = parse(getComputedStyle(e).backgroundColor);
			if (c.length === 3 || c[3] > 0) return c;
		}
		return [255, 255, 255];
	};
	const list = new Set();
	for (const e of document.querySelectorAll("body *")) {
		const own = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
		if (!own || e.closest("script, svg[aria-hidden] title, rect") || !e.getClientRects().length) continue;
		const style = getComputedStyle(e);
		const a = light(parse(e.closest("svg") ? style.fill : style.color)), b = light(ground(e));
		if ((Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5) list.add(e.tagName + "." + e.className + ": " + e.textContent.slice(0, 30));
	}
	return [...list];
})()`

// TestReportFilter: words, status and order act on all records, and leave the rows
// as the page had them.
func TestReportFilter(t *testing.T) {
	d := examplerun.WithGaps()
	path := written(t, d)
	b := browse(t)
	b.open(path)
	const first = `document.querySelector("#records tbody tr").innerHTML`
	all, asWritten := eval[int](b, rows), eval[string](b, first)
	if all != len(d.Coverage) {
		t.Fatalf("%d rows, want %d", all, len(d.Coverage))
	}
	b.do(chromedp.SendKeys(chromedp.CSS("#words"), "Lambda us-east"))
	if got := eval[int](b, rows); got != 3 {
		t.Errorf("%d rows with lambda in us-east-1, want 3", got)
	}
	if got := eval[string](b, `document.getElementById("shown").textContent`); got != "3 of 120 tasks." {
		t.Errorf("it says %q", got)
	}
	b.do(chromedp.SendKeys(chromedp.CSS("#words"), " nosuchthing"))
	if got := eval[int](b, rows); got != 0 {
		t.Errorf("%d rows with what is nowhere", got)
	}
	b.do(chromedp.Evaluate[chromedp.Void](`document.getElementById("words").value = ""; document.querySelector("input[value=FAILED]").click()`))
	if got := eval[int](b, rows); got != d.Summary.ByStatus[inventory.Failed] {
		t.Errorf("%d rows that are FAILED, want %d", got, d.Summary.ByStatus[inventory.Failed])
	}
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector(".chip input").click()`))
	if got := eval[string](b, first); got != asWritten {
		t.Errorf("a row of the script is\n%s\nof the page\n%s", got, asWritten)
	}
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("#records th:nth-child(6) button").click()`))
	if got := eval[string](b, `document.querySelector("#records tbody td:nth-child(6)").textContent`); got != "212" {
		t.Errorf("the most assets are %s, want 212", got)
	}
	if got := eval[string](b, `document.querySelector("#records th:nth-child(6)").getAttribute("aria-sort")`); got != "descending" {
		t.Errorf("the order is said to be %q", got)
	}
	b.quiet(path)
}

// TestReportWithoutScripts: tables are there, and what needs a script is not.
func TestReportWithoutScripts(t *testing.T) {
	d := examplerun.WithGaps()
	b := browse(t)
	b.withoutScripts()
	b.open(written(t, d))
	b.look("light", 1280)
	if got := eval[int](b, rows); got != len(d.Coverage) {
		t.Errorf("%d rows, want %d", got, len(d.Coverage))
	}
	if got := eval[int](b, `[...document.querySelectorAll("form, #more, thead button")].filter(e => e.getClientRects().length).length`); got != 0 {
		t.Errorf("%d controls are shown that do nothing", got)
	}
}

// TestReportHuge: ten thousand records open at once, and all can be found.
func TestReportHuge(t *testing.T) {
	d := examplerun.Document(200, 5)
	path := written(t, d)
	b := browse(t)
	b.open(path)
	if got := eval[int](b, rows); got != 300 {
		t.Errorf("%d rows at first", got)
	}
	t.Logf("loaded after %.0f ms", eval[float64](b, `performance.getEntriesByType("navigation")[0].loadEventEnd`))
	last := d.Coverage[len(d.Coverage)-1]
	b.do(chromedp.SendKeys(chromedp.CSS("#words"), last.Account))
	if got := eval[int](b, rows); got != 50 {
		t.Errorf("%d rows of one account, want 50", got)
	}
	b.do(chromedp.Evaluate[chromedp.Void](`document.getElementById("words").value = ""; document.querySelector(".chip input").dispatchEvent(new Event("input", {bubbles: true})); document.getElementById("more").click()`))
	if got := eval[int](b, rows); got != 600 {
		t.Errorf("%d rows after asking for more, want 600", got)
	}
	b.quiet(path)
}

// TestReportHostile: what a provider sends stays text.
func TestReportHostile(t *testing.T) {
	path := written(t, examplerun.Hostile())
	b := browse(t)
	b.open(path)
	b.do(chromedp.SendKeys(chromedp.CSS("#words"), "img"))
	if eval[bool](b, `"hacked" in window`) {
		t.Error("a name was run as a script")
	}
	if n := eval[int](b, `document.querySelectorAll("img, iframe, object, main script").length`); n != 0 {
		t.Errorf("%d elements came from names", n)
	}
	if got := eval[int](b, rows); got == 0 {
		t.Error("the name is not in the table")
	}
	b.quiet(path)
}
