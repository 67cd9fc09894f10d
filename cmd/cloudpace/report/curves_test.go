package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
)

// curves are some that have everything.
func curves(n int) Curves {
	c := Curves{Title: "C: <client> thinks 100", Subtitle: "learn, 1 process", Granted: "what the server grants"}
	for i := range n {
		p := CurvePoint{Seconds: float64(i + 1), Rate: 20, Granted: 20, Sent: 20, Queue: 30}
		switch {
		case i == 0:
			p.Sent, p.Rate = 110, 100
		case i%37 == 0:
			p.Throttled, p.Rate = 2, 19
		case i > 150 && i < 180:
			p.Granted, p.Queue = 10, 38
		}
		c.Points = append(c.Points, p)
	}
	return c
}

// TestCurves: the drawing is XML, says in words what is in it, and is as large for many
// points as for few.
func TestCurves(t *testing.T) {
	for n, size := range map[int]int{0: 6_000, 1: 8_000, 195: 30_000, 100_000: 60_000} {
		var b bytes.Buffer
		if err := curves(n).Draw(&b); err != nil {
			t.Fatal(err)
		}
		if b.Len() > size {
			t.Errorf("%d points take %d bytes", n, b.Len())
		}
		if n == 195 && os.Getenv("CURVES") != "" { // for looking at it
			if err := os.WriteFile(os.Getenv("CURVES"), b.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for d := xml.NewDecoder(bytes.NewReader(b.Bytes())); ; {
			_, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%d points: %v", n, err)
			}
		}
		if strings.Contains(b.String(), "NaN") || strings.Contains(b.String(), "Inf") || strings.Contains(b.String(), "ZgotmplZ") {
			t.Errorf("%d points: %s", n, b.String())
		}
	}
	text := curves(195).describe(curves(195).Points)
	if want := "3,990 calls sent in 3 min 15 s, 10 throttled. The rate in force was 100 calls a second at first, 19 at its lowest, 100 at its highest and 20 at the end. At most 38 waited, at 2 min 32 s."; text != want {
		t.Errorf("got %s", text)
	}
}
