package inventory

import "slices"

// Calls says what a task asks, for who wants to know beforehand how much that is.
type Calls struct {
	Operation string // of the listing, as scopes have it; empty where they have none
	Service   string // where it is another than the task's
	Page      int    // things in one answer at most; 0: all of them
	Each      []Ask  // what is asked about each thing
	// Under is the listing whose things are asked about one by one, each with the listing
	// above; nil where there is none.
	Under *Calls
	// Of names the task that lists what Under does.
	Of string
	// Rest is a listing of what other tasks list, too, which is left to them.
	Rest bool
	// Everywhere is for what reads all accounts at once, and Nothing for what asks nothing.
	Everywhere, Nothing bool
	// Assumed says that nobody documents how much is in one answer.
	Assumed bool
}

// Ask is a further call for each thing of a listing.
type Ask struct {
	Operation string
	Many      int // how many things one call answers for; 0 is one
}

// Place is what tasks have limits of their own in.
type Place struct{ Provider, Account, Region, Service string }

// Spread gives the order in which a run begins tasks at these places, as indexes.
// Neighbours ask different services and regions: each has limits of its own, so side by
// side they finish soonest. Within a place the order stays.
func Spread[T any](tasks []T, place func(T) Place) []int {
	seen := make(map[Place]int)
	var turns [][]int
	for i, t := range tasks {
		p := place(t)
		turn := seen[p]
		seen[p]++
		if turn == len(turns) {
			turns = append(turns, nil)
		}
		turns[turn] = append(turns[turn], i)
	}
	return slices.Concat(turns...)
}
