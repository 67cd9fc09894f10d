package aws

import (
	"encoding/binary"
	"errors"
	"math"
	"time"
)

// CBOR (RFC 8949), as far as AWS's RPC protocol has it: what the SDKs prefer where
// a service speaks it.

// The major types, in the upper three bits of an item's first byte.
const (
	cborUint  = 0 << 5
	cborInt   = 1 << 5
	cborBytes = 2 << 5
	cborText  = 3 << 5
	cborList  = 4 << 5
	cborMap   = 5 << 5
	cborTag   = 6 << 5
	cborOther = 7 << 5
)

func cborHead(b []byte, major byte, n uint64) []byte {
	switch {
	case n < 24:
		return append(b, major|byte(n))
	case n <= math.MaxUint8:
		return append(b, major|24, byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, major|25), uint16(n))
	case n <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(b, major|26), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(b, major|27), n)
}

func appendCBOR(b []byte, value any) []byte {
	switch v := value.(type) {
	case object:
		b = cborHead(b, cborMap, uint64(len(v)))
		for _, f := range v {
			b = append(cborHead(b, cborText, uint64(len(f.name))), f.name...)
			b = appendCBOR(b, f.value)
		}
		return b
	case list:
		b = cborHead(b, cborList, uint64(len(v.items)))
		for _, item := range v.items {
			b = appendCBOR(b, item)
		}
		return b
	case bool:
		if v {
			return append(b, cborOther|21)
		}
		return append(b, cborOther|20)
	case int:
		return cborInteger(b, int64(v))
	case int64:
		return cborInteger(b, v)
	case float64:
		return binary.BigEndian.AppendUint64(append(b, cborOther|27), math.Float64bits(v))
	case time.Time:
		return cborInteger(append(b, cborTag|1), v.Unix())
	}
	s := text(value)
	return append(cborHead(b, cborText, uint64(len(s))), s...)
}

func cborInteger(b []byte, n int64) []byte {
	if n < 0 {
		return cborHead(b, cborInt, uint64(-(n + 1)))
	}
	return cborHead(b, cborUint, uint64(n))
}

var errCBOR = errors.New("not CBOR")

// cborReader reads what a client sent. Nothing is made larger than what is there.
type cborReader struct {
	b     []byte
	depth int
}

const (
	cborDeep    = 16
	cborEndless = math.MaxUint64 // the length of what goes on until a break
	cborBreak   = cborOther | 31
)

func (r *cborReader) head() (major byte, n uint64, err error) {
	if len(r.b) == 0 {
		return 0, 0, errCBOR
	}
	first := r.b[0]
	major, size := first&0xe0, 0
	r.b = r.b[1:]
	switch low := first & 0x1f; {
	case low < 24:
		return major, uint64(low), nil
	case low == 31:
		return major, cborEndless, nil
	case low > 27:
		return 0, 0, errCBOR
	default:
		size = 1 << (low - 24)
	}
	if len(r.b) < size {
		return 0, 0, errCBOR
	}
	for _, c := range r.b[:size] {
		n = n<<8 | uint64(c)
	}
	r.b = r.b[size:]
	if major == cborOther { // the bits of a float, whose size matters
		switch size {
		case 4:
			n = math.Float64bits(float64(math.Float32frombits(uint32(n))))
		case 8:
		default:
			return 0, 0, errCBOR
		}
		return cborOther | 27, n, nil
	}
	return major, n, nil
}

// value gives what encoding/json would give for the same.
func (r *cborReader) value() (any, error) {
	if r.depth++; r.depth > cborDeep {
		return nil, errCBOR
	}
	defer func() { r.depth-- }()
	major, n, err := r.head()
	if err != nil {
		return nil, err
	}
	switch major {
	case cborUint:
		return float64(n), nil
	case cborInt:
		return -1 - float64(n), nil
	case cborBytes, cborText:
		if n > uint64(len(r.b)) {
			return nil, errCBOR
		}
		s := string(r.b[:n])
		r.b = r.b[n:]
		return s, nil
	case cborList:
		items := []any{}
		for ; n > 0 && !r.end(n); n-- {
			item, err := r.value()
			if err != nil {
				return nil, err
			}
			items = append(items, item)
		}
		return items, nil
	case cborMap:
		m := map[string]any{}
		for ; n > 0 && !r.end(n); n-- {
			key, err := r.value()
			name, ok := key.(string)
			if err != nil || !ok {
				return nil, errCBOR
			}
			if m[name], err = r.value(); err != nil {
				return nil, err
			}
		}
		return m, nil
	case cborTag:
		return r.value()
	case cborOther | 27:
		return math.Float64frombits(n), nil
	}
	switch n {
	case 20, 21:
		return n == 21, nil
	case 22, 23:
		return nil, nil
	}
	return nil, errCBOR
}

// end tells whether a list without a length is over, and steps over its end.
func (r *cborReader) end(n uint64) bool {
	// An endless one counts down from the largest number and never gets far.
	if n < cborEndless-1<<32 || len(r.b) == 0 || r.b[0] != cborBreak {
		return false
	}
	r.b = r.b[1:]
	return true
}
