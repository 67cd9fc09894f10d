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
	Dropped int           // tokens that were taken away unused
}

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
