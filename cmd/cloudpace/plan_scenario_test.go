package main

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// ranScenarios runs plan --scenario, which has to succeed, and reads its JSON.
func ranScenarios(t *testing.T, args ...string) []scenarioRun {
	t.Helper()
	code, stdout, stderr := call(append([]string{"plan", "--json", "--scenario"}, args...)...)
	if code != exitDone {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	var d scenarioDocument
	if err := json.Unmarshal([]byte(stdout), &d); err != nil {
		t.Fatal(err)
	}
	return d.Runs
}

// TestScenarios: all that are shipped run with every controller, and say what they are
// asked for.
func TestScenarios(t *testing.T) {
	runs := ranScenarios(t, "all", "--controller", strings.Join(controllers, ","), "--seeds", "2", "--ceiling", "soft")
	if len(runs) != 10*len(controllers) {
		t.Fatalf("%d runs", len(runs))
	}
	for _, r := range runs {
		neighbour := strings.Contains("BFG", r.Scenario)
		if len(r.BySeed) != 2 || r.Seconds <= 0 || r.IdealSeconds <= 0 || r.TimesIdeal < 0.5 || (r.NeighbourThrottledPercent != nil) != neighbour || r.P50Seconds <= 0 || r.P99Seconds < r.P50Seconds || r.Requests < 4000 {
			t.Errorf("%+v", r)
		}
		// The law of the default controller is the one that S4 gives: on a server that
		// grants a fifth of what the client thinks it is throttled, and not much.
		if r.Scenario == "C" && r.Controller == "aimd" && (r.ThrottledPercent == 0 || r.ThrottledPercent > 5 || r.TimesIdeal > 1.1) {
			t.Errorf("%+v", r)
		}
		if r.Scenario == "C" && r.Controller == "fixed" && r.ThrottledPercent < 20 {
			t.Errorf("%+v", r)
		}
	}
}

// TestScenarioAgain: the same command gives the same figures, and chance is another with
// every seed.
func TestScenarioAgain(t *testing.T) {
	first, again := ranScenarios(t, "B", "--seeds", "3"), ranScenarios(t, "B", "--seeds", "3")
	for i, f := range first[0].BySeed {
		if a := again[0].BySeed[i]; a.Seconds != f.Seconds || a.Requests != f.Requests || *a.NeighbourThrottledPercent != *f.NeighbourThrottledPercent {
			t.Errorf("%+v, then %+v", f, a)
		}
		if i > 0 && f.Seconds == first[0].BySeed[i-1].Seconds {
			t.Errorf("two seeds take %g s", f.Seconds)
		}
	}
}

// written puts a text into a file.
func written(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "servers.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

const small = `{"id": "tiny", "name": "<small>", "server": {"burst": 5, "refill": 10}, "client": {"rate": 40, "burst": 20}, "calls": 300, "workers": 8}`

// TestScenarioFile: a scenario of one's own; what it is compared with is worked out where
// the file does not say it.
func TestScenarioFile(t *testing.T) {
	r := ranScenarios(t, written(t, small))[0]
	// 5 of 300 calls need no waiting, and the last answer takes 0.1 s.
	if ideal := (300-5)/10.0 + 0.1; r.Scenario != "tiny" || r.IdealSeconds < ideal-0.2 || r.IdealSeconds > ideal+0.2 || r.TimesIdeal < 0.99 || r.TimesIdeal > 2 {
		t.Errorf("%+v", r)
	}
	four := ranScenarios(t, written(t, small), "--processes", "4")[0]
	if four.Processes != 4 || four.ThrottledPercent <= r.ThrottledPercent {
		t.Errorf("one process is throttled %g %%, four that do not share %g %%", r.ThrottledPercent, four.ThrottledPercent)
	}
	_, text, _ := call("plan", "--scenario", written(t, small), "--processes", "4", "--seeds", "3")
	for _, want := range []string{"scenario", "x ideal", "tiny", "<small>", "aimd, 4 processes", "Medians of 3 runs"} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
}

// TestScenarioPlot: the drawing is an SVG with the throttles of the first run in it.
func TestScenarioPlot(t *testing.T) {
	file := filepath.Join(t.TempDir(), "plot.svg")
	ranScenarios(t, written(t, small), "--plot", file)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<svg", "Scenario tiny: &lt;small&gt;", "rate in force", " throttled from ", "controller aimd"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("there is no %q in the drawing", want)
		}
	}
	for d := xml.NewDecoder(strings.NewReader(string(text))); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	code, _, stderr := call("plan", "--scenario", "A", "--plot", filepath.Join(t.TempDir(), "none", "plot.svg"))
	if code != exitBroken || !strings.Contains(stderr, "--plot") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
}

// TestScenarioBadInput: all that is wrong is named at once, with file, key, value and what
// is allowed.
func TestScenarioBadInput(t *testing.T) {
	with := func(old, text string) string { return written(t, strings.Replace(small, old, text, 1)) }
	zero, negative := with(`"refill": 10`, `"refill": 0`), with(`"burst": 5`, `"burst": -5`)
	both := with(`"burst": 5, "refill": 10`, `"burst": -5, "refill": 0, "refil": 3`)
	for args, wants := range map[string][]string{
		"--scenario " + zero:     {zero + ": server.refill is 0 (allowed: 0.001 to 1000000 a second)"},
		"--scenario " + negative: {negative + ": server.burst is -5 (allowed: 1 to 1000000000)"},
		"--scenario " + both: {
			both + ": server.refill is 0 (allowed", both + ": server.burst is -5 (allowed", both + ": server.refil is 3 (allowed: did you mean refill? one of the keys here: burst,",
		},
		"--scenario " + written(t, "{"):              {": line 1: unexpected EOF"},
		"--scenario A --controller lern":             {`--controller is "lern" (allowed: aimd, learn, fixed; did you mean learn?)`},
		"--scenario A --ceiling sof":                 {`--ceiling is "sof" (allowed: hard, soft; did you mean soft?)`},
		"--scenario A --processes 0 --seeds 0":       {"--processes is 0 (allowed: 1 to 1000)", "--seeds is 0 (allowed: 1 to 1000)"},
		"--scenario A --processes 41":                {"--processes is 41, and scenario A has 40 workers (allowed: as many at most)"},
		"--scenario A,Z":                             {"--scenario: open Z: ", "(allowed: a file, or A, B, C, D, E, F, G, H, I, K, or all)"},
		"--scenario A,B --plot x.svg":                {"--plot draws one run, and there are 2 scenarios and 1 controller"},
		"--scenario A -p aws --items 3":              {"--scenario and --provider exclude each other", "--scenario and --items exclude each other"},
		"--scenario=":                                {"--scenario is empty"},
		"--controller learn":                         {"--controller goes with --scenario"},
		"-p gcp --accounts 1 --items 1 --plot x.svg": {"--plot goes with --scenario"},
	} {
		code, stdout, stderr := call(append([]string{"plan"}, strings.Fields(args)...)...)
		if code != exitUsage || stdout != "" {
			t.Errorf("plan %s: exit code %d\n%s%s", args, code, stdout, stderr)
		}
		for _, want := range wants {
			if !strings.Contains(stderr, want) {
				t.Errorf("plan %s does not say %q:\n%s", args, want, stderr)
			}
		}
	}
}

// TestScenarioInterrupted: who does not want to know any more is not kept, whether it is
// run or worked out what it is compared with.
func TestScenarioInterrupted(t *testing.T) {
	for _, ideal := range []string{"0", "100"} {
		file := written(t, strings.Replace(small, `"workers"`, `"ideal_s": `+ideal+`, "workers"`, 1))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var out, err strings.Builder
		if code := run(ctx, []string{"plan", "--scenario", file}, strings.NewReader(""), &out, &err); code != exitInterrupted || out.Len() > 0 || !strings.Contains(err.String(), "interrupted") {
			t.Errorf("exit code %d, %s%s", code, out.String(), err.String())
		}
	}
}
