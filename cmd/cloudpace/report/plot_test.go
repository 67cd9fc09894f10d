package report

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/internal/examplerun"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/timeline"
)

// TestPlot: the lines are where the numbers say, and words say the same.
func TestPlot(t *testing.T) {
	s := timeline.Scope{Scope: "aws/111122223333/us-east-1/ec2", Points: []timeline.Point{
		{Seconds: 10, RPS: 20, MaxRPS: 20, Calls: 200},
		{Seconds: 12, RPS: 5, MaxRPS: 20, Calls: 210, Throttled: 8, Paused: true},
		{Seconds: 14, RPS: 5, MaxRPS: 20, Calls: 210, Throttled: 8, Paused: true},
		{Seconds: 20, RPS: 10, MaxRPS: 20, Calls: 250, Throttled: 9},
	}}
	p := plotOf(s, 20, 2.5)
	for _, c := range []struct{ what, got, want string }{
		{"rate", p.Rate, "M0 14L500 14L500 119L700 119L700 84L1000 84"},
		{"area", p.Area, "M0 14L500 14L500 119L700 119L700 84L1000 84L1000 154L0 154Z"},
		{"ceiling", p.Ceiling, "M0 14L1000 14"},
		{"pauses", fmt.Sprint(p.Paused), "[{500  200  paused from 10 s to 14 s}]"},
		{"words", p.Description, "The rate in force was at its lowest with 5 calls a second at 12 s, and 10 at the end; the ceiling is 20. " +
			"Between two samples it was cut to 2.5. 9 answers throttled between 10 s and 20 s. Nothing was sent for about 4 s, as the provider had asked."},
		{"times", fmt.Sprint(p.TimeTicks), "[{0  0 start} {25  5 s middle} {50  10 s middle} {75  15 s middle} {100  20 s end}]"},
		{"rates", fmt.Sprint(p.RateTicks), "[{154 158 0 } {119 123 5 } {84 88 10 } {49 53 15 } {14 18 20 }]"},
		{"unit", p.Unit, "0.5 s"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.what, c.got, c.want)
		}
	}
	if len(p.Throttles) != 2 || p.Throttles[0].Title != "8 throttled from 11 s to 12 s" || p.Throttles[0].Y != "182" {
		t.Errorf("bars %+v", p.Throttles)
	}
}

// TestPlotOdd: what has no limit, no length, or no numbers draws something or
// nothing, and never what is not a number.
func TestPlotOdd(t *testing.T) {
	for name, points := range map[string][]timeline.Point{
		"no limit":         {{Seconds: 1, Calls: 3, Throttled: 2}, {Seconds: 2, RPS: 3}, {Seconds: 3, Calls: 3, Throttled: 2}, {Seconds: 4, RPS: 3, MaxRPS: 0.004}},
		"at once":          {{Throttled: 3, RPS: 0.001, MaxRPS: 20}},
		"long":             {{Seconds: 400_000, RPS: 1, MaxRPS: 20000, Throttled: 5_000_000}},
		"ends":             examplerun.Slowed("s", 80, 400).Points,
		"numbers go down":  {{Seconds: 1, Throttled: 5}, {Seconds: 2, Throttled: 1}},
		"times are a mess": {{Seconds: 5, RPS: 1}, {Seconds: 5, RPS: 2}, {Seconds: 5.0001, RPS: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			p := plotOf(timeline.Scope{Points: points}, 0, 0)
			text := fmt.Sprintf("%+v", p)
			if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") || len(p.TimeTicks) < 2 || len(p.TimeTicks) > 12 || len(p.RateTicks) > 8 || len(p.Throttles) > plotBins+1 {
				t.Errorf("%s", text)
			}
		})
	}
}

// TestQuotas: each slowed scope has a plot with words to it, and the numbers are
// in a table.
func TestQuotas(t *testing.T) {
	d := examplerun.WithGaps()
	d.Timeline.LeftOut = 7
	p := render(t, d)
	p.says("quotas", "aws/111122223333/us-east-1/ec2 1,840 calls, 61 throttled, 58 sent again, 1 given up; 1,402 waited for their turn, 13 s at the longest and 52 min together.",
		"Last error: RequestLimitExceeded", "7 more scopes met limits", "aws/333344445555/eu-west-1/lambda 44 0 0 0 3 0.4 s 0.2 s 15/s –")
	plots := 0
	for _, n := range p.all("svg") {
		if attribute(n, "role") != "img" {
			continue
		}
		plots++
		for id := range strings.FieldsSeq(attribute(n, "aria-labelledby")) {
			if content(p.byID(id)) == "" {
				t.Errorf("%s says nothing", id)
			}
		}
	}
	if plots != 3 {
		t.Errorf("%d plots, want 3", plots)
	}
	quiet := render(t, examplerun.Document(1, 1))
	quiet.says("quotas", "None of the provider's.")
	if n := len(quiet.all("figure")); n != 0 {
		t.Errorf("%d plots of a run that nothing slowed", n)
	}
}

// TestManyPlots: with very many slowed scopes the first are shown, the others
// folded, and the file stays one that opens.
func TestManyPlots(t *testing.T) {
	d := examplerun.WithGaps()
	for i := range timeline.MaxScopes {
		d.Timeline.Scopes = append(d.Timeline.Scopes, examplerun.Slowed("aws/444455556666/us-east-1/"+strconv.Itoa(i), 200, 5))
	}
	p := render(t, d)
	open := 0
	for _, n := range p.all("figure") {
		folded := false
		for a := n; a != nil; a = a.Parent {
			folded = folded || a.Type == html.ElementNode && a.Data == "details"
		}
		if !folded {
			open++
		}
	}
	if len(p.all("figure")) != timeline.MaxScopes+3 || open != plotsShown || len(p.text) > 2<<20 {
		t.Errorf("%d plots, %d of them open, %d bytes", len(p.all("figure")), open, len(p.text))
	}
	t.Logf("%d plots, %d bytes", len(p.all("figure")), len(p.text))
}

func TestSpan(t *testing.T) {
	for seconds, want := range map[float64]string{0: "0 s", 0.44: "0.4 s", 9.96: "10 s", 59.4: "59 s", 59.6: "1 min", 78: "1 min 18 s", 7199: "119 min 59 s", 7200: "2 h", 7500: "2 h 5 min"} {
		if got := span(seconds); got != want {
			t.Errorf("%v: %q, want %q", seconds, got, want)
		}
	}
	if decimal(0, 0) != "0" || decimal(100, 0) != "100" || decimal(100, 1) != "100" || rps(0.0044) != "0.004" || inventory.ReportFile == "" {
		t.Error("numbers lose digits that count")
	}
}
