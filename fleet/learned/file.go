package learned

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/internal/wholefile"
)

// version is that of the file's form. It changes when an older program would misread
// what a newer one writes.
const version = 1

// The file's bounds. One entry takes some 300 bytes, so the entries of the largest run
// fit; a file that is larger is not one of ours.
const (
	mostEntries = 20_000
	mostBytes   = 64 << 20
)

// lockPatience is how long a write waits for other processes. A write takes
// milliseconds.
const lockPatience = 2 * time.Second

// NewerError says that a file was written by a later version of cloudpace. It is left
// alone.
type NewerError struct {
	Path    string
	Version int
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("%s has form %d, and this version of cloudpace reads form %d", e.Path, e.Version, version)
}

// document is what the file holds.
type document struct {
	Version int `json:"version"`
	cloudpace.Learned
}

// DefaultPath is the file that is kept where no other is named:
// cloudpace/learned.json in the user's cache directory.
func DefaultPath() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("where to keep what was learned: %w", err)
	}
	return filepath.Join(dir, "cloudpace", "learned.json"), nil
}

// Read gives what is in a file, less what is over. One that is not there is empty. The
// error is a [*NewerError] where a later version wrote it.
func Read(path string) (cloudpace.Learned, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return cloudpace.Learned{}, nil
	}
	if err != nil {
		return cloudpace.Learned{}, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostBytes+1))
	if err != nil {
		return cloudpace.Learned{}, err
	}
	l, err := parse(path, text)
	return current(l, time.Now()), err
}

func parse(path string, text []byte) (cloudpace.Learned, error) {
	if len(text) > mostBytes {
		return cloudpace.Learned{}, fmt.Errorf("%s is larger than %d MiB", path, mostBytes>>20)
	}
	var d document
	err := json.Unmarshal(text, &struct {
		Version *int `json:"version"`
	}{&d.Version})
	switch {
	case err != nil:
		return cloudpace.Learned{}, fmt.Errorf("%s cannot be read: %w", path, err)
	case d.Version > version:
		return cloudpace.Learned{}, &NewerError{path, d.Version}
	case d.Version < 1:
		return cloudpace.Learned{}, fmt.Errorf("%s cannot be read: version %d", path, d.Version)
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return cloudpace.Learned{}, fmt.Errorf("%s cannot be read: %w", path, err)
	}
	return d.Learned, nil
}

// oldest is how long anything is remembered but what was learned of a quota: the longest
// that it can matter, a quota of a day. skew is how far the clock may have been set back since.
const (
	oldest = 25 * time.Hour
	skew   = time.Minute
)

// current leaves out what is over, and what was written by a clock that was wrong: it
// would pass for the newest until that time comes.
func current(l cloudpace.Learned, now time.Time) cloudpace.Learned {
	gone := func(at, over time.Time) bool {
		return !over.After(now) || at.After(now.Add(skew))
	}
	l.Scopes = slices.DeleteFunc(l.Scopes, func(e cloudpace.LearnedScope) bool {
		return gone(e.Time, e.Over()) || e.Quota == nil && e.Time.Before(now.Add(-oldest))
	})
	l.Budgets = slices.DeleteFunc(l.Budgets, func(b cloudpace.LearnedBudget) bool { return gone(b.Time, b.Over()) })
	return l
}

// join gives what both know: of each budget the newer entry, of each bucket [both].
// Where that is too much, those that last longest are kept.
func join(a, b cloudpace.Learned) (l cloudpace.Learned) {
	l.Scopes = merged(a.Scopes, b.Scopes,
		func(e cloudpace.LearnedScope) string { return e.Scope + " " + e.Level },
		func(e cloudpace.LearnedScope) time.Time { return e.Time }, both)
	l.Budgets = merged(a.Budgets, b.Budgets,
		func(e cloudpace.LearnedBudget) string { return e.Provider },
		func(e cloudpace.LearnedBudget) time.Time { return e.Time },
		func(_, newer cloudpace.LearnedBudget) cloudpace.LearnedBudget { return newer })
	if len(l.Scopes) > mostEntries {
		slices.SortFunc(l.Scopes, func(a, b cloudpace.LearnedScope) int { return b.Over().Compare(a.Over()) })
		l.Scopes = l.Scopes[:mostEntries]
	}
	slices.SortFunc(l.Scopes, func(a, b cloudpace.LearnedScope) int {
		return cmp.Or(cmp.Compare(a.Scope, b.Scope), cmp.Compare(a.Level, b.Level))
	})
	slices.SortFunc(l.Budgets, func(a, b cloudpace.LearnedBudget) int { return cmp.Compare(a.Provider, b.Provider) })
	return l
}

// both gives what two processes know of a bucket. One that was never refused must not
// make the other's throttles forgotten: the rate is that of the later throttle, and the
// later end of a pause, an open circuit or a used-up quota counts. Time ends these, so
// that nothing is held for longer than one process alone would hold it.
func both(older, newer cloudpace.LearnedScope) cloudpace.LearnedScope {
	e := newer
	if older.Throttled.After(newer.Throttled) {
		e.Time, e.RPS, e.MaxRPS, e.Burst, e.Tokens, e.Throttled = older.Time, older.RPS, older.MaxRPS, older.Burst, older.Tokens, older.Throttled
		e.Quota = older.Quota
	}
	if e.Quota == nil {
		e.Quota = older.Quota
	}
	if older.PausedUntil.After(e.PausedUntil) {
		e.PausedUntil = older.PausedUntil
	}
	if older.OpenUntil.After(e.OpenUntil) {
		e.OpenUntil, e.CooldownSeconds, e.Cause = older.OpenUntil, older.CooldownSeconds, older.Cause
	}
	if older.Closed.After(e.Closed) {
		e.Closed = older.Closed
	}
	if began := e.OpenUntil.Add(-time.Duration(e.CooldownSeconds * float64(time.Second))); !e.OpenUntil.IsZero() && !began.After(e.Closed) {
		e.OpenUntil, e.CooldownSeconds, e.Cause = time.Time{}, 0, nil // a try has closed it since
	}
	if older.BarredUntil.After(e.BarredUntil) {
		e.BarredUntil, e.Cause = older.BarredUntil, older.Cause
	}
	return e
}

func merged[E any](a, b []E, key func(E) string, at func(E) time.Time, merge func(older, newer E) E) []E {
	all := make(map[string]E, len(a)+len(b))
	for _, e := range slices.Concat(a, b) {
		switch had, ok := all[key(e)]; {
		case !ok:
			all[key(e)] = e
		case at(e).Before(at(had)):
			all[key(e)] = merge(e, had)
		default:
			all[key(e)] = merge(had, e)
		}
	}
	list := make([]E, 0, len(all))
	for _, e := range all {
		list = append(list, e)
	}
	return list
}

// write joins l with what is in the file, and replaces it. What cannot be read is
// replaced too, unless it is of a later version.
func write(ctx context.Context, path string, l cloudpace.Learned) error {
	return locked(ctx, path, func() error {
		there, err := Read(path)
		var newer *NewerError
		if errors.As(err, &newer) {
			return err
		}
		return put(path, current(join(there, l), time.Now()))
	})
}

func put(path string, l cloudpace.Learned) error {
	text, err := json.MarshalIndent(document{version, l}, "", " ")
	if err != nil {
		return err
	}
	return wholefile.Write(filepath.Dir(path), filepath.Base(path), 0o600, func(w io.Writer) error {
		_, err := io.Copy(w, bytes.NewReader(append(text, '\n')))
		return err
	})
}

// locked runs f while no other process does the same with the path.
func locked(ctx context.Context, path string, f func() error) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	lock := flock.New(path + ".lock")
	if ok, err := lock.TryLockContext(ctx, 5*time.Millisecond); err != nil || !ok {
		return fmt.Errorf("%s is locked by others: %w", path, cmp.Or(err, context.DeadlineExceeded))
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	return f()
}

// Forget takes out of a file what keep leaves out, everything with nil, and tells how
// many entries that were. With nil it works also where the file cannot be read, or is of
// a later version; it is then gone, with entries that nobody counts.
func Forget(ctx context.Context, path string, keep func(cloudpace.Learned) cloudpace.Learned) (forgotten int, err error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	err = locked(ctx, path, func() error {
		l, err := Read(path)
		before := len(l.Scopes) + len(l.Budgets)
		if keep == nil {
			forgotten = before
			return os.Remove(path)
		}
		if err != nil {
			return err
		}
		l = keep(l)
		forgotten = before - len(l.Scopes) - len(l.Budgets)
		return put(path, l)
	})
	return forgotten, err
}
