package bucket

import "time"

// Outcomes are what became of the tokens of a leased bucket that learns, since they were
// last told.
type Outcomes struct {
	Served  int           // calls that the server took in
	Last    time.Duration // the last of them was sent so long ago
	Trip    time.Duration // from sending one to its answer, on average
	Unknown int           // calls of which nothing is known
	Refused int           // calls that the server refused
	First   time.Duration // the first of them was sent so long ago
	Dropped int           // tokens that nobody will use and that are not to be used again
}

// Add gives what two tell, the second later by some time.
func (o Outcomes) Add(more Outcomes, later time.Duration) Outcomes {
	if more.Served > 0 {
		o.Trip = (o.Trip*time.Duration(o.Served) + more.Trip*time.Duration(more.Served)) / time.Duration(o.Served+more.Served)
		o.Last = more.Last
	} else {
		o.Last += later
	}
	if o.Refused == 0 {
		o.First = more.First
	} else {
		o.First += later
	}
	o.Served += more.Served
	o.Unknown += more.Unknown
	o.Refused += more.Refused
	o.Dropped += more.Dropped
	return o
}

// Total is how many tokens have come to an end.
func (o Outcomes) Total() int { return o.Served + o.Unknown + o.Refused + o.Dropped }

// outcomes gathers them.
type outcomes struct {
	Outcomes
	last, first time.Time     // when the last that was served and the first that was refused were sent
	trips       time.Duration // of all that were served
}

func (o *outcomes) served(now, sent time.Time) {
	o.Served++
	o.trips += now.Sub(sent)
	if sent.After(o.last) {
		o.last = sent
	}
}

func (o *outcomes) refused(sent time.Time) {
	if o.Refused++; o.first.IsZero() || sent.Before(o.first) {
		o.first = sent
	}
}

// tell gives what was gathered, and begins anew.
func (o *outcomes) tell(now time.Time) Outcomes {
	told := o.Outcomes
	if o.Served > 0 {
		told.Last, told.Trip = now.Sub(o.last), o.trips/time.Duration(o.Served)
	}
	if o.Refused > 0 {
		told.First = now.Sub(o.first)
	}
	*o = outcomes{}
	return told
}
