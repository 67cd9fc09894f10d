package databricks

import (
	"encoding/binary"
	"strings"
)

// The kinds of Thrift messages.
const (
	msgCall      byte = 1
	msgReply     byte = 2
	msgException byte = 3
)

// message is a call of TCLIService, with what is wanted of its arguments. The
// numbers of fields are those of TCLIService.thrift.
type message struct {
	name   string
	seq    int32
	strict bool // the header has a version, as all do that are written today

	session, operation guid
	statement          string
	async              bool
	direct             bool // results are wanted in the first answer, directRows at most
	directRows         int64
	protocol           int64
	orientation        int32
	maxRows            int64
	from               int64 // the row to begin with, -1 for where it is
	metadata           bool
	info               int32
}

const strictVersion = 0x8001

// parseMessage reads a call; false where it is none.
func parseMessage(b []byte) (*message, bool) {
	m := &message{from: -1}
	r := &reader{b: b}
	kind := byte(0)
	if len(b) >= 4 && b[0]&0x80 != 0 {
		if binary.BigEndian.Uint16(b) != strictVersion {
			return nil, false // the compact protocol, for one
		}
		m.strict = true
		kind = byte(r.i32())
		m.name = string(r.bytes())
	} else {
		m.name = string(r.bytes())
		kind = r.octet()
	}
	m.seq = r.i32()
	if r.bad || kind != msgCall || !named(m.name) {
		return nil, false
	}
	r.each(func(id int16, t byte) bool {
		if id != 1 || t != tStruct {
			return false
		}
		r.each(func(id int16, t byte) bool { return m.argument(r, id, t) })
		return true
	})
	return m, !r.bad
}

// named tells whether a name can be shown and counted.
func named(s string) bool {
	return s != "" && len(s) <= 40 && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

// argument reads a field of a call's request, if it is one that matters.
func (m *message) argument(r *reader, id int16, t byte) bool {
	switch {
	case id == 1 && t == tStruct:
		// A session's or an operation's handle: the identifier is its first field.
		h := r.handle()
		if m.name == "ExecuteStatement" || m.name == "CloseSession" || m.name == "GetInfo" {
			m.session = h
		} else {
			m.operation = h
		}
	case m.name == "OpenSession" && id == 1 && t == tI32:
		m.protocol = max(m.protocol, int64(r.i32()))
	case m.name == "OpenSession" && id == 1282 && t == tI64:
		m.protocol = r.i64()
	case m.name == "GetInfo" && id == 2 && t == tI32:
		m.info = r.i32()
	case m.name == "ExecuteStatement":
		return m.execute(r, id, t)
	case m.name == "FetchResults":
		return m.fetch(r, id, t)
	default:
		return false
	}
	return true
}

func (m *message) execute(r *reader, id int16, t byte) bool {
	switch {
	case id == 2 && t == tString:
		m.statement = string(r.bytes())
	case id == 4 && t == tBool:
		m.async = r.octet() != 0
	case id == 1281 && t == tStruct:
		m.direct = true
		r.each(func(id int16, t byte) bool {
			if id != 1 || t != tI64 {
				return false
			}
			m.directRows = r.i64()
			return true
		})
	default:
		return false
	}
	return true
}

func (m *message) fetch(r *reader, id int16, t byte) bool {
	switch {
	case id == 2 && t == tI32:
		m.orientation = r.i32()
	case id == 3 && t == tI64:
		m.maxRows = r.i64()
	case id == 1282 && t == tI64:
		m.from = max(0, r.i64())
	case id == 1283 && t == tBool:
		m.metadata = r.octet() != 0
	default:
		return false
	}
	return true
}

// handle reads the id out of a handle; zero where there is none.
func (r *reader) handle() (id guid) {
	r.each(func(n int16, t byte) bool {
		if n != 1 || t != tStruct {
			return false
		}
		r.each(func(n int16, t byte) bool {
			if n != 1 || t != tString {
				return false
			}
			if b := r.bytes(); len(b) == len(id) {
				copy(id[:], b)
			}
			return true
		})
		return true
	})
	return id
}

// begin writes a header in the dialect of the call.
func (m *message) begin(kind byte) *writer {
	w := &writer{b: make([]byte, 0, 256)}
	if m.strict {
		w.b = binary.BigEndian.AppendUint32(w.b, strictVersion<<16|uint32(kind))
		w.value(m.name)
	} else {
		w.value(m.name)
		w.b = append(w.b, kind)
	}
	w.b = binary.BigEndian.AppendUint32(w.b, uint32(m.seq))
	return w
}

// The codes of TApplicationException.
const unknownMethod = 1

func (m *message) exception(code int32, text string) []byte {
	w := m.begin(msgException)
	w.text(1, text)
	w.i32(2, code)
	w.end()
	return w.b
}
