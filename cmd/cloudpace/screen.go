package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/words"
)

// screen keeps a few lines at the bottom of a terminal up to date. Between two
// drawings the cursor stands at the start of the line below them, so that whatever
// else is printed, and the end of the program at any time, leaves a tidy screen.
type screen struct {
	w     io.Writer
	size  func() (width, height int) // asked each time: windows are resized
	style style

	drawn []int // the widths of the lines that are there
}

// style is what the terminal can show.
type style struct{ color, unicode bool }

// newScreen gives the screen behind w, nil where there is none.
func newScreen(w io.Writer) *screen {
	f, ok := terminal(w)
	if !ok {
		return nil
	}
	size := func() (int, int) {
		width, height, err := term.GetSize(int(f.Fd()))
		if err != nil || width < 1 || height < 1 {
			return 80, 24
		}
		return width, height
	}
	return &screen{w: w, size: size, style: style{color: os.Getenv("NO_COLOR") == "", unicode: speaksUnicode()}}
}

func speaksUnicode() bool {
	locale := strings.ToUpper(cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_CTYPE"), os.Getenv("LANG")))
	return runtime.GOOS == "windows" || strings.Contains(locale, "UTF-8") || strings.Contains(locale, "UTF8")
}

// The terminal's language. A terminal that does not know synchronized output
// ignores it; others then never show half a drawing.
const (
	escSync, escSyncEnd = "\x1b[?2026h", "\x1b[?2026l"
	escUp               = "\x1b[A"
	escRestOfLine       = "\x1b[K"
	escRestOfScreen     = "\x1b[J"
)

// draw puts a moment in the place of the one before, in one write.
func (s *screen) draw(m moment) {
	width, height := s.size()
	lines := s.style.lines(m, width-1)
	lines = lines[:min(len(lines), max(1, height-1))] // what scrolled away could not be taken back
	var b strings.Builder
	b.WriteString(escSync)
	b.WriteString("\r" + strings.Repeat(escUp, s.rows(width)))
	drawn := make([]int, len(lines))
	for i, l := range lines {
		drawn[i] = l.width
		b.WriteString(l.text + escRestOfLine + "\n")
	}
	b.WriteString(escRestOfScreen + escSyncEnd)
	s.drawn = drawn
	_, _ = io.WriteString(s.w, b.String()) // a terminal that is gone shows nothing
}

// clear takes the lines away, one by one: there are terminals that keep a screen
// that is cleared as a whole in their history.
func (s *screen) clear() {
	width, _ := s.size()
	rows := s.rows(width)
	s.drawn = nil
	if rows > 0 {
		_, _ = io.WriteString(s.w, "\r"+escRestOfLine+strings.Repeat(escUp+escRestOfLine, rows))
	}
}

// rows is how many rows of the window the lines take. In one that was made
// narrower each may take several by now.
func (s *screen) rows(width int) (rows int) {
	for _, w := range s.drawn {
		rows += max(1, (w+width-1)/width)
	}
	return rows
}

// line is text of a known width.
type line struct {
	text  string
	width int
}

// add appends text in a color, cut to what is left of the width.
func (l *line) add(st style, color, text string, most int) {
	text = fit(text, most-l.width)
	l.width += utf8.RuneCountInString(text)
	if st.color && color != "" && text != "" {
		text = color + text + reset
	}
	l.text += text
}

const (
	reset  = "\x1b[0m"
	dim    = "\x1b[2m"
	bold   = "\x1b[1m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	red    = "\x1b[31m"
)

const (
	accountsShown = 8
	longestBar    = 44
	longestName   = 60 // of a quota
	longestID     = 20 // of an account, where the window is not wide
	roomForIDs    = 90
	wideEnough    = 72 // for words where a narrow window has numbers only
)

// lines draws a moment into a width. How many there are changes with the tasks
// being known, and not while they go on.
func (st style) lines(m moment, width int) (list []line) {
	put := func(parts ...string) { // pairs of color and text
		var l line
		for i := 0; i+1 < len(parts); i += 2 {
			l.add(st, parts[i], parts[i+1], width)
		}
		list = append(list, l)
	}
	if m.tasks.Total == 0 {
		put("", cmp.Or(m.phase, "starting"), dim, "  "+words.Duration(m.elapsed.Truncate(time.Second)))
		return list
	}
	total := accountProgress{id: "all", total: m.tasks.Total, done: m.tasks.Done, gaps: m.gaps}
	rows := []accountProgress{total}
	if n := len(m.accounts); n > 1 && n <= accountsShown {
		rows = append(rows, m.accounts...)
	}
	const roomFor = 48 // the words

	roomy := width >= roomFor
	name, numbers := 0, 0
	for i := range rows {
		if r := &rows[i]; width < roomForIDs && len(r.id) > longestID {
			r.id = shortID(r.id)
		}
	}
	for _, r := range rows {
		name, numbers = max(name, len(r.id)), max(numbers, len(r.numbers()))
	}
	for i, r := range rows {
		var l line
		l.add(st, "", fmt.Sprintf("%-*s ", name, r.id), width)
		gaps := ""
		if m.gaps > 0 && roomy {
			gaps = strings.Repeat(" ", len(count(m.gaps, "gap"))+2)
			if r.gaps > 0 {
				gaps = fmt.Sprintf("  %*s", len(gaps)-2, count(r.gaps, "gap"))
			}
		}
		word := ""
		if roomy {
			word = "      "
			if i == 0 {
				word = " tasks"
			}
		}
		st.bar(&l, r, min(longestBar, width-l.width-numbers-len(word)-len(gaps)-1), width)
		l.add(st, "", fmt.Sprintf(" %*s", numbers, r.numbers()), width)
		l.add(st, "", word, width)
		l.add(st, yellow, gaps, width)
		list = append(list, l)
	}
	if width >= wideEnough {
		put(bold, words.Number(m.tasks.Assets), "", " assets   ", bold, words.Number(m.calls), "", " calls   ", bold, words.Number(m.throttled), "",
			fmt.Sprintf(" throttled   %.0f s", m.elapsed.Seconds()))
	} else {
		put("", fmt.Sprintf("%s, %s, %.0f s", count(m.tasks.Assets, "asset"), count(m.calls, "call"), m.elapsed.Seconds()))
	}
	if m.phase != "" {
		put(yellow, m.phase)
	} else {
		put(dim, running(m))
	}
	for i := range waitsShown {
		var l line
		if i < len(m.waiting) {
			l = st.wait(m.waiting[i], width)
		}
		list = append(list, l)
	}
	return list
}

func (a accountProgress) numbers() string { return fmt.Sprintf("%d/%d", a.done, a.total) }

// bar shows what is complete, what has gaps, and what is to come.
func (st style) bar(l *line, a accountProgress, long, width int) {
	if long < 4 {
		return
	}
	full, gap, rest := "━", "━", "─"
	if !st.color {
		full, gap = "█", "▒"
	}
	if !st.unicode {
		full, gap, rest = "#", "!", "-"
	}
	done := 0
	if a.total > 0 {
		done = long * a.done / a.total
	}
	gaps := 0
	if a.gaps > 0 {
		gaps = min(done, max(1, long*a.gaps/a.total))
	}
	l.add(st, green, strings.Repeat(full, done-gaps), width)
	l.add(st, red, strings.Repeat(gap, gaps), width)
	l.add(st, dim, strings.Repeat(rest, long-done), width)
}

// running names what has been going on longest.
func running(m moment) string {
	if len(m.tasks.Running) == 0 {
		return ""
	}
	r := m.tasks.Running[0]
	text := "longest  " + r.Task
	if len(m.accounts) > 1 {
		text += " " + r.Account
	}
	if r.Region != "" { // what is read of an account as a whole has none
		text += " " + r.Region
	}
	text += fmt.Sprintf(", %.0f s", m.now.Sub(r.Since).Seconds())
	if more := len(m.tasks.Running) - 1; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}

// wait shows a quota that is waited for: its name as full as there is room, then
// numbers that stay in their columns.
func (st style) wait(w quotaWait, width int) (l line) {
	slow := ""
	if w.rate < w.most {
		slow = yellow
	}
	rate, most := rateText(w.rate), rateText(w.most)
	wait := "wait " + words.Duration(w.duration)
	if w.paused > 0 {
		wait = "next in " + words.Duration(w.paused)
	}
	right := fmt.Sprintf(" of %s/s %4d queued  %-14s", most, w.queued, wait)
	switch {
	case width < 52:
		right = fmt.Sprintf("/%s %3d", most, w.queued)
	case width < wideEnough+8:
		right = fmt.Sprintf("/%s %3d queued %6s", most, w.queued, words.Duration(max(w.paused, w.duration)))
	}
	head := "waiting  "
	if width < wideEnough {
		head = ""
	}
	l.add(st, dim, head, width)
	room := min(longestName, width-l.width-6-len(right))
	l.add(st, "", fmt.Sprintf("%-*s", max(0, room), scopeText(w.scope, room)), l.width+max(0, room))
	l.add(st, slow, fmt.Sprintf(" %5s", rate), width)
	l.add(st, slow, right, width)
	return l
}

// scopeText names a quota in so many characters, leaving out first what is most
// likely known.
func scopeText(s cloudpace.Scope, room int) string {
	what, last := s.Service, cmp.Or(s.Operation, s.Service)
	if s.Operation != "" {
		what += " " + s.Operation
	}
	if s.Service == "" {
		what, last = "all services", "all services"
	}
	// Azure's have no region: they are of a whole subscription.
	account, region := s.Account, strings.TrimPrefix(s.Region+"/", "/")
	if region != "" && account == "" {
		account = "*"
	}
	join := func(parts ...string) string {
		return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "/")
	}
	short := shortID(account)
	for _, text := range []string{
		join(s.Provider, account, region+what),
		join(account, region+what),
		join(s.Provider, short, region+what),
		join(short, region+what),
		join(short, region+last),
	} {
		if len(text) <= room {
			return text
		}
	}
	if region == "" {
		return fit(join(short, last), room)
	}
	return fit(region+last, room)
}

// shortID is the end of an account's id, which tells it from the others of a run.
func shortID(id string) string {
	if len(id) > 4 {
		return ".." + id[len(id)-4:]
	}
	return id
}

// wrapped gives a writer that breaks lines between words where w is a terminal.
func wrapped(w io.Writer) io.Writer {
	s := newScreen(w)
	if s == nil {
		return w
	}
	width, _ := s.size()
	return wrapper{w, width}
}

type wrapper struct {
	w     io.Writer
	width int
}

// Write writes whole lines.
func (w wrapper) Write(text []byte) (int, error) {
	for l := range strings.Lines(string(text)) {
		if _, err := io.WriteString(w.w, wrap(strings.TrimSuffix(l, "\n"), w.width)+"\n"); err != nil {
			return 0, err
		}
	}
	return len(text), nil
}

// wrap breaks a line between words; what follows is indented.
func wrap(text string, width int) string {
	const indent = "    "
	var b strings.Builder
	at := 0
	for i, word := range strings.Split(text, " ") {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case at+1+n > width && at > len(indent):
			b.WriteString("\n" + indent)
			at = len(indent)
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += n
	}
	return b.String()
}

// fit cuts a text to the width.
func fit(text string, width int) string {
	if n := utf8.RuneCountInString(text); n <= width {
		return text
	} else if width < 4 {
		return string([]rune(text)[:max(0, width)])
	}
	return string([]rune(text)[:width-2]) + ".."
}
