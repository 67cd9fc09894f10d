package inventory

// Nearest gives the known name that a misspelt one most likely meant, or false
// when none is near: more than a third of the letters differ.
func Nearest(name string, known []string) (string, bool) {
	best, least := "", len(name)/3+1
	for _, k := range known {
		if d := distance(name, k); d < least || d == least && best == "" {
			best, least = k, d
		}
	}
	return best, best != ""
}

// distance counts the letters to insert, remove, change or swap with their
// neighbour (optimal string alignment). Names here are ASCII.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
