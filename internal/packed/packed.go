// Package packed turns a state into bytes and back. One function of the state's lists what
// it is made of; the same list writes and reads, so that the two cannot differ.
package packed

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"
)

// Errors of what was read.
var (
	ErrBroken = errors.New("the bytes are not a state")
	ErrOlder  = errors.New("the state is of an older form")
	ErrNewer  = errors.New("the state is of a newer form than this program knows")
)

// Packer writes the fields that it is shown, or reads them. Make one with [Write] or
// [Read]. After the first error it does nothing more.
type Packer struct {
	bytes   []byte
	reading bool
	err     error
}

// Write gives what writes, after what is there already.
func Write(after []byte) *Packer { return &Packer{bytes: after} }

// Read gives what reads.
func Read(from []byte) *Packer { return &Packer{bytes: from, reading: true} }

// Reading tells which it is.
func (p *Packer) Reading() bool { return p.reading }

// Bytes are what was written, or what is left to read.
func (p *Packer) Bytes() []byte { return p.bytes }

// Err tells whether all was read, and nothing is left.
func (p *Packer) Err() error {
	if p.err == nil && p.reading && len(p.bytes) > 0 {
		return ErrBroken
	}
	return p.err
}

// Fail says that what was read makes no sense.
func (p *Packer) Fail() {
	if p.reading && p.err == nil {
		p.err, p.bytes = ErrBroken, nil
	}
}

// Form is the first thing: which list this is, from 1. Another is refused.
func (p *Packer) Form(known byte) {
	if !p.reading {
		p.bytes = append(p.bytes, known)
		return
	}
	switch b := p.take(1); {
	case b == nil:
	case b[0] > known:
		p.err = ErrNewer
	case b[0] < known:
		p.err = ErrOlder
	}
}

func (p *Packer) take(n int) []byte {
	if p.err != nil || n > len(p.bytes) {
		p.Fail()
		return nil
	}
	b := p.bytes[:n]
	p.bytes = p.bytes[n:]
	return b
}

// Uint is a number that is small as a rule.
func (p *Packer) Uint(v *uint64) {
	if !p.reading {
		p.bytes = binary.AppendUvarint(p.bytes, *v)
		return
	}
	n, size := binary.Uvarint(p.bytes)
	if p.err != nil || size <= 0 {
		p.Fail()
		return
	}
	*v, p.bytes = n, p.bytes[size:]
}

// Int is a number that is small as a rule, and may be negative.
func (p *Packer) Int(v *int64) {
	if !p.reading {
		p.bytes = binary.AppendVarint(p.bytes, *v)
		return
	}
	n, size := binary.Varint(p.bytes)
	if p.err != nil || size <= 0 {
		p.Fail()
		return
	}
	*v, p.bytes = n, p.bytes[size:]
}

// Count is a number that is not negative.
func (p *Packer) Count(v *int) {
	if !p.reading && *v < 0 {
		p.err = fmt.Errorf("a count of %d cannot be kept", *v)
		return
	}
	n := uint64(*v)
	p.Uint(&n)
	if n > math.MaxInt/4 { // so that a few more can be added
		p.Fail()
		return
	}
	*v = int(n)
}

// Bool is yes or no.
func (p *Packer) Bool(v *bool) {
	n := uint64(0)
	if *v {
		n = 1
	}
	p.Uint(&n)
	if n > 1 {
		p.Fail()
	}
	*v = n == 1
}

// Float is a number that is neither infinite nor none.
func (p *Packer) Float(v *float64) {
	p.Number(v)
	if math.IsNaN(*v) || math.IsInf(*v, 0) {
		p.Fail()
	}
}

// Number is any number.
func (p *Packer) Number(v *float64) {
	if !p.reading {
		p.bytes = binary.LittleEndian.AppendUint64(p.bytes, math.Float64bits(*v))
	} else if b := p.take(8); b != nil {
		*v = math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
}

// Near is a number close to another that both sides know: it takes fewer bytes then.
func (p *Packer) Near(v *float64, to float64) {
	n := math.Float64bits(*v) ^ math.Float64bits(to)
	p.Uint(&n)
	*v = math.Float64frombits(n ^ math.Float64bits(to))
	if math.IsNaN(*v) || math.IsInf(*v, 0) {
		p.Fail()
	}
}

// Time is a time in whole microseconds. The zero Time is kept as such.
func (p *Packer) Time(v *time.Time) {
	n := uint64(v.UnixMicro())
	if !p.reading {
		p.bytes = binary.LittleEndian.AppendUint64(p.bytes, n)
	} else if b := p.take(8); b != nil {
		*v = time.UnixMicro(int64(binary.LittleEndian.Uint64(b)))
	}
}

// Span is a stretch of time.
func (p *Packer) Span(v *time.Duration) {
	n := uint64(*v)
	p.Uint(&n)
	*v = time.Duration(n)
}

// Text is a string of any bytes.
func (p *Packer) Text(v *string) {
	n := len(*v)
	p.Count(&n)
	if !p.reading {
		p.bytes = append(p.bytes, *v...)
	} else if b := p.take(n); b != nil {
		*v = string(b)
	}
}

// Most bounds how many things of a list can follow, of which each takes a byte at least.
func (p *Packer) Most(n int) bool {
	if p.reading && n > len(p.bytes) {
		p.Fail()
		return false
	}
	return p.err == nil
}
