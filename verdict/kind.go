package verdict

import "strconv"

// Kind says what an outcome means for the caller and for the rate.
type Kind int

// The kinds. Their numbers are not part of the API's promise, their text is.
const (
	// OK: it worked. Classify(nil), and recorded answers below 400 that carry no error.
	OK Kind = iota
	// Throttled: the provider wants less. Repeat later, and go slower.
	Throttled
	// Transient: repeat later; it has nothing to do with the rate.
	Transient
	// Fatal: repeating is useless.
	Fatal
	// Canceled: the caller's own context ended. No event of the service.
	Canceled
)

// String gives the kind in lower case: ok, throttled, transient, fatal, canceled.
func (k Kind) String() string {
	switch k {
	case OK:
		return "ok"
	case Throttled:
		return "throttled"
	case Transient:
		return "transient"
	case Fatal:
		return "fatal"
	case Canceled:
		return "canceled"
	}
	return "kind(" + strconv.Itoa(int(k)) + ")"
}
