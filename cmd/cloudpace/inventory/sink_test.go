package inventory

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// disk is a file in memory that can be full.
type disk struct {
	full error
	room int // for so many bytes before it is full

	mu     sync.Mutex
	text   bytes.Buffer
	writes int
}

func (d *disk) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.writes++
	if room := d.room - d.text.Len(); d.full != nil && len(p) > room {
		d.text.Write(p[:room])
		return room, d.full
	}
	return d.text.Write(p)
}

func (d *disk) Truncate(size int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.text.Truncate(int(size))
	return nil
}

func (d *disk) Close() error { return nil }

func (d *disk) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.text.String()
}

// halfLine tells whether what is written ends within a line.
func (d *disk) halfLine() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.text.Len() > 0 && !bytes.HasSuffix(d.text.Bytes(), []byte("}\n"))
}

func onDisk(d *disk) *Sink {
	return newSink(func() (file, error) { return d, nil }, func() (file, error) { return discard{}, nil })
}

// TestSinkWholeLines: whatever moment a run is killed, what is in the file are
// whole lines, and the last of them is at most a second old.
func TestSinkWholeLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := new(disk)
		s := onDisk(d)
		for i := range 5000 {
			if err := s.Write(Asset{ID: fmt.Sprint(i), Name: strings.Repeat("x", 100)}, nil); err != nil {
				t.Fatal(err)
			}
			if d.halfLine() {
				t.Fatal("the file ends within a line")
			}
		}
		if n := strings.Count(d.String(), "\n"); n < 4500 {
			t.Errorf("%d lines were written of 5,000, and %d bytes should wait at the most", n, flushBytes)
		}
		time.Sleep(flushAfter)
		synctest.Wait()
		if d.writes > 20 {
			t.Errorf("%d writes for 5,000 lines", d.writes)
		}
		if n := strings.Count(d.String(), "\n"); n != 5000 {
			t.Errorf("%d lines after a second, want 5000", n)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := s.Write(Asset{}, nil); !errors.Is(err, errClosed) {
			t.Errorf("writing after the end: %v", err)
		}
	})
}

func TestSinkConcurrent(t *testing.T) {
	d := new(disk)
	s := onDisk(d)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 200 {
				if err := s.Write(Asset{Type: "T", ID: fmt.Sprint(i)}, nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(d.String(), "\n"), "\n")
	for _, line := range lines {
		if !json.Valid([]byte(line)) {
			t.Fatalf("not JSON: %s", line)
		}
	}
	if places, total := s.Counts(); len(lines) != 1600 || total != 1600 || places.ByType()["T"] != 1600 {
		t.Errorf("%d lines, counted %d, %v", len(lines), total, places)
	}
}

// TestSinkReplaces: older files stay until there is something new, then both go,
// and a reader of the old one still has it.
func TestSinkReplaces(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{AssetsFile, RunFile} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := NewSink(dir)
	if text, err := os.ReadFile(filepath.Join(dir, AssetsFile)); err != nil || string(text) != "old" || s.Written() {
		t.Errorf("before the first line: %q, %v", text, err)
	}
	if err := s.Write(Asset{ID: "new"}, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, AssetsFile))
	if err != nil || strings.Contains(string(text), "old") || !strings.Contains(string(text), "new") || !s.Written() {
		t.Errorf("after it: %q, %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(dir, RunFile)); !os.IsNotExist(err) {
		t.Errorf("the run.json of the older assets is still there (%v)", err)
	}
}

// TestS15_5DiskFull: what fitted is there in whole lines, and the summary and the
// records say what is there and not what was read.
func TestS15_5DiskFull(t *testing.T) {
	full := errors.New("no space left on device")
	for _, room := range []int{0, 1, 500, 999, 1000} {
		t.Run(fmt.Sprint(room), func(t *testing.T) {
			d := &disk{full: full, room: room}
			emit := func(n int) func(context.Context, *Output) error {
				return func(_ context.Context, out *Output) error {
					for i := range n {
						if err := out.Emit(Asset{Type: "T", ID: fmt.Sprint(i), Missing: map[string]Reason{"d": Throttled}}); err != nil {
							return err
						}
					}
					return nil
				}
			}
			sink := onDisk(d)
			records, err := Run(t.Context(), []Task{task("one", emit(5)), task("two", emit(4))}, Options{Sink: sink, Workers: 1})
			if !errors.Is(err, full) {
				t.Fatalf("run ended with %v", err)
			}
			there := strings.Count(d.String(), "\n")
			if d.halfLine() || there > 8 || room >= 500 && there == 0 {
				t.Errorf("%d lines: %q", there, d.String())
			}
			doc := NewDocument(Summary{}, records, sink, err, nil)
			assets, incomplete := 0, 0
			for _, r := range doc.Coverage {
				assets += r.Assets
				incomplete += r.Incomplete
				if r.Status != Partial || r.Reason != Truncated || !strings.Contains(r.Error, "no space left") {
					t.Errorf("record %+v, want PARTIAL truncated", r)
				}
			}
			if s := doc.Summary; s.Assets != there || s.ByType["T"] != there || assets != there || incomplete != there {
				t.Errorf("%d lines, but the summary says %d (%v) and the records %d, %d incomplete", there, s.Assets, s.ByType, assets, incomplete)
			}
			if last := doc.Coverage[1]; !strings.Contains(last.Error, "asset(s) that were read could not be written") {
				t.Errorf("the record does not say what was lost: %q", last.Error)
			}
		})
	}
}

// TestMemoryBounded: what a run holds does not grow with what it finds (F16).
func TestMemoryBounded(t *testing.T) {
	const pages, size = 40, 1000
	sink := newSink(func() (file, error) { return discard{}, nil }, nil)
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	start, most := heap(), uint64(0)
	made := 0
	records, err := Run(t.Context(), []Task{task("many", func(ctx context.Context, out *Output) error {
		return Walk(ctx, out, func(_ context.Context, token string) ([]string, string, error) {
			n, _ := strconv.Atoi(token)
			if n%10 == 0 {
				most = max(most, heap())
			}
			if n == pages-1 {
				return make([]string, size), "", nil
			}
			return make([]string, size), strconv.Itoa(n + 1), nil
		}, func(string) Asset {
			made++
			return Asset{Type: "T", ID: strconv.Itoa(made), Properties: Native(answer{Words: []string{strings.Repeat("x", 500)}})}
		})
	})}, Options{Sink: sink})
	if err != nil || records[0].Assets != pages*size {
		t.Fatalf("%d assets, %v", records[0].Assets, err)
	}
	if grown := int64(most) - int64(start); grown > 8<<20 {
		t.Errorf("the heap grew by %d KiB over %d assets", grown>>10, pages*size)
	}
}

// TestSinkWithoutDirectory: a file that could not be made is none, and nothing says
// that there are assets in it.
func TestSinkWithoutDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	sink := NewSink(dir)
	records, err := Run(t.Context(), []Task{task("t", emits("a"))}, Options{Sink: sink})
	doc := NewDocument(Summary{}, records, sink, err, nil)
	if err == nil || sink.Written() || doc.Summary.AssetsFile != "" || records[0].Assets != 0 {
		t.Errorf("%v: written %v, %+v", err, sink.Written(), doc.Summary)
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) Truncate(int64) error        { return nil }
func (discard) Close() error                { return nil }
