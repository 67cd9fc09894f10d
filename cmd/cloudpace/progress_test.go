package main

import (
	"bytes"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

var scope = cloudpace.Scope{Provider: "aws", Account: "111122223333", Region: "us-east-1", Service: "ec2", Operation: "DescribeImageAttribute"}

// halfway is a moment of a run of three accounts.
func halfway() moment {
	now := time.Now()
	return moment{
		now: now, elapsed: 83 * time.Second, calls: 4321, throttled: 7, gaps: 3,
		tasks:    inventory.Progress{Total: 126, Done: 63, Assets: 12345, Running: []inventory.Running{{Task: "ec2_images", Account: "111122223333", Region: "us-east-1", Since: now.Add(-12 * time.Second)}, {}}},
		accounts: []accountProgress{{"111122223333", 42, 42, 3}, {"444455556666", 42, 21, 0}, {"777788889999", 42, 0, 0}},
		waiting: []quotaWait{
			{scope: scope, rate: 7.5, most: 20, queued: 14, duration: 1900 * time.Millisecond},
			{scope: cloudpace.Scope{Provider: "aws", Account: "1", Region: "eu-west-1", Service: "lambda"}, rate: 15, most: 15, queued: 3, paused: 2 * time.Second, duration: 3 * time.Second},
		},
	}
}

// TestScreenLines: what is shown, in a wide window and in a narrow one.
func TestScreenLines(t *testing.T) {
	for _, c := range []struct {
		width int
		style style
		want  string
	}{
		{110, style{unicode: true}, `
all          █████████████████████▒────────────────────── 63/126 tasks  3 gaps
111122223333 █████████████████████████████████████████▒▒▒  42/42        3 gaps
444455556666 ██████████████████████──────────────────────  21/42
777788889999 ────────────────────────────────────────────   0/42
12,345 assets   4,321 calls   7 throttled   83 s
longest  ec2_images 111122223333 us-east-1, 12 s, and 1 more
waiting  aws/111122223333/us-east-1/ec2 DescribeImageAttribute         7.5 of 20/s   14 queued  wait 1.9 s
waiting  aws/1/eu-west-1/lambda                                         15 of 15/s    3 queued  next in 2.0 s
`},
		{40, style{}, `
all          #########!---------- 63/126
111122223333 ###################!  42/42
444455556666 ##########----------  21/42
777788889999 --------------------   0/42
12,345 assets, 4,321 calls, 83 s
longest  ec2_images 111122223333 us-ea..
us-east-1/DescribeImageAt..   7.5/20  14
aws/1/eu-west-1/lambda         15/15   3
`},
	} {
		var got strings.Builder
		got.WriteByte('\n')
		for _, l := range c.style.lines(halfway(), c.width) {
			if n := utf8.RuneCountInString(l.text); n != l.width || n > c.width {
				t.Errorf("%d characters of %d, said to be %d: %q", n, c.width, l.width, l.text)
			}
			got.WriteString(strings.TrimRight(l.text, " ") + "\n")
		}
		if got := strings.TrimRight(got.String(), "\n"); got != strings.TrimRight(c.want, "\n") {
			t.Errorf("%d columns: got%s\nwant%s", c.width, got, c.want)
		}
	}
	for width := range 130 { // no window is too narrow
		for _, m := range []moment{halfway(), {phase: "asking"}, {}} {
			for _, l := range (style{unicode: true, color: true}).lines(m, width) {
				if l.width > width {
					t.Errorf("%d columns of %d: %q", l.width, width, l.text)
				}
			}
		}
	}
}

// glass is a terminal: it does what the escape sequences say that a screen writes.
type glass struct {
	rows [][]rune
	y, x int
}

func (g *glass) Write(text []byte) (int, error) {
	for s := string(text); s != ""; {
		if rest, ok := strings.CutPrefix(s, "\x1b["); ok {
			end := strings.IndexFunc(rest, func(r rune) bool { return r >= '@' && r <= '~' })
			g.control(rest[:end], rest[end])
			s = rest[end+1:]
			continue
		}
		r, n := utf8.DecodeRuneInString(s)
		s = s[n:]
		for g.y >= len(g.rows) {
			g.rows = append(g.rows, nil)
		}
		switch r {
		case '\n':
			g.y, g.x = g.y+1, 0
		case '\r':
			g.x = 0
		default:
			for g.x >= len(g.rows[g.y]) {
				g.rows[g.y] = append(g.rows[g.y], ' ')
			}
			g.rows[g.y][g.x] = r
			g.x++
		}
	}
	return len(text), nil
}

func (g *glass) control(parameters string, final byte) {
	switch final {
	case 'A':
		n, err := strconv.Atoi(parameters)
		if err != nil {
			n = 1
		}
		g.y = max(0, g.y-n)
	case 'K', 'J':
		if g.y < len(g.rows) {
			g.rows[g.y] = g.rows[g.y][:min(g.x, len(g.rows[g.y]))]
			if final == 'J' {
				g.rows = g.rows[:g.y+1]
			}
		}
	}
}

func (g *glass) text() string {
	var lines []string
	for _, r := range g.rows {
		lines = append(lines, strings.TrimRight(string(r), " "))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// TestScreen: each drawing takes the place of the one before, also when it has
// fewer lines and when what the terminal echoes is in between; at the end nothing
// is left of them.
func TestScreen(t *testing.T) {
	g := new(glass)
	width, height := 100, 24
	s := &screen{w: g, size: func() (int, int) { return width, height }, style: style{color: true, unicode: true}}
	_, _ = g.Write([]byte("$ cloudpace map\n"))
	s.draw(moment{phase: "asking"})
	if got := g.text(); got != "$ cloudpace map\nasking  0.0 s" {
		t.Errorf("got\n%s", got)
	}
	for range 3 {
		s.draw(halfway())
		_, _ = g.Write([]byte("^C"))
	}
	if got := g.text(); strings.Count(got, "\n") != 10 || strings.Count(got, "waiting") != 2 || strings.Contains(got, "asking") {
		t.Errorf("got\n%s", got)
	}
	height = 5
	s.draw(halfway())
	if got := g.text(); strings.Count(got, "\n") != 4 {
		t.Errorf("in a low window\n%s", got)
	}
	s.clear()
	s.clear()
	if got := g.text(); got != "$ cloudpace map" || g.x != 0 || g.y != 1 {
		t.Errorf("left is\n%s\nand the cursor at %d, %d", got, g.x, g.y)
	}
}

// TestScreenResized: what was drawn wide takes more rows once the window is narrow.
func TestScreenResized(t *testing.T) {
	s := &screen{drawn: []int{100, 30, 0}}
	for width, want := range map[int]int{120: 3, 60: 4, 20: 8} {
		if got := s.rows(width); got != want {
			t.Errorf("%d rows in %d columns, want %d", got, width, want)
		}
	}
}

// TestNoScreen: what is not a terminal gets no escape sequences.
func TestNoScreen(t *testing.T) {
	file, err := os.Create(t.TempDir() + "/log")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if newScreen(new(bytes.Buffer)) != nil || newScreen(file) != nil || wrapped(file) != file {
		t.Error("a file is taken for a terminal")
	}
}

// TestProgressLog: a log has a line at the start and at the end, and says what
// goes on before there are tasks.
func TestProgressLog(t *testing.T) {
	governor, err := cloudpace.New(cloudpace.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	_, stats := cloudpace.WithStats(t.Context())
	read, write, err := os.Pipe() // so that each line is waited for
	if err != nil {
		t.Fatal(err)
	}
	p := newProgress(write, governor, stats)
	next := func() string {
		buffer := make([]byte, 1024)
		n, err := read.Read(buffer)
		if err != nil {
			t.Fatal(err)
		}
		return string(buffer[:n])
	}
	p.say("asking")
	if got := next(); got != "asking\n" {
		t.Errorf("first %q", got)
	}
	p.begin([]inventory.Task{{Account: "1"}, {Account: "1"}, {Account: "2"}})
	if got := next(); got != "0/3 tasks, 0 assets, 0 calls\n" {
		t.Errorf("then %q", got)
	}
	p.done(inventory.Record{Account: "1", Status: inventory.Failed})
	p.done(inventory.Record{Account: "2", Status: inventory.Skipped, Reason: inventory.ServiceNotInRegion})
	p.say("interrupted")
	if got := next(); got != "0/3 tasks, 0 assets, 0 calls, 1 gap; interrupted\n" {
		t.Errorf("then %q", got)
	}
	p.stop()
	p.stop()
	if got := next(); got != "0/3 tasks, 0 assets, 0 calls, 1 gap\n" {
		t.Errorf("at the end %q", got)
	}
	write.Close()
	read.Close()
	if got := logLine(halfway()); got != "63/126 tasks, 12,345 assets, 4,321 calls, 3 gaps; waiting for aws/111122223333/us-east-1/ec2/DescribeImageAttribute: "+
		"7.5 of 20/s, 14 queued, 1.9 s; longest in ec2_images of 111122223333 us-east-1 (12s) and 1 more" {
		t.Errorf("halfway %q", got)
	}
}

// TestWaits: who waits is read off the governor, and keeps its line.
func TestWaits(t *testing.T) {
	list := waits(cloudpace.Snapshot{Buckets: []cloudpace.BucketState{
		{Scope: scope.String(), RPS: 5, MaxRPS: 20, Waiting: 9, PausedSeconds: 1},
		{Scope: "aws/1/r/sqs", RPS: 20, MaxRPS: 20},
	}})
	if len(list) != 1 || list[0].scope != scope || list[0].duration != 3*time.Second || list[0].words() != "5 of 20/s, 9 queued, paused 1.0 s" {
		t.Errorf("waiting: %+v", list)
	}
	wait := func(name string, d time.Duration) quotaWait {
		return quotaWait{scope: cloudpace.Scope{Service: name}, queued: 1, duration: d}
	}
	names := func(list []shownWait) (text string) {
		for _, s := range list {
			text += s.scope.Service
		}
		return text
	}
	now := time.Now()
	shown := choose(nil, []quotaWait{wait("a", 1), wait("b", 4e9), wait("c", 3e9), wait("d", 2e9)}, now)
	if got := names(shown); got != "bcd" {
		t.Errorf("at first %s", got)
	}
	shown = choose(shown, []quotaWait{wait("a", 3e9), wait("d", 9e9), wait("c", 2e9)}, now.Add(lingers/2))
	if got := names(shown); got != "acd" || shown[2].duration != 9e9 {
		t.Errorf("a much longer wait: %s", got)
	}
	shown = choose(shown, []quotaWait{wait("d", 9e9), wait("b", 9e9), wait("e", 1)}, now.Add(lingers))
	if got := names(shown); got != "bcd" && got != "acd" && got != "abd" {
		t.Errorf("those that stopped a moment ago: %s", got)
	}
	if got := names(choose(shown, []quotaWait{wait("e", 1)}, now.Add(time.Hour))); got != "e" {
		t.Errorf("long after: %s", got)
	}
}

// TestWaitsForAccount: where the quota of a whole account or provider is what makes
// callers wait, it is named, once, with all that wait for it.
func TestWaitsForAccount(t *testing.T) {
	const sub = "00000000-0000-0000-0000-000000000002"
	azure := func(service string) string {
		return cloudpace.Scope{Provider: "azure", Account: sub, Service: service}.String()
	}
	paused := cloudpace.BucketState{Scope: azure(""), Level: "account", RPS: 20, MaxRPS: 20, Tokens: 100, PausedSeconds: 2}
	sql := cloudpace.BucketState{Scope: azure("sql"), Level: "leaf", RPS: 15, MaxRPS: 15, Tokens: 50, Waiting: 8}
	storage := cloudpace.BucketState{Scope: azure("storage"), Level: "leaf", RPS: 0.33, MaxRPS: 0.33, Waiting: 1}
	list := waits(cloudpace.Snapshot{Buckets: []cloudpace.BucketState{paused, sql, storage, {Scope: "aws/1/r/ec2", Waiting: 1, RPS: 1, MaxRPS: 1}}})
	var got []string
	for _, w := range list {
		got = append(got, scopeText(w.scope, 60)+": "+w.words())
	}
	want := []string{
		"azure/" + sub + "/all services: 20 of 20/s, 9 queued, paused 2.0 s",
		"azure/" + sub + "/storage: 0.33 of 0.33/s, 1 queued, 6.1 s", // its own quota is slower than the pause
		"aws/1/r/ec2: 1 of 1/s, 1 queued, 2.0 s",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	for room, want := range map[int]string{55: "azure/" + sub + "/all services", 49: sub + "/all services", 40: "azure/..0002/all services", 20: "..0002/all services", 10: "..0002/a.."} {
		if got := scopeText(list[0].scope, room); got != want {
			t.Errorf("in %d columns %q, want %q", room, got, want)
		}
	}
	if got := rateText(math.Inf(1)); got != "-" {
		t.Errorf("no limit is %q", got)
	}
}

// TestNotes: what is said while the lines are live stays above them.
func TestNotes(t *testing.T) {
	governor, err := cloudpace.New(cloudpace.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	_, stats := cloudpace.WithStats(t.Context())
	var out bytes.Buffer
	p := newProgress(&out, governor, stats)
	p.note([]string{"AWS cannot be read: none"})
	p.begin([]inventory.Task{{Account: "1"}})
	p.stop()
	if got := out.String(); !strings.HasPrefix(got, "AWS cannot be read: none\n") || strings.Count(got, "AWS") != 1 {
		t.Errorf("printed %q", got)
	}
}

func TestWrap(t *testing.T) {
	if got, want := wrap("  - one two three, four averyveryverylongword", 16), "  - one two\n    three, four\n    averyveryverylongword"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
