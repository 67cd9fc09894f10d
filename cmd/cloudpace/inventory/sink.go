package inventory

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// The files a run writes into its directory.
const (
	AssetsFile = "assets.jsonl"
	EdgesFile  = "edges.jsonl" // only where there are edges
	RunFile    = "run.json"
	ReportFile = "report.html" // for people; see the package report
)

const (
	flushBytes = 64 << 10
	flushAfter = time.Second
)

// Sink writes assets and edges as JSON Lines. Lines are gathered and written whole, at
// the latest a second after they came, so that a killed run leaves files that
// are right up to their last whole line. Its methods may be called from several
// goroutines.
type Sink struct {
	mu     sync.Mutex
	assets lines
	edges  lines
	timer  *time.Timer // set while lines wait
	err    error       // the first one; nothing is written after it
	closed bool
	count  int // of the assets that are written, as places
	places Places
	bound  int // edges that are written
	failed func(error)
}

// NewSink makes the sink for a directory. What an earlier run left there is
// replaced when the first lines are written, not before: a run that collects
// nothing leaves the older assets as they were.
func NewSink(dir string) *Sink {
	// The old run.json and report tell of the old assets, so they go first: a run
	// killed from here on leaves no file that speaks for another's data.
	remove := sync.OnceValue(func() error {
		for _, name := range []string{ReportFile, RunFile, EdgesFile, AssetsFile} {
			if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		return nil
	})
	create := func(name string) func() (file, error) {
		return func() (file, error) {
			if err := remove(); err != nil {
				return nil, err
			}
			// A new file rather than a truncated one: who still reads the old one reads it
			// to its end.
			f, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
			if err != nil {
				return nil, err // and no *os.File that is nil, which would count as a file
			}
			return f, nil
		}
	}
	return newSink(create(AssetsFile), create(EdgesFile))
}

func newSink(assets, edges func() (file, error)) *Sink {
	return &Sink{assets: lines{create: assets}, edges: lines{create: edges}, places: make(Places)}
}

// Write takes an asset. Where it turns out later that it could not be written, lost
// is called, unless it is nil. The error is the one that ended the writing of
// earlier lines.
func (s *Sink) Write(a Asset, lost func()) error {
	text, err := lineOf(a)
	if err != nil {
		return fmt.Errorf("asset %s %s: %w", a.Type, a.ID, err)
	}
	return s.put(&s.assets, text, line{account: a.Account, region: a.Region, typ: a.Type, lost: lost})
}

// WriteEdge takes an edge, as Write takes an asset.
func (s *Sink) WriteEdge(e Edge, lost func()) error {
	text, err := lineOf(e)
	if err != nil {
		return fmt.Errorf("edge from %s to %s: %w", e.From, e.To, err)
	}
	return s.put(&s.edges, text, line{lost: lost})
}

func lineOf(v any) ([]byte, error) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return text.Bytes(), err
}

func (s *Sink) put(to *lines, text []byte, one line) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	if s.closed {
		return errClosed
	}
	to.add(text, one)
	if to.buf.Len() >= flushBytes {
		s.flush(true)
		return nil
	}
	if s.timer == nil {
		s.timer = time.AfterFunc(flushAfter, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.flush(true)
		})
	}
	return nil
}

// flush writes what is gathered and counts it. An error is kept, and told to the run.
// pending leaves a file alone of which no lines wait; else that of the assets is made
// in any case.
func (s *Sink) flush(pending bool) {
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
	if s.err != nil || s.closed {
		return
	}
	var err error
	if !pending || s.assets.buf.Len() > 0 {
		err = s.assets.flush(func(l line) {
			s.count++
			s.places.add(l.account, l.region, l.typ)
		})
	}
	if s.edges.buf.Len() > 0 {
		err = errors.Join(err, s.edges.flush(func(line) { s.bound++ }))
	}
	if err != nil {
		s.fail(err)
	}
}

func (s *Sink) fail(err error) {
	s.err = fmt.Errorf("the assets cannot be written: %w", err)
	if s.failed != nil {
		s.failed(s.err)
	}
}

// onFailure has fn called when writing fails, so that a run need not wait for
// the next asset to notice.
func (s *Sink) onFailure(fn func(error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = fn
}

// Begin makes the file of the assets even if no line was written: an account that is
// known to hold nothing is an empty file. Close tells when that fails.
func (s *Sink) Begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flush(false)
}

// Close writes what is left and closes the files that there are. Later lines
// are refused.
func (s *Sink) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return s.err
	}
	s.flush(true)
	s.closed = true
	if err := errors.Join(s.assets.close(), s.edges.close()); err != nil && s.err == nil {
		s.fail(err)
	}
	return s.err
}

// Written tells whether this run has a file of assets of its own.
func (s *Sink) Written() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.assets.file != nil
}

// Edges tells how many edges are written so far. Where there is none there is no file.
func (s *Sink) Edges() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bound
}

// Counts gives the assets that are written so far, by place and in all.
func (s *Sink) Counts() (places Places, total int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	places = make(Places)
	for account, regions := range s.places {
		places[account] = make(map[string]map[string]int)
		for region, types := range regions {
			places[account][region] = maps.Clone(types)
		}
	}
	return places, s.count
}
