package pacegcp

import (
	"testing"
	"time"
)

// Quotas per day are renewed at midnight in California, in summer and in winter.
func TestRenewal(t *testing.T) {
	for now, want := range map[string]string{
		"2026-01-15T00:00:00Z": "2026-01-15T08:00:00Z",
		"2026-01-15T08:00:00Z": "2026-01-16T08:00:00Z",
		"2026-07-15T06:59:59Z": "2026-07-15T07:00:00Z",
		"2026-12-31T12:00:00Z": "2027-01-01T08:00:00Z",
	} {
		at, err := time.Parse(time.RFC3339, now)
		if err != nil {
			t.Fatal(err)
		}
		if got := renewal(at).UTC().Format(time.RFC3339); got != want {
			t.Errorf("at %s: %s, want %s", now, got, want)
		}
	}
}
