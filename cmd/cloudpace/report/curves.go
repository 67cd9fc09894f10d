package report

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/words"
)

// Curves are what was sent over some time, for a drawing that stands alone.
type Curves struct {
	Title, Subtitle string
	// Points are at equal distances of time, the first one distance after the beginning.
	Points []CurvePoint
	// Granted names what Granted of the points is; empty: nothing is known of it.
	Granted string
}

// CurvePoint is what was so between the point before it and its own time.
type CurvePoint struct {
	Seconds   float64 // since the beginning
	Rate      float64 // in force, calls a second
	Granted   float64 // that the other side would take, calls a second
	Sent      int
	Throttled int
	Queue     int // at most so many waited at once
}

//go:embed curves.svg
var curvesText string

var curvesTemplate = template.Must(template.New("curves.svg").Parse(curvesText))

// The drawing, in its own units from the left and the top.
const (
	curvesLeft  = 64
	curvesWidth = 880
	panelTop    = 108 // of the first
	panelSpace  = 48
	curveBins   = 220 // columns at most
)

// drawing is what the template draws.
type drawing struct {
	Title, Subtitle, Description string
	Granted                      string
	Left, Right, Width, Height   int
	Panels                       []panel
	Times                        []tick
	TimeAt                       int
}

// panel is one of the plots above each other.
type panel struct {
	Title       string
	TitleAt     int
	Top, Bottom int
	Ticks       []tick
	Area        string // path
	Lines       []curve
	Bars        []block
	Cut         []tick // what reaches beyond the scale
	Class       string // of area and bars
}

type curve struct{ Class, Path string }

// Draw writes the drawing as an SVG of its own, which follows the reader's colours.
func (c Curves) Draw(w io.Writer) error {
	points := c.binned()
	total := 1.0
	if n := len(points); n > 0 {
		total = points[n-1].Seconds
	}
	d := drawing{
		Title: c.Title, Subtitle: c.Subtitle, Description: c.describe(points), Granted: c.Granted,
		Left: curvesLeft, Right: curvesLeft + curvesWidth, Width: curvesLeft + curvesWidth + 24,
	}
	at := panelTop
	add := func(title, class string, height int, most float64) *panel {
		d.Panels = append(d.Panels, panel{Title: title, Class: class, TitleAt: at - 12, Top: at, Bottom: at + height})
		p := &d.Panels[len(d.Panels)-1]
		at += height + panelSpace
		step := nice(max(most, 1e-3) / 3)
		for v := 0.0; v < most+step*0.999; v += step {
			p.Ticks = append(p.Ticks, tick{At: decimal(p.y(v, most, step), 1), TextAt: decimal(p.y(v, most, step)+4, 1), Label: rps(v)})
		}
		return p
	}
	x := func(seconds float64) float64 { return curvesLeft + curvesWidth*seconds/total }
	most := func(of func(CurvePoint) float64) (top float64) {
		for _, p := range points {
			top = max(top, of(p))
		}
		return top
	}
	step := func(of func(CurvePoint) float64, y func(float64) float64) (l line) {
		before := 0.0
		for _, p := range points {
			l.to(x(before), x(p.Seconds), y(of(p)), true)
			before = p.Seconds
		}
		return l
	}
	width := total / float64(max(1, len(points)))
	sent := func(p CurvePoint) float64 { return float64(p.Sent) / width }
	rate := func(p CurvePoint) float64 { return p.Rate }
	granted := func(p CurvePoint) float64 { return p.Granted }
	throttled := func(p CurvePoint) float64 { return float64(p.Throttled) / width }
	queue := func(p CurvePoint) float64 { return float64(p.Queue) }

	// A burst is over in one column; the scale is that of the rates, and says what is
	// beyond it.
	top := max(most(rate), most(granted))
	if top = min(most(sent), 2*top); top == 0 {
		top = 1
	}
	top = max(top, most(rate), most(granted))
	p := add("Calls a second", "sent", 190, top)
	y := func(v float64) float64 { return max(float64(p.Top), p.y(v, top, nice(top/3))) }
	beyond := false
	for _, at := range points {
		out := p.y(sent(at), top, nice(top/3)) < float64(p.Top)-0.05
		if out && !beyond {
			p.Cut = append(p.Cut, tick{At: decimal(x(at.Seconds)+4, 1), TextAt: decimal(float64(p.Top)+13, 0), Label: rps(math.Round(sent(at)))})
		}
		beyond = out
	}
	area := step(sent, y)
	p.Area = area.area(float64(p.Bottom))
	if c.Granted != "" {
		l := step(granted, y)
		p.Lines = append(p.Lines, curve{"granted", l.path()})
	}
	l := step(rate, y)
	p.Lines = append(p.Lines, curve{"rate", l.path()})

	top = max(most(throttled), 1/width)
	p = add("Throttled a second", "throttled", 80, top)
	before := 0.0
	for _, at := range points {
		if at.Throttled > 0 {
			v := p.y(throttled(at), top, nice(top/3))
			p.Bars = append(p.Bars, block{
				X: decimal(x(before), 1), Width: decimal(max(1, x(at.Seconds)-x(before)-0.5), 1), Y: decimal(v, 1), Height: decimal(float64(p.Bottom)-v, 1),
				Title: words.Number(at.Throttled) + " throttled from " + span(before) + " to " + span(at.Seconds),
			})
		}
		before = at.Seconds
	}

	top = max(most(queue), 1)
	p = add("Waiting for their turn", "queue", 80, top)
	area = step(queue, func(v float64) float64 { return p.y(v, top, nice(top/3)) })
	p.Area = area.area(float64(p.Bottom))
	outline := step(queue, func(v float64) float64 { return p.y(v, top, nice(top/3)) })
	p.Lines = append(p.Lines, curve{"queue", outline.path()})

	d.TimeAt = at - panelSpace + 20
	d.Height = d.TimeAt + 16
	for _, t := range timeTicks(total) {
		var percent float64
		_, _ = fmt.Sscan(t.At, &percent) // what timeTicks has written
		t.At = decimal(curvesLeft+curvesWidth*percent/100, 1)
		d.Times = append(d.Times, t)
	}
	return curvesTemplate.Execute(w, d)
}

// y is where a value is in a panel whose scale ends at the first tick that is not below
// most.
func (p *panel) y(v, most, step float64) float64 {
	top := math.Ceil(most/step-1e-9) * step
	return float64(p.Bottom) - float64(p.Bottom-p.Top)*v/max(top, step)
}

// binned puts points together until there are few enough to be told apart.
func (c Curves) binned() []CurvePoint {
	each := (len(c.Points) + curveBins - 1) / curveBins
	if each < 2 {
		return c.Points
	}
	var list []CurvePoint
	for i := 0; i < len(c.Points); i += each {
		part := c.Points[i:min(i+each, len(c.Points))]
		sum := CurvePoint{Seconds: c.Points[0].Seconds * float64(i+each)}
		for _, p := range part {
			sum.Rate += p.Rate / float64(len(part))
			sum.Granted += p.Granted / float64(len(part))
			sum.Sent += p.Sent
			sum.Throttled += p.Throttled
			sum.Queue = max(sum.Queue, p.Queue)
		}
		list = append(list, sum)
	}
	return list
}

// describe says in words what the drawing shows.
func (c Curves) describe(points []CurvePoint) string {
	if len(points) == 0 {
		return "Nothing was sent."
	}
	sent, throttled := 0, 0
	lowest, highest := points[0], points[0]
	longest := points[0]
	for _, p := range points {
		sent, throttled = sent+p.Sent, throttled+p.Throttled
		lowest = min2(lowest, p, func(p CurvePoint) float64 { return p.Rate })
		highest = min2(highest, p, func(p CurvePoint) float64 { return -p.Rate })
		longest = min2(longest, p, func(p CurvePoint) float64 { return -float64(p.Queue) })
	}
	text := []string{
		fmt.Sprintf("%s sent in %s, %s throttled.", words.Count(sent, "call"), span(points[len(points)-1].Seconds), words.Number(throttled)),
		fmt.Sprintf("The rate in force was %s calls a second at first, %s at its lowest, %s at its highest and %s at the end.",
			rps(points[0].Rate), rps(lowest.Rate), rps(highest.Rate), rps(points[len(points)-1].Rate)),
		fmt.Sprintf("At most %s waited, at %s.", words.Number(longest.Queue), span(longest.Seconds)),
	}
	return strings.Join(text, " ")
}

func min2(a, b CurvePoint, of func(CurvePoint) float64) CurvePoint {
	if cmp.Less(of(b), of(a)) {
		return b
	}
	return a
}
