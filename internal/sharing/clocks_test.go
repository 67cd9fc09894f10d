package sharing

import (
	"reflect"
	"testing"
	"time"
)

// Members and stores tell each other stretches of time and never a time, so that it does
// not matter whose clock is wrong.
func TestNobodysClockIsSent(t *testing.T) {
	var look func(path string, of reflect.Type)
	look = func(path string, of reflect.Type) {
		switch {
		case of == reflect.TypeFor[time.Time]():
			t.Errorf("%s is a time", path)
		case of.Kind() == reflect.Pointer:
			look(path, of.Elem())
		case of.Kind() == reflect.Struct:
			for i := range of.NumField() {
				look(path+"."+of.Field(i).Name, of.Field(i).Type)
			}
		}
	}
	for _, message := range []any{Ask{}, Grant{}, SlotAsk{}, SlotGrant{}} {
		look(reflect.TypeOf(message).Name(), reflect.TypeOf(message))
	}
}
