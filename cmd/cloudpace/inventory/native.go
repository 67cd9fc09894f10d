package inventory

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"sync"
	"time"
)

// Native gives what an SDK answered as JSON under the provider's own names, the
// fields in the order the SDK declares them. Left out is what says nothing: nil
// pointers, empty lists and maps, zero values that are not behind a pointer, and
// the SDK's own bookkeeping (ResultMetadata, unexported fields). A pointer to a
// zero value stays, because the provider said so.
//
// It panics on a value that JSON cannot hold, such as a channel, which no
// answer has; a task that panics is a record, see [Run].
func Native(v any) json.RawMessage {
	var b bytes.Buffer
	if !native(&b, reflect.ValueOf(v)) {
		return json.RawMessage("{}")
	}
	return b.Bytes()
}

// native appends v and reports whether there was something to say.
func native(b *bytes.Buffer, v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Invalid:
		return false
	case reflect.Pointer:
		if v.IsNil() {
			return false
		}
		if v = v.Elem(); v.Kind() == reflect.Struct && v.Type() != timeType {
			return native(b, v)
		}
		leaf(b, v)
		return true
	case reflect.Interface:
		return !v.IsNil() && native(b, v.Elem())
	case reflect.Struct:
		if v.Type() == timeType {
			if v.IsZero() {
				return false
			}
			leaf(b, v)
			return true
		}
		return nativeStruct(b, v)
	case reflect.Slice, reflect.Array:
		if v.Len() == 0 {
			return false
		}
		if v.Type().Elem().Kind() == reflect.Uint8 {
			leaf(b, v)
			return true
		}
		b.WriteByte('[')
		for i := range v.Len() {
			if i > 0 {
				b.WriteByte(',')
			}
			element(b, v.Index(i))
		}
		b.WriteByte(']')
		return true
	case reflect.Map:
		return nativeMap(b, v)
	}
	if v.IsZero() {
		return false
	}
	leaf(b, v)
	return true
}

// nativeStruct appends the fields that say something. A struct of which none
// does says nothing either.
func nativeStruct(b *bytes.Buffer, v reflect.Value) bool {
	start := b.Len()
	b.WriteByte('{')
	empty := true
	for _, f := range fieldsOf(v.Type()) {
		mark := b.Len()
		if !empty {
			b.WriteByte(',')
		}
		b.WriteString(f.key)
		if native(b, v.Field(f.index)) {
			empty = false
		} else {
			b.Truncate(mark)
		}
	}
	if empty {
		b.Truncate(start)
		return false
	}
	b.WriteByte('}')
	return true
}

// nativeMap appends a map with its keys sorted. A value that says nothing keeps
// its key: in a map the key is what the provider said.
func nativeMap(b *bytes.Buffer, v reflect.Value) bool {
	if v.Len() == 0 {
		return false
	}
	whole := make(map[string]json.RawMessage, v.Len())
	for it := v.MapRange(); it.Next(); {
		var e bytes.Buffer
		element(&e, it.Value())
		whole[fmt.Sprint(it.Key())] = e.Bytes()
	}
	leaf(b, reflect.ValueOf(whole))
	return true
}

// element appends what stands in a list or map, where nothing can be left out.
func element(b *bytes.Buffer, v reflect.Value) {
	if native(b, v) {
		return
	}
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			b.WriteString("null")
			return
		}
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Struct, reflect.Map:
		b.WriteString("{}")
	case reflect.Slice, reflect.Array:
		b.WriteString("[]")
	default:
		leaf(b, v)
	}
}

func leaf(b *bytes.Buffer, v reflect.Value) {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v.Interface()); err != nil {
		panic(fmt.Sprintf("inventory: native properties: %v", err))
	}
	b.Truncate(b.Len() - 1) // the encoder's newline
}

var timeType = reflect.TypeFor[time.Time]()

// field is a struct field worth looking at and its key, quoted, with the colon.
type field struct {
	index int
	key   string
}

// fields caches per type: an estate has a million values of a few types.
var fields sync.Map // reflect.Type -> []field

func fieldsOf(t reflect.Type) []field {
	if known, ok := fields.Load(t); ok {
		return known.([]field)
	}
	var list []field
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() || f.Name == "ResultMetadata" {
			continue
		}
		list = append(list, field{i, fmt.Sprintf("%q:", f.Name)})
	}
	fields.Store(t, list)
	return list
}
