package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/timeline"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/words"
)

// plot is a scope over time, for the template that draws it: the rate above, the
// throttled answers below. Lines are in a field of plotWidth that is stretched to
// the width of the page; text is placed by percentages and keeps its size.
type plot struct {
	ID          string
	Description string // of what there is to see
	Rate        string // path of the rate in force
	Area        string // path of what is below it
	Ceiling     string // path
	Paused      []block
	Throttles   []block
	RateTicks   []tick
	CountTicks  []tick
	TimeTicks   []tick
	Unit        string // what a bar of throttles stands for
}

// block is a rectangle, tick a line with a label; both as text for attributes.
type (
	block struct{ X, Y, Width, Height, Title string }
	tick  struct{ At, TextAt, Label, Anchor string }
)

// The drawing, in pixels from the top; the template has the same numbers where
// they do not depend on the data.
const (
	plotWidth  = 1000
	rateTop    = 14
	rateBottom = 154
	countTop   = 182
	countFoot  = 222
	plotBins   = 80 // bars at most
)

// plotOf draws a scope over the whole time of the run. lowest is the rate that a
// throttle cut to, which samples may have missed.
func plotOf(s timeline.Scope, total, lowest float64) plot {
	total = max(total, s.Points[len(s.Points)-1].Seconds, 0.1)
	top := 0.0
	for _, p := range s.Points {
		top = max(top, p.RPS, p.MaxRPS)
	}
	if top == 0 {
		top = 1
	}
	step := nice(top / 4)
	top = math.Ceil(top/step-1e-9) * step
	x := func(seconds float64) float64 { return plotWidth * seconds / total }
	y := func(rate float64) float64 { return rateBottom - (rateBottom-rateTop)*rate/top }

	p := plot{TimeTicks: timeTicks(total)}
	for v := 0.0; v <= top+step/2; v += step {
		p.RateTicks = append(p.RateTicks, tick{At: decimal(y(v), 1), TextAt: decimal(y(v)+4, 1), Label: rps(v)})
	}
	var rate, ceiling line
	var pauses []interval
	before := 0.0
	for _, at := range s.Points {
		rate.to(x(before), x(at.Seconds), y(at.RPS), at.RPS > 0)
		ceiling.to(x(before), x(at.Seconds), y(at.MaxRPS), at.MaxRPS > 0)
		if n := len(pauses); at.Paused && n > 0 && pauses[n-1].to == before {
			pauses[n-1].to = at.Seconds
		} else if at.Paused {
			pauses = append(pauses, interval{before, at.Seconds})
		}
		before = at.Seconds
	}
	p.Rate, p.Area, p.Ceiling = rate.path(), rate.area(rateBottom), ceiling.path()
	for _, i := range pauses {
		p.Paused = append(p.Paused, block{
			X: decimal(x(i.from), 1), Width: decimal(max(2, x(i.to)-x(i.from)), 1),
			Title: "paused from " + span(i.from) + " to " + span(i.to),
		})
	}
	p.bars(s.Points, total)
	p.describe(s.Points, lowest, pauses)
	return p
}

// interval is a part of the run, in seconds from its start.
type interval struct{ from, to float64 }

// line is a curve in steps, with gaps.
type line struct{ runs [][][2]float64 }

// to draws on from x0 to x1 at y, or leaves a gap there.
func (l *line) to(x0, x1, y float64, drawn bool) {
	if !drawn {
		if n := len(l.runs); n > 0 && len(l.runs[n-1]) > 0 {
			l.runs = append(l.runs, nil)
		}
		return
	}
	if len(l.runs) == 0 {
		l.runs = append(l.runs, nil)
	}
	run := &l.runs[len(l.runs)-1]
	if n := len(*run); n > 0 && (*run)[n-1][1] == y {
		(*run)[n-1][0] = x1
		return
	}
	*run = append(*run, [2]float64{x0, y}, [2]float64{x1, y})
}

func (l *line) path() string {
	var b strings.Builder
	for _, run := range l.runs {
		for i, p := range run {
			letter := "L"
			if i == 0 {
				letter = "M"
			}
			b.WriteString(letter + decimal(p[0], 1) + " " + decimal(p[1], 1))
		}
	}
	return b.String()
}

// area is what is between the line and the bottom.
func (l *line) area(bottom float64) string {
	var b strings.Builder
	for _, run := range l.runs {
		if len(run) > 0 {
			one := line{[][][2]float64{run}}
			b.WriteString(one.path() + "L" + decimal(run[len(run)-1][0], 1) + " " + decimal(bottom, 1) +
				"L" + decimal(run[0][0], 1) + " " + decimal(bottom, 1) + "Z")
		}
	}
	return b.String()
}

// bars counts the throttled answers in equal parts of the time, which the points
// are not.
func (p *plot) bars(points []timeline.Point, total float64) {
	width := niceTime(total / plotBins)
	counts := make([]int, int(math.Ceil(total/width-1e-9))+1)
	before, most := timeline.Point{}, 1
	for _, at := range points {
		// In the middle of the time in which they came, since the end may be the next part's.
		bin := int((before.Seconds + at.Seconds) / 2 / width)
		counts[bin] += at.Throttled - before.Throttled
		most = max(most, counts[bin])
		before = at
	}
	p.Unit = span(width)
	scale := func(n int) float64 { return (countFoot - countTop) * float64(n) / float64(most) }
	for bin, n := range counts {
		if n <= 0 {
			continue
		}
		from := float64(bin) * width
		p.Throttles = append(p.Throttles, block{
			X: decimal(plotWidth*from/total, 1), Width: decimal(plotWidth*width/total*0.9, 1),
			Y: decimal(countFoot-scale(n), 1), Height: decimal(scale(n), 1),
			Title: words.Number(n) + " throttled from " + span(from) + " to " + span(min(total, from+width)),
		})
	}
	p.CountTicks = []tick{
		{At: decimal(countTop, 0), TextAt: decimal(countTop+4, 0), Label: words.Number(most)},
		{At: decimal(countFoot, 0), TextAt: decimal(countFoot+4, 0), Label: "0"},
	}
}

// describe says in words what the drawing shows.
func (p *plot) describe(points []timeline.Point, lowest float64, pauses []interval) {
	least, leastAt, final := math.Inf(1), 0.0, points[len(points)-1]
	before, first, last := 0.0, -1.0, 0.0
	throttled := 0
	for _, at := range points {
		if at.RPS > 0 && at.RPS < least {
			least, leastAt = at.RPS, at.Seconds
		}
		if at.Throttled > throttled {
			if first < 0 {
				first = before
			}
			last, throttled = at.Seconds, at.Throttled
		}
		before = at.Seconds
	}
	var b strings.Builder
	if !math.IsInf(least, 1) {
		fmt.Fprintf(&b, "The rate in force was at its lowest with %s calls a second at %s, and %s at the end",
			rps(least), span(leastAt), rps(final.RPS))
		if final.MaxRPS > 0 {
			fmt.Fprintf(&b, "; the ceiling is %s", rps(final.MaxRPS))
		}
		b.WriteString(". ")
		if lowest > 0 && lowest < least*0.99 {
			fmt.Fprintf(&b, "Between two samples it was cut to %s. ", rps(lowest))
		}
	}
	if throttled > 0 {
		fmt.Fprintf(&b, "%s throttled between %s and %s. ", words.Count(throttled, "answer"), span(first), span(last))
	}
	sum := 0.0
	for _, i := range pauses {
		sum += i.to - i.from
	}
	if sum > 0 {
		fmt.Fprintf(&b, "Nothing was sent for about %s, as the provider had asked.", span(sum))
	}
	p.Description = strings.TrimSpace(b.String())
}

func timeTicks(total float64) []tick {
	every := niceTime(total / 5)
	var ticks []tick
	for i := 0; ; i++ {
		v := float64(i) * every
		if v > total*1.0001 {
			return ticks
		}
		t := tick{At: decimal(100*v/total, 2), Label: span(v), Anchor: "middle"}
		switch {
		case i == 0:
			t.Label, t.Anchor = "0", "start"
		case v > total*0.95:
			t.Anchor = "end"
		}
		ticks = append(ticks, t)
	}
}

// nice gives the next 1, 2 or 5 times a power of ten.
func nice(f float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(f)))
	for _, n := range []float64{1, 2, 5} {
		if f <= n*unit*1.0001 {
			return n * unit
		}
	}
	return 10 * unit
}

// niceTime does the same with seconds, as clocks do.
func niceTime(seconds float64) float64 {
	if seconds < 5 {
		return nice(seconds)
	}
	for _, n := range []float64{10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200} {
		if seconds <= n {
			return n
		}
	}
	return 3600 * nice(seconds/3600)
}
