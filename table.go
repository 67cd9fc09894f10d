package cloudpace

// table is a map that gives its memory back: Go's maps keep the room of the most
// they ever held. The zero table is empty and ready for use.
type table[K comparable, V any] struct {
	m    map[K]V
	most int // that it held since it was made anew
}

// tableKept is the size below which the room is not worth giving back.
const tableKept = 1024

func (t *table[K, V]) get(k K) V { return t.m[k] }

func (t *table[K, V]) set(k K, v V) {
	if t.m == nil {
		t.m = map[K]V{}
	}
	t.m[k] = v
	t.most = max(t.most, len(t.m))
}

// drop takes out what may be there. It may be used while ranging over t.m: what
// the range has not met stays in the old map, or in both.
func (t *table[K, V]) drop(k K) {
	delete(t.m, k)
	if t.most < tableKept || len(t.m) > t.most/4 {
		return
	}
	m := make(map[K]V, len(t.m))
	for k, v := range t.m {
		m[k] = v
	}
	t.m, t.most = m, len(m)
}
