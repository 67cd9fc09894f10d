package scenario

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
)

// TestShipped: what is shipped can be read, and is what it says.
func TestShipped(t *testing.T) {
	var ids string
	for _, s := range Shipped() {
		ids += s.ID
		if s.Name == "" || s.IdealS <= 0 {
			t.Errorf("%+v", s)
		}
	}
	if ids != "ABCDEFGHIK" {
		t.Errorf("shipped are %s", ids)
	}
	if k := Shipped()[9]; k.Server.ThrottleCost != 0.5 || k.Server.Floor != -20 || k.Client.Rate != 100 || k.Calls != 4000 || k.Workers != 40 {
		t.Errorf("%+v", k)
	}
}

const good = `{"server": {"burst": 100, "refill": 20}, "client": {"rate": 20, "burst": 100}, "calls": 10, "workers": 2}`

// TestParse: a scenario may stand alone, and has a number where it has no id.
func TestParse(t *testing.T) {
	for _, text := range []string{good, `{"scenarios": [` + good + `], "note": "x"}`} {
		list, err := Parse([]byte(text))
		if err != nil || len(list) != 1 || list[0].ID != "1" || list[0].Server.Refill != 20 || list[0].Workers != 2 {
			t.Errorf("%s: %+v, %v", text, list, err)
		}
	}
	text := `{"server": {"burst": 9, "refill": 2, "retry_after_s": 1, "throttle_cost": 0.5, "floor": -2, "latency_s": 3, "throttled_s": 0.2, "path_s": 0.5,
		"changes": [{"at_s": 5, "burst": 3, "refill": 1}, {"at_s": 7, "burst": 4, "refill": 2}]},
		"neighbour_rps": 1, "neighbour_from_s": 2, "neighbour_to_s": 3, "client": {"rate": 20, "burst": 100}, "calls": 10, "workers": 2,
		"burst_calls": 5, "gap_s": 4, "ideal_s": 6, "id": "X", "name": "all"}`
	list, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want := Scenario{
		ID: "X", Name: "all", NeighbourRPS: 1, NeighbourFromS: 2, NeighbourToS: 3, Client: Client{20, 100}, Calls: 10, Workers: 2, BurstCalls: 5, GapS: 4, IdealS: 6,
		Server: Server{
			Burst: 9, Refill: 2, RetryAfterS: 1, ThrottleCost: 0.5, Floor: -2, LatencyS: 3, ThrottledS: 0.2, PathS: 0.5,
			Changes: []Change{{5, 3, 1}, {7, 4, 2}},
		},
	}
	if !reflect.DeepEqual(list[0], want) {
		t.Errorf("%+v, want %+v", list[0], want)
	}
}

// TestFaults: whatever is wrong is named, with its value and what is allowed.
func TestFaults(t *testing.T) {
	with := func(old, text string) string { return strings.Replace(good, old, text, 1) }
	for text, want := range map[string]string{
		with(`"refill": 20`, `"refill": 0`):                        "server.refill is 0 (allowed: 0.001 to 1000000 a second)",
		with(`"refill": 20`, `"refill": 1e-300`):                   "server.refill is 1e-300 (allowed: 0.001 to 1000000 a second)",
		with(`"rate": 20`, `"rate": 1e-300`):                       "client.rate is 1e-300 (allowed: 0.001 to 1000000 a second)",
		with(`"burst": 100, "refill"`, `"burst": -1, "refill"`):    "server.burst is -1 (allowed: 1 to 1000000000)",
		with(`"burst": 100}`, `"burst": 0}`):                       "client.burst is 0 (allowed: 1 to 1000000000)",
		with(`"calls": 10`, `"calls": 0`):                          "calls is 0 (allowed: 1 to 10000000)",
		with(`"calls": 10`, `"calls": 1.5`):                        "calls is 1.5 (allowed: a whole number)",
		with(`, "calls": 10`, ``):                                  "calls is missing (allowed: how many calls are to succeed)",
		with(`"workers": 2`, `"workers": -2`):                      "workers is -2 (allowed: 1 to 100000)",
		with(`"refill": 20`, `"refil": 20`):                        "server.refil is 20 (allowed: did you mean refill? one of the keys here: burst, changes, floor, latency_s, path_s, refill, retry_after_s, throttle_cost, throttled_s)",
		with(`"rate": 20`, `"rate": "20"`):                         `client.rate is "20" (allowed: a number)`,
		with(`"rate": 20`, `"rate": 1e999`):                        "client.rate is 1e999 (allowed: a number)",
		with(`"rate": 20`, `"rate": null`):                         `client.rate is "null" (allowed: a number)`,
		with(`{"rate": 20, "burst": 100}`, `[]`):                   `client is "a list" (allowed: an object)`,
		with(`"workers": 2`, `"workers": 2, "neighbour_to_s": -1`): "neighbour_to_s is -1 (allowed: more than neighbour_from_s, at most 10000000; 0 is to the end)",
		with(`20}`, `20, "changes": [{"at_s": 9, "burst": 1, "refill": 1}, {"at_s": 3, "burst": 1, "refill": 1}]}`): "server.changes[1].at_s is 3 (allowed: 9 to 10000000, in order)",
		with(`20}`, `20, "changes": 3}`): "server.changes is 3 (allowed: a list)",
		``:                               `line 1: the file is empty (allowed: an object with "scenarios", or one scenario)`,
		`{"scenarios": [1]}`:             `scenarios[0] is 1 (allowed: an object)`,
		`{"scenarios": []}`:              `scenarios is "[]" (allowed: one scenario at least)`,
		`{"scenarios": [` + good + `,` + with(`20}`, `0}`) + `]}`: "scenarios[1].server.refill is 0",
		`{"scenarios": {}}`: `scenarios is "an object" (allowed: a list)`,
		`[1]`:               `the file is "a list" (allowed: an object with "scenarios", or one scenario)`,
		"{\n\"calls\": ,}":  "line 2: invalid character ','",
		good + "x":          "line 1: more after the end of the JSON",
		`{"scenarios": [` + with(`{`, `{"id": "a", `) + `,` + with(`{`, `{"id": "a", `) + `]}`: `scenarios[1].id is "a" (allowed: each id once; scenarios[0] has it)`,
	} {
		_, err := Parse([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n\tgives %v\n\twant  %s", text, err, want)
		}
		if err != nil && strings.Count(err.Error(), "\n") > 1 {
			t.Errorf("%s is told more than once: %v", text, err)
		}
	}
	_, err := Parse([]byte(`{"server": {"burst": -1, "refill": 0}, "client": {"rate": 0}, "calls": 0, "workres": 1}`))
	var f *Fault
	if !errors.As(err, &f) || strings.Count(err.Error(), "\n") != 6 {
		t.Errorf("all faults at once: %v", err)
	}
}

// TestCheckNumbers: what no file can have is refused too.
func TestCheckNumbers(t *testing.T) {
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		s := Shipped()[0]
		s.Server.Refill, s.Server.Burst, s.Client.Rate, s.GapS = x, x, x, x
		if n := len(s.Check("")); n != 4 {
			t.Errorf("%g: %d faults, want 4", x, n)
		}
	}
}

// FuzzParse: whatever is taken is something that can be run.
func FuzzParse(f *testing.F) {
	f.Add([]byte(good))
	f.Add(shipped)
	f.Add([]byte(`{"scenarios": [{"server": 3}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := Parse(text)
		if err != nil {
			return
		}
		for _, s := range list {
			if faults := s.Check(""); len(faults) > 0 || s.ID == "" {
				t.Errorf("%+v is taken: %v", s, faults)
			}
		}
	})
}
