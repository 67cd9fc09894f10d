package config

import (
	"strings"

	"github.com/cloudpace/cloudpace/internal/editdistance"
)

// nearest gives the known name that was probably meant by one that is not known:
// at most three letters away, and not more than a third of it. "" is none.
func nearest(name string, known []string) string {
	if len(name) > 64 {
		return ""
	}
	best, at := "", 4
	for _, k := range known {
		limit := min(3, max(1, len(k)/3))
		d := editdistance.Of(strings.ToLower(strings.ReplaceAll(name, "-", "_")), k)
		if d <= limit && d < at {
			best, at = k, d
		}
	}
	return best
}
