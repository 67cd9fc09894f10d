package databricks

import "encoding/binary"

// writer writes Thrift's binary protocol. The methods that take a field's number
// write a field.
type writer struct{ b []byte }

func (w *writer) field(t byte, id int16) {
	w.b = append(w.b, t)
	w.b = binary.BigEndian.AppendUint16(w.b, uint16(id))
}

func (w *writer) length(n int) { w.b = binary.BigEndian.AppendUint32(w.b, uint32(n)) }

func (w *writer) begin(id int16) { w.field(tStruct, id) }

func (w *writer) end() { w.b = append(w.b, tStop) }

func (w *writer) bool(id int16, x bool) {
	w.field(tBool, id)
	if x {
		w.b = append(w.b, 1)
	} else {
		w.b = append(w.b, 0)
	}
}

func (w *writer) i32(id int16, x int32) {
	w.field(tI32, id)
	w.b = binary.BigEndian.AppendUint32(w.b, uint32(x))
}

func (w *writer) i64(id int16, x int64) {
	w.field(tI64, id)
	w.long(x)
}

func (w *writer) text(id int16, s string) {
	w.field(tString, id)
	w.value(s)
}

// value writes a text alone, as an item of a list.
func (w *writer) value(s string) {
	w.length(len(s))
	w.b = append(w.b, s...)
}

// list begins a list; its items follow.
func (w *writer) list(id int16, of byte, n int) {
	w.field(tList, id)
	w.b = append(w.b, of)
	w.length(n)
}

// long writes a number alone, as an item of a list.
func (w *writer) long(x int64) { w.b = binary.BigEndian.AppendUint64(w.b, uint64(x)) }
