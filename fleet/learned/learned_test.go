package learned_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/fleet/learned"
	"github.com/cloudpace/cloudpace/verdict"
)

var scope = cloudpace.Scope{Provider: "aws", Account: "111122223333", Region: "us-east-1", Service: "sqs"}

func governor(t testing.TB) *cloudpace.Governor {
	t.Helper()
	g, err := cloudpace.New(cloudpace.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// throttled lets a call of a scope be refused.
func throttled(t testing.TB, g *cloudpace.Governor, s cloudpace.Scope) {
	t.Helper()
	c, err := g.Begin(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	c.End(&verdict.ResponseError{Provider: "aws", StatusCode: 400, Code: "ThrottlingException"})
}

func file(t testing.TB) string { return filepath.Join(t.TempDir(), "cache", "learned.json") }

// keep keeps a file, and fails the test where there is a warning.
func keep(t testing.TB, g *cloudpace.Governor, o learned.Options) *learned.Keeper {
	t.Helper()
	if o.Warn == nil {
		o.Warn = func(err error) { t.Error(err) }
	}
	k := learned.Keep(g, o)
	t.Cleanup(k.Close)
	return k
}

func read(t testing.TB, path string) cloudpace.Learned {
	t.Helper()
	l, err := learned.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// What one run learned the next one begins with, and it is written while the first runs.
func TestFromRunToRun(t *testing.T) {
	path := file(t)
	synctest.Test(t, func(t *testing.T) {
		first := governor(t)
		k := keep(t, first, learned.Options{Path: path})
		throttled(t, first, scope)
		time.Sleep(5*time.Second + time.Millisecond)
		if l := read(t, path); len(l.Scopes) != 1 || l.Scopes[0].RPS != 10 {
			t.Errorf("while it runs the file has %+v", l)
		}
		other := scope
		other.Service = "sns"
		throttled(t, first, other)
		k.Close()
		k.Close()

		second := governor(t)
		keep(t, second, learned.Options{Path: path}).Close()
		for _, s := range []cloudpace.Scope{scope, other} {
			throttled(t, second, s)
		}
		for _, b := range second.Snapshot().Buckets {
			if b.RPS != 5 {
				t.Errorf("%s: %g rps after another throttle, want the half of 10", b.Scope, b.RPS)
			}
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%v, %v: others may read it", info.Mode(), err)
		}
	})
}

// Time empties the file.
func TestWhatIsOverIsDropped(t *testing.T) {
	path := file(t)
	synctest.Test(t, func(t *testing.T) {
		g := governor(t)
		throttled(t, g, scope)
		keep(t, g, learned.Options{Path: path}).Close()
		time.Sleep(2 * time.Minute)
		if l := read(t, path); len(l.Scopes) != 0 {
			t.Errorf("it has %+v", l)
		}
		keep(t, governor(t), learned.Options{Path: path}).Close()
		if text, err := os.ReadFile(path); err != nil || strings.Contains(string(text), "sqs") {
			t.Errorf("the file has %s, %v", text, err)
		}
	})
}

// Two that keep the same file lose nothing of each other's.
func TestTwoKeepers(t *testing.T) {
	path := file(t)
	var work sync.WaitGroup
	for i := range 8 {
		work.Go(func() {
			g := governor(t)
			k := keep(t, g, learned.Options{Path: path, Every: time.Millisecond})
			for n := range 5 {
				s := scope
				s.Account = string(rune('a'+i)) + string(rune('a'+n))
				throttled(t, g, s)
				time.Sleep(2 * time.Millisecond)
			}
			k.Close()
		})
	}
	work.Wait()
	if l := read(t, path); len(l.Scopes) != 40 {
		t.Errorf("%d of 40 entries are left", len(l.Scopes))
	}
}

// A process that was never refused does not make another's throttles, pauses and open
// circuits forgotten by writing later.
func TestTheMoreSevereIsKept(t *testing.T) {
	path := file(t)
	synctest.Test(t, func(t *testing.T) {
		lucky, refused := governor(t), governor(t)
		second := keep(t, lucky, learned.Options{Path: path, Every: time.Hour}) // which has read nothing
		for range 5 {
			throttled(t, refused, scope)
		}
		keep(t, refused, learned.Options{Path: path}).Close()
		want := read(t, path).Scopes[0]
		time.Sleep(100 * time.Millisecond)
		c, err := lucky.Begin(t.Context(), scope)
		if err != nil {
			t.Fatal(err)
		}
		c.End(nil)
		if l := lucky.Learned(); len(l.Scopes) != 1 || !l.Scopes[0].Time.After(want.Time) {
			t.Fatalf("the other knows %+v", l)
		}
		second.Close()
		got := read(t, path).Scopes[0]
		if want.RPS >= 20 || want.OpenUntil.IsZero() || !reflect.DeepEqual(got, want) {
			t.Errorf("it has %+v, want %+v", got, want)
		}
	})
}

// Fresh begins without it, and so does who forgets it.
func TestFreshAndForget(t *testing.T) {
	path := file(t)
	if n, err := learned.Forget(t.Context(), path, nil); n != 0 || err != nil {
		t.Errorf("there is nothing to forget: %d, %v", n, err)
	}
	g := governor(t)
	throttled(t, g, scope)
	keep(t, g, learned.Options{Path: path}).Close()
	other := scope
	other.Service = "sns"
	throttled(t, g, other)
	keep(t, g, learned.Options{Path: path}).Close()
	n, err := learned.Forget(t.Context(), path, func(l cloudpace.Learned) cloudpace.Learned {
		l.Scopes = slices.DeleteFunc(l.Scopes, func(e cloudpace.LearnedScope) bool { return !strings.HasSuffix(e.Scope, "/sns") })
		return l
	})
	if n != 1 || err != nil {
		t.Fatalf("%d forgotten, %v", n, err)
	}
	if l := read(t, path); len(l.Scopes) != 1 {
		t.Errorf("one of two was forgotten, and it has %+v", l)
	}
	fresh := governor(t)
	k := keep(t, fresh, learned.Options{Path: path, Fresh: true})
	if l := fresh.Learned(); len(l.Scopes) != 0 {
		t.Errorf("it begins with %+v", l)
	}
	k.Close()
	if l := read(t, path); len(l.Scopes) != 0 {
		t.Errorf("the file has %+v", l)
	}
}

// A file that is no use is replaced, and said so once.
func TestUnreadable(t *testing.T) {
	for name, text := range map[string]string{
		"empty":             "",
		"cut":               `{"version":1,"scopes":[{"scope":"aws/`,
		"another document":  `[1,2]`,
		"no version":        `{"scopes":[]}`,
		"another type":      `{"version":1,"scopes":[{"rps":"fast"}]}`,
		"times from nowhen": `{"version":1,"scopes":[{"time":"yesterday"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			path := file(t)
			write(t, path, text)
			g := governor(t)
			var warnings []error
			k := learned.Keep(g, learned.Options{Path: path, Warn: func(err error) { warnings = append(warnings, err) }})
			throttled(t, g, scope)
			k.Close()
			if len(warnings) != 1 || !strings.Contains(warnings[0].Error(), path) {
				t.Errorf("warnings: %v", warnings)
			}
			if l := read(t, path); len(l.Scopes) != 1 {
				t.Errorf("it has %+v", l)
			}
		})
	}
}

// What makes no sense in a file that can be read is left out, and said so.
func TestNonsense(t *testing.T) {
	path := file(t)
	now := time.Now()
	entry := func(s, level string, at time.Time) cloudpace.LearnedScope {
		return cloudpace.LearnedScope{Scope: s, Level: level, Time: at, RPS: 1, MaxRPS: 20, Burst: 2}
	}
	text, err := json.Marshal(map[string]any{"version": 1, "scopes": []cloudpace.LearnedScope{
		entry("sqs", "leaf", now), entry(scope.String(), "roof", now), entry(scope.String(), "leaf", now.Add(-time.Second)),
		entry("aws/*/*/sns", "leaf", now.Add(time.Hour)), entry("aws/*/*/ses", "leaf", now.Add(-48*time.Hour)),
	}})
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, string(text))
	var warning error
	g := governor(t)
	learned.Keep(g, learned.Options{Path: path, Warn: func(err error) { warning = err }}).Close()
	if warning == nil || !strings.Contains(warning.Error(), `"roof"`) || !strings.Contains(warning.Error(), `"sqs"`) {
		t.Errorf("the warning is %v", warning)
	}
	if l := g.Learned(); len(l.Scopes) != 1 || l.Scopes[0].Scope != scope.String() {
		t.Errorf("taken over: %+v", l)
	}
}

// A file of a later version is left as it is, and the run goes on without.
func TestNewer(t *testing.T) {
	path := file(t)
	const text = `{"version":2,"scopes":{"of":"another form"}}`
	write(t, path, text)
	g := governor(t)
	var warnings []error
	k := learned.Keep(g, learned.Options{Path: path, Warn: func(err error) { warnings = append(warnings, err) }})
	throttled(t, g, scope)
	k.Close()
	var newer *learned.NewerError
	if len(warnings) != 1 || !errors.As(warnings[0], &newer) || newer.Version != 2 {
		t.Errorf("warnings: %v", warnings)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != text {
		t.Errorf("the file has %s, %v", got, err)
	}
}

// Where nothing can be written one warning says so, and nothing else changes.
func TestUnwritable(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "file"), "")
	g := governor(t)
	var warnings []error
	var mu sync.Mutex
	k := learned.Keep(g, learned.Options{Path: filepath.Join(dir, "file", "learned.json"), Every: time.Millisecond, Warn: func(err error) {
		mu.Lock()
		defer mu.Unlock()
		warnings = append(warnings, err)
	}})
	throttled(t, g, scope)
	time.Sleep(20 * time.Millisecond)
	k.Close()
	if len(warnings) == 0 || len(warnings) > 2 { // of reading and of writing
		t.Errorf("warnings: %v", warnings)
	}
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A circuit that a try has closed is not remembered as open, by whoever writes last.
func TestAClosedCircuitIsForgotten(t *testing.T) {
	path := file(t)
	synctest.Test(t, func(t *testing.T) {
		g, other := governor(t), governor(t)
		k := keep(t, g, learned.Options{Path: path})
		beside := keep(t, other, learned.Options{Path: path})
		call := func(err error) {
			c, no := g.Begin(t.Context(), scope)
			if no != nil {
				t.Fatal(no)
			}
			c.End(err)
		}
		for range 5 {
			call(&verdict.ResponseError{Provider: "aws", StatusCode: 500, Code: "InternalFailure"})
		}
		time.Sleep(10 * time.Second)
		if l := read(t, path); len(l.Scopes) != 1 || l.Scopes[0].OpenUntil.IsZero() {
			t.Fatalf("while it is open: %+v", l)
		}
		time.Sleep(time.Minute)
		call(nil) // the try
		time.Sleep(10 * time.Second)
		k.Close()
		beside.Close()
		if l := read(t, path); len(l.Scopes) != 1 || !l.Scopes[0].OpenUntil.IsZero() {
			t.Errorf("when it has closed: %+v", l)
		}
		time.Sleep(21 * time.Minute)
		if l := read(t, path); len(l.Scopes) != 0 {
			t.Errorf("long after: %+v", l)
		}
	})
}
