package sharing

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
	"unsafe"

	"pgregory.net/rapid"
)

// life is what members may say one after another to a bucket.
type life struct {
	now time.Time
	l   Limits
}

func newLife(t *rapid.T) *life {
	rate := rapid.SampledFrom([]float64{0.01, 0.33, 1, 20, 33.3, 1000, 12345.678}).Draw(t, "rate")
	return &life{time.UnixMicro(1_700_000_000_123_456), Limits{
		Rate: rate, Burst: math.Max(1, rate*rapid.SampledFrom([]float64{0.5, 1, 5}).Draw(t, "burst")), MinRate: rate / 10, MaxPause: 300 * sec,
		Learn: rapid.Bool().Draw(t, "learn"), Soft: rapid.Bool().Draw(t, "soft"), Adaptive: rapid.Bool().Draw(t, "adaptive"),
	}}
}

func (f *life) next(t *rapid.T) (now time.Time, name string, a Ask) {
	count := func(most int, what string) int {
		return max(0, rapid.IntRange(-most, most).Draw(t, what))
	}
	span := func(most time.Duration, what string) time.Duration {
		return time.Duration(count(int(most/time.Microsecond), what)) * time.Microsecond
	}
	if rapid.IntRange(0, 50).Draw(t, "clock") == 0 {
		f.now = f.now.Add(-span(sec, "back"))
	}
	if rapid.IntRange(0, 30).Draw(t, "limits") == 0 {
		f.l.Burst++
	}
	f.now = f.now.Add(span(2*sec, "passes"))
	a = Ask{
		Limits: f.l, Want: count(50, "want"), Back: count(5, "back"), Debt: count(2, "debt"), Drained: rapid.IntRange(0, 20).Draw(t, "drained") == 0,
		Succeeded: rapid.Bool().Draw(t, "succeeded"), Pause: span(ms, "pause"),
		Outcomes: Outcomes{
			Served: count(20, "served"), Last: span(sec, "last"), Trip: span(sec, "trip"), Unknown: count(2, "unknown"), Dropped: count(2, "dropped"),
		},
	}
	if rapid.IntRange(0, 5).Draw(t, "refused") == 0 {
		a.Throttled, a.Ago, a.Hint = true, span(sec, "ago"), span(2*sec, "hint")
		a.Refused, a.First = 1+count(5, "refusals"), span(sec, "first")
	}
	switch rapid.IntRange(0, 20).Draw(t, "circuit") {
	case 0:
		a.Opened = &Circuit{Left: span(20*sec, "left"), Cooldown: sec, Cause: "cause \xff"}
	case 1:
		a.Closed = true
	}
	a, err := a.Sane()
	if err != nil {
		t.Fatal(err)
	}
	return f.now, rapid.SampledFrom([]string{"a", "b", "", "d\x00e"}).Draw(t, "member"), a
}

// A bucket that goes through bytes before each ask answers as one that does not.
func TestBytesAndBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := newLife(t)
		var b Bucket
		kept, err := (&Bucket{}).MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 100).Draw(t, "asks") {
			var other Bucket
			if err := other.UnmarshalBinary(kept); err != nil {
				t.Fatal(err)
			}
			now, name, a := f.next(t)
			if got, want := other.Ask(now, name, a), b.Ask(now, name, a); !reflect.DeepEqual(got, want) {
				t.Fatalf("got  %+v\nwant %+v", got, want)
			}
			if kept, err = other.MarshalBinary(); err != nil {
				t.Fatal(err)
			}
			if same, err := b.MarshalBinary(); err != nil || !bytes.Equal(same, kept) {
				t.Fatalf("the same state gives other bytes, %v", err)
			}
			if other.Lasts(now) != b.Lasts(now) || !reflect.DeepEqual(other.Status(now), b.Status(now)) {
				t.Fatalf("status %+v, want %+v", other.Status(now), b.Status(now))
			}
		}
	})
}

// busy is a bucket with something in everything.
func busy(t testing.TB) *Bucket {
	t.Helper()
	b, now := &Bucket{}, time.UnixMicro(1_700_000_000_123_456)
	l := Limits{Rate: 20, Burst: 10, MinRate: 2, MaxPause: sec, Learn: true}
	for i := range 40 {
		now = now.Add(30 * ms)
		a := Ask{Limits: l, Want: 5, Outcomes: Outcomes{Served: 1, Last: 100 * ms, Trip: 50 * ms}}
		if i == 20 {
			a.Opened = &Circuit{Left: sec, Cooldown: 2 * sec, Cause: "503"}
			a.Outcomes, a.Throttled = Outcomes{Refused: 1}, true
		}
		b.Ask(now, "a", a)
	}
	b.throttled, b.cut, b.raised, b.paused = now, now, now, now
	return b
}

// leaves calls with every single value of a state, whatever holds it, and whether
// anything was added since this was written that it does not know.
func leaves(t *testing.T, v reflect.Value, path string, visit func(path string, v reflect.Value)) {
	if v.CanAddr() {
		v = reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem() // fields that are not exported too
	}
	if v.Type() == reflect.TypeFor[time.Time]() {
		visit(path, v)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			leaves(t, v.Field(i), path+"."+v.Type().Field(i).Name, visit)
		}
	case reflect.Pointer:
		leaves(t, v.Elem(), path, visit)
	case reflect.Slice:
		if v.Len() == 0 {
			t.Fatalf("%s is empty", path)
		}
		leaves(t, v.Index(v.Len()/2), path+"[]", visit)
	case reflect.Map:
		if v.Len() == 0 {
			t.Fatalf("%s is empty", path)
		}
		for _, k := range v.MapKeys() {
			leaves(t, v.MapIndex(k), fmt.Sprintf("%s[%v]", path, k), visit)
		}
	default:
		visit(path, v)
	}
}

// Whatever is in a bucket, down to its model, is in its bytes.
func TestBytesHaveEverything(t *testing.T) {
	var paths []string
	leaves(t, reflect.ValueOf(busy(t)), "Bucket", func(path string, _ reflect.Value) { paths = append(paths, path) })
	before, err := busy(t).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		b := busy(t)
		leaves(t, reflect.ValueOf(b), "Bucket", func(p string, v reflect.Value) {
			if p != path {
				return
			}
			switch x := v.Addr().Interface().(type) {
			case *time.Time:
				*x = x.Add(time.Microsecond)
			case *time.Duration:
				*x += time.Microsecond
			case *string:
				*x += "x"
			default:
				switch v.Kind() {
				case reflect.Bool:
					v.SetBool(!v.Bool())
				case reflect.Int, reflect.Int64:
					by := int64(1)
					if strings.HasSuffix(p, ".out") {
						by = -1 // more than are under way cannot be
					}
					v.SetInt(v.Int() + by)
				case reflect.Uint32, reflect.Uint64:
					v.SetUint(v.Uint() + 1)
				case reflect.Float32, reflect.Float64:
					if math.IsInf(v.Float(), 0) {
						v.SetFloat(1)
					}
					v.SetFloat(v.Float() + 0.0009765625)
				default:
					t.Fatalf("%s is of a kind that is new here: %s", p, v.Kind())
				}
			}
		})
		data, err := b.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Equal(data, before) {
			t.Errorf("%s is not in the bytes", path)
		}
		var got Bucket
		if err := got.UnmarshalBinary(data); err != nil {
			t.Errorf("%s changed: %v", path, err)
		} else if !reflect.DeepEqual(&got, b) {
			t.Errorf("%s is not read", path)
		}
	}
	if len(paths) < 70 {
		t.Errorf("only %d values were looked at", len(paths))
	}
}

// Other forms are told apart, so that a store can go on with one and leave the other alone.
func TestForms(t *testing.T) {
	data, err := busy(t).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	for form, want := range map[byte]error{0: nil, 2: ErrNewer, 255: ErrNewer} {
		var b Bucket
		err := b.UnmarshalBinary(append([]byte{form}, data[1:]...))
		if err == nil || errors.Is(err, ErrNewer) != (want != nil) {
			t.Errorf("form %d: %v", form, err)
		}
	}
	for n := range data {
		b := *busy(t)
		if err := b.UnmarshalBinary(data[:n]); err == nil || !reflect.DeepEqual(b, Bucket{}) {
			t.Fatalf("%d of %d bytes give %+v, %v", n, len(data), b, err)
		}
	}
}

// Numbers that no bucket comes to are refused.
func TestBytesWithoutSense(t *testing.T) {
	for name, spoil := range map[string]func(*Bucket){
		"a rate that is none":      func(b *Bucket) { b.rate = math.NaN() },
		"an endless rate":          func(b *Bucket) { b.limits.Rate = math.Inf(1) },
		"no rate":                  func(b *Bucket) { b.limits.Rate = 0 },
		"a negative rate":          func(b *Bucket) { b.rate = -1 },
		"a model for no limits":    func(b *Bucket) { b.learner.under = Limits{} },
		"a model from later":       func(b *Bucket) { b.learner.epoch = b.at.Add(sec) },
		"a time beyond all others": func(b *Bucket) { b.paused = time.UnixMicro(math.MaxInt64) },
		"a lot that is none":       func(b *Bucket) { b.learner.lots[0].first = math.NaN() },
		"a lot of nothing":         func(b *Bucket) { b.learner.lots[0].n = 0 },
		"a lot of more than all":   func(b *Bucket) { b.learner.lots[0].n = 1 << 40 },
		"a lot that goes back":     func(b *Bucket) { b.learner.lots[0].every = -1 },
	} {
		b := busy(t)
		spoil(b)
		data, err := b.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if err := new(Bucket).UnmarshalBinary(data); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

// Whatever the bytes are, they are refused, or give a bucket that can be asked.
func FuzzUnmarshalBucket(f *testing.F) {
	data, err := busy(f).MarshalBinary()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data, int64(0))
	var b Bucket
	b.Ask(time.UnixMicro(1_700_000_000_123_456), "a", Ask{Limits: ec2(), Want: 3})
	if data, err = b.MarshalBinary(); err != nil {
		f.Fatal(err)
	}
	f.Add(data, int64(1e9))
	f.Fuzz(func(t *testing.T, data []byte, later int64) {
		var b Bucket
		if b.UnmarshalBinary(data) != nil {
			return
		}
		l := ec2()
		if b.limits != (Limits{}) {
			l = b.limits
		}
		now := b.at.Add(min(max(0, time.Duration(later)), time.Hour))
		for i, a := range []Ask{
			{Want: 20}, {Want: 20, Outcomes: Outcomes{Served: 5, Trip: sec}}, {Throttled: true, Outcomes: Outcomes{Refused: 3, First: sec}},
			{Want: 20, Back: 5, Debt: 1}, {Want: 1000},
		} {
			a.Limits = l
			now = now.Add(time.Duration(i) * 100 * ms)
			g := b.Ask(now, "a", a)
			if !(g.Rate > 0 && g.Rate < math.Inf(1)) || !(g.Burst >= 1) || g.Tokens < 0 || g.Every < 0 || g.Again < 0 || g.Paused < 0 || g.Active < 1 {
				t.Fatalf("%+v is answered with %+v", a, g)
			}
		}
		b.Status(now)
		if b.Lasts(now) <= 0 {
			t.Fatal("it lasts for no time")
		}
		again, err := b.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		_ = new(Bucket).UnmarshalBinary(again) // hostile beginnings may end where no bucket does
	})
}
