package databricks

import (
	"strings"
	"sync"
	"time"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// state is where a statement is.
type state int

const (
	running state = iota
	finished
	canceled
	failed
)

// operation is a statement that was executed, once.
type operation struct {
	id      guid
	session *session // nil where the API has none
	begun   time.Time
	changes bool // it changes rows

	mu      sync.Mutex
	state   state
	ended   time.Time
	polls   int    // that found it running
	failure string // what it will fail with
	next    int    // the row that a fetch goes on with
}

// session has its operations, which end with it.
type session struct {
	mu   sync.Mutex
	open map[guid]bool
}

func (s *session) add(id guid) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.open) >= mostOpen {
		clear(s.open) // nor do their ids stay
	}
	s.open[id] = true
}

func (s *session) remove(id guid) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, id)
}

func (s *session) all() []guid {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]guid, 0, len(s.open))
	for id := range s.open {
		list = append(list, id)
	}
	return list
}

// execute runs a statement: here it is counted.
func (f *Front) execute(text string, in *session, s sim.Setting) *operation {
	f.executed.count(text)
	o := &operation{id: f.newID(s), session: in, begun: time.Now(), changes: changes(text), failure: failure(text)}
	f.operations.add(o.id, o)
	if in != nil {
		in.add(o.id)
	}
	return o
}

// close ends a statement, and what it had is gone.
func (f *Front) close(id guid) bool {
	o := f.operations.remove(id)
	if o != nil && o.session != nil {
		o.session.remove(id)
	}
	return o != nil
}

// changes tells statements that change rows by their first word.
func changes(text string) bool {
	word, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	switch strings.ToUpper(word) {
	case "INSERT", "UPDATE", "DELETE", "MERGE":
		return true
	}
	return false
}

// failure gives the message of a statement that raises an error.
func failure(text string) string {
	_, rest, ok := strings.Cut(text, "raise_error(")
	if !ok {
		return ""
	}
	rest, _, _ = strings.Cut(rest, ")")
	return "[USER_RAISED_EXCEPTION] " + strings.Trim(rest, `'" `) + " SQLSTATE: P0001"
}

// look gives the state. A poll counts; within is the time that the client would
// wait for an answer, which passes at once.
func (o *operation) look(s sim.Setting, poll bool, within time.Duration) state {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.state != running {
		return o.state
	}
	now := time.Now()
	w := s.Warehouse
	spent := (now.Sub(o.begun) + within).Seconds() * s.Speed
	if spent < w.Seconds || o.polls < w.Polls && within == 0 {
		if poll {
			o.polls++
		}
		return running
	}
	o.state, o.ended = finished, now
	if o.failure != "" {
		o.state = failed
	}
	return o.state
}

// cancel stops a statement that runs.
func (o *operation) cancel() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.state == running {
		o.state, o.ended = canceled, time.Now()
	}
}

// page takes rows off the result: the client's cursor moves, so that a page that
// is lost on the way is missing. Of an edited page it may not.
func (o *operation) page(m *message, s sim.Setting, e sim.Edit) (from, to int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case m.from >= 0:
		o.next = int(min(m.from, int64(s.Warehouse.Rows)))
	case m.orientation == fetchFirst:
		o.next = 0
	}
	n := s.Warehouse.PageRows
	if m.maxRows > 0 {
		n = int(min(m.maxRows, int64(n)))
	}
	from = o.next
	to = min(from+n, s.Warehouse.Rows)
	if e.EmptyPage {
		to = from
	}
	if !e.RepeatToken {
		o.next = to
	}
	return from, to
}

// at gives both times in milliseconds since 1970; the second is 0 until it is
// over.
func (o *operation) at() (begun, ended int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended.IsZero() {
		return o.begun.UnixMilli(), 0
	}
	return o.begun.UnixMilli(), o.ended.UnixMilli()
}
