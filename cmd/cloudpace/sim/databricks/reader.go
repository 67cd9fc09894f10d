package databricks

import "encoding/binary"

// The types of Thrift's binary protocol.
const (
	tStop   byte = 0
	tBool   byte = 2
	tByte   byte = 3
	tDouble byte = 4
	tI16    byte = 6
	tI32    byte = 8
	tI64    byte = 10
	tString byte = 11
	tStruct byte = 12
	tMap    byte = 13
	tSet    byte = 14
	tList   byte = 15
)

// deepest is how far values may be nested.
const deepest = 32

// reader reads Thrift's binary protocol. What cannot be read makes it bad, and
// from then on everything is zero.
type reader struct {
	b     []byte
	bad   bool
	depth int
}

func (r *reader) fail() { r.b, r.bad = nil, true }

func (r *reader) take(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.fail()
		return nil
	}
	taken := r.b[:n]
	r.b = r.b[n:]
	return taken
}

func (r *reader) octet() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) i16() int16 {
	if b := r.take(2); b != nil {
		return int16(binary.BigEndian.Uint16(b))
	}
	return 0
}

func (r *reader) i32() int32 {
	if b := r.take(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

func (r *reader) i64() int64 {
	if b := r.take(8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

// bytes gives a text or binary. It is part of what is being read.
func (r *reader) bytes() []byte { return r.take(int(r.i32())) }

// each calls read for every field of a struct. A field that read does not take
// is skipped.
func (r *reader) each(read func(id int16, t byte) bool) {
	if r.depth++; r.depth > deepest {
		r.fail()
	}
	for !r.bad {
		t := r.octet()
		if t == tStop {
			break
		}
		if id := r.i16(); !r.bad && !read(id, t) {
			r.skip(t)
		}
	}
	r.depth--
}

func (r *reader) skip(t byte) {
	switch t {
	case tBool, tByte:
		r.take(1)
	case tI16:
		r.take(2)
	case tI32:
		r.take(4)
	case tI64, tDouble:
		r.take(8)
	case tString:
		r.bytes()
	case tStruct:
		r.each(func(int16, byte) bool { return false })
	case tMap:
		key, value := r.octet(), r.octet()
		r.items(key, value)
	case tSet, tList:
		r.items(r.octet())
	default:
		r.fail()
	}
}

// items skips as many times all the types given. Every value has at least a byte,
// so that a number that lies ends with the bytes.
func (r *reader) items(types ...byte) {
	if r.depth++; r.depth > deepest {
		r.fail()
	}
	for n := r.i32(); n > 0 && !r.bad; n-- {
		for _, t := range types {
			r.skip(t)
		}
	}
	r.depth--
}
