package plan

// Limit is one line of the configuration. In each place that it is for there is a bucket
// of its own, or a pool of slots.
type Limit struct {
	Key  string // what sets it: "ratelimit.aws.services.lambda.max_rps"
	Name string // what it is of: "aws lambda"

	Rate, Burst float64 // of a bucket
	Slots       int     // of a pool, whose rate is 0
}

// Operation is what calls of one kind have to pass. A limit that is nil does not hold
// them.
type Operation struct {
	Leaf, Account, Provider *Limit // buckets: of the region, the account, the provider
	Slots                   *Limit // of the account
	// Held is for calls whose task keeps its slot from the first to the last.
	Held bool
}

// Listing is how much there is to read, and by which calls.
type Listing struct {
	Operation *Operation
	Items     int
	Page      int // items in one answer at most; 0: all
	Pages     int // where it is known, instead of what follows from Page
	Each      []Ask
	// Asked is how many of the calls of Each are made, where that is known: 1 is all.
	// 0 is 1, below 0 is none.
	Asked float64
	// Under is the listing whose items are asked about with this one, one by one.
	Under *Listing
}

// Ask is a further call for each item.
type Ask struct {
	Operation *Operation
	Many      int // items that one call answers for; 0 is 1
}

// Task is what one worker reads in one go.
type Task struct {
	Provider, Account, Region string
	Service                   string
	// Payer is the account whose tokens the calls take; empty: their own.
	Payer string
	Work  *Listing // nil: nothing is asked
}

// pages is how many answers n items come in: one at least.
func (l *Listing) pages(n int) int {
	switch {
	case l.Pages > 0:
		return l.Pages
	case l.Page <= 0 || n <= l.Page:
		return 1
	}
	return (n + l.Page - 1) / l.Page
}

// part is the i-th of n nearly equal parts of a whole.
func part(whole, i, n int) int { return whole*(i+1)/n - whole*i/n }

// Batches is how many calls of a kind are made about the items. They do not reach across
// pages.
func (l *Listing) Batches(a Ask) int {
	if a.Many < 2 {
		return l.Items
	}
	lists := 1
	if l.Under != nil {
		lists = l.Under.Items
	}
	n := 0
	for i := range lists {
		for left := part(l.Items, i, lists); left > 0; {
			size := left
			if l.Page > 0 {
				size = min(left, l.Page)
			}
			n += (size + a.Many - 1) / a.Many
			left -= size
		}
	}
	return n
}
