package learning

// Mark tells one call that was sent from others, when its outcome is told. The zero Mark
// is that of a call from which nothing is learned.
type Mark struct {
	at    float64 // when it was sent
	n     uint32  // the end of its number; 0 while it is held
	level float32 // what the model believed was left at the server
}

// Stamp is the mark of a call that goes at a time by somebody else's leave. It has no
// number, and no model knows it.
func Stamp(at float64) Mark { return Mark{at: -at} }

// Stamped tells when a call went that has such a mark.
func (k Mark) Stamped() (at float64, ok bool) { return -k.at, k.at < 0 }

// mark numbers a call that is sent now.
func (m *Model) mark(now float64) Mark {
	m.sent++
	if uint32(m.sent) == 0 {
		m.sent++ // a number that ends in 0 is none
		m.kept++
	}
	return Mark{at: now, n: uint32(m.sent), level: float32(m.level + float64(m.held))}
}

// number gives the whole number of a call.
func (m *Model) number(k Mark) int64 {
	return m.sent - int64(int32(uint32(m.sent)-k.n))
}

// Wait takes in that a call has its token and waits for something else. Its place in the
// count is where it goes in the end.
func (m *Model) Wait(k Mark) Mark {
	m.held++
	m.sent--
	return Mark{at: k.at}
}

// Leave takes in that a call goes that waited.
func (m *Model) Leave(now float64) Mark {
	m.held--
	return m.mark(now)
}

// Unsent takes a call back that never went.
func (m *Model) Unsent(k Mark) {
	if k.n == 0 {
		m.held--
	} else {
		m.sent--
	}
	m.inFlight--
	m.level = min(m.burst, m.level+1)
	m.next = max(m.pause, m.next-1/m.Pace())
}
