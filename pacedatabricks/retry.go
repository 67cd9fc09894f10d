package pacedatabricks

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/cloudpace/cloudpace"
)

// Retry is the schedule of repetitions. A zero field means what the governor's
// configuration says (databricks.retry), whose defaults are given here. What is
// out of range is brought into it, with one warning; a DelayMin above DelayMax is
// an error.
//
// The delay before the attempt after the nth is
//
//	min(max(proposed, DelayMin × 1.5^(n-1)), DelayMax)
//
// where proposed is the server's Retry-After, or DelayDefault without one.
type Retry struct {
	DelayMin     time.Duration // 1 s; from 0.1 s to 60 s
	DelayMax     time.Duration // 60 s; from 5 s to 1 h. It cuts longer hints of the server too.
	Duration     time.Duration // 900 s; from 1 s to 24 h. Of all attempts and sleeps, waits for tokens included.
	DelayDefault time.Duration // 5 s; from 1 s to 60 s
	Attempts     int           // 30; from 1 to 60, the first included
}

// growth of the least delay, from attempt to attempt.
const growth = 1.5

// delay is what is slept after attempt n, from 1, failed. It counts in seconds as
// numbers: the power outgrows a Duration.
func (r *Retry) delay(n int, proposed time.Duration) time.Duration {
	least := r.DelayMin.Seconds() * math.Pow(growth, float64(n-1))
	if least >= r.DelayMax.Seconds() {
		return r.DelayMax
	}
	return min(max(proposed, time.Duration(least*float64(time.Second))), r.DelayMax)
}

// setDefaults fills zero fields from the configuration, and those that are zero
// there too with what is built in.
func (r *Retry) setDefaults(configured cloudpace.DatabricksRetry) {
	for _, from := range []cloudpace.DatabricksRetry{configured, cloudpace.DefaultConfig().Databricks.Retry} {
		for _, field := range []struct {
			to   *time.Duration
			from time.Duration
		}{
			{&r.DelayMin, from.DelayMin}, {&r.DelayMax, from.DelayMax},
			{&r.Duration, from.Duration}, {&r.DelayDefault, from.DelayDefault},
		} {
			if *field.to == 0 {
				*field.to = field.from
			}
		}
		if r.Attempts == 0 {
			r.Attempts = from.Attempts
		}
	}
}

// clamp brings every field into its range. warning says what was changed, empty
// if nothing was.
func (r *Retry) clamp() (warning string) {
	var changed []string
	for _, field := range []struct {
		name        string
		value       *time.Duration
		least, most time.Duration
	}{
		{"DelayMin", &r.DelayMin, 100 * time.Millisecond, time.Minute},
		{"DelayMax", &r.DelayMax, 5 * time.Second, time.Hour},
		{"Duration", &r.Duration, time.Second, 24 * time.Hour},
		{"DelayDefault", &r.DelayDefault, time.Second, time.Minute},
	} {
		if in := min(max(*field.value, field.least), field.most); in != *field.value {
			changed = append(changed, fmt.Sprintf("%s is %s (allowed: %s to %s), taken as %s", field.name, *field.value, field.least, field.most, in))
			*field.value = in
		}
	}
	if in := min(max(r.Attempts, 1), 60); in != r.Attempts {
		changed = append(changed, fmt.Sprintf("Attempts is %d (allowed: 1 to 60), taken as %d", r.Attempts, in))
		r.Attempts = in
	}
	return strings.Join(changed, "; ")
}

// check finds what no clamping mends.
func (r *Retry) check() error {
	if r.DelayMin > r.DelayMax {
		return fmt.Errorf("pacedatabricks: retry: DelayMin is %s (allowed: at most DelayMax, which is %s)", r.DelayMin, r.DelayMax)
	}
	return nil
}
