package inventory

import "github.com/cloudpace/cloudpace/internal/editdistance"

// Nearest gives the known name that a misspelt one most likely meant, or false
// when none is near: more than a third of the letters differ.
func Nearest(name string, known []string) (string, bool) {
	best, least := "", len(name)/3+1
	for _, k := range known {
		if d := editdistance.Of(name, k); d < least || d == least && best == "" {
			best, least = k, d
		}
	}
	return best, best != ""
}
