package inventory

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	RunFile    = "run.json"
	ReportFile = "report.html" // for people; see the package report
)

const (
	flushBytes = 64 << 10
	flushAfter = time.Second
)

// Sink writes assets as JSON Lines. Lines are gathered and written whole, at
// the latest a second after they came, so that a killed run leaves a file that
// is right up to its last whole line. Its methods may be called from several
// goroutines.
type Sink struct {
	create func() (file, error)

	mu     sync.Mutex
	file   file  // nil until the first flush
	size   int64 // of the file, up to its last whole line
	buf    bytes.Buffer
	lines  []line      // in buf
	timer  *time.Timer // set while lines wait in buf
	err    error       // the first one; nothing is written after it
	closed bool
	count  int // of what is written, as places
	places Places
	failed func(error)
}

// file is what a Sink needs of an os.File.
type file interface {
	io.WriteCloser
	Truncate(size int64) error
}

// line is one that waits to be written.
type line struct {
	end                  int // in the buffer
	account, region, typ string
	lost                 func()
}

// NewSink makes the sink for a directory. What an earlier run left there is
// replaced when the first lines are written, not before: a run that collects
// nothing leaves the older assets as they were.
func NewSink(dir string) *Sink {
	return newSink(func() (file, error) {
		// The old run.json and report tell of the old assets, so they go first: a run
		// killed from here on leaves no file that speaks for another's data.
		for _, name := range []string{ReportFile, RunFile, AssetsFile} {
			if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
		}
		// A new file rather than a truncated one: who still reads the old one reads it
		// to its end.
		return os.OpenFile(filepath.Join(dir, AssetsFile), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	})
}

func newSink(create func() (file, error)) *Sink {
	return &Sink{create: create, places: make(Places)}
}

// Write takes a line. Where it turns out later that it could not be written, lost
// is called, unless it is nil. The error is the one that ended the writing of
// earlier lines.
func (s *Sink) Write(a Asset, lost func()) error {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(a); err != nil {
		return fmt.Errorf("asset %s %s: %w", a.Type, a.ID, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	if s.closed {
		return errClosed
	}
	s.buf.Write(text.Bytes())
	s.lines = append(s.lines, line{s.buf.Len(), a.Account, a.Region, a.Type, lost})
	if s.buf.Len() >= flushBytes {
		s.flush()
		return nil
	}
	if s.timer == nil {
		s.timer = time.AfterFunc(flushAfter, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.flush()
		})
	}
	return nil
}

// flush writes what is gathered, in one go, and counts it. An error is kept, and
// told to the run.
func (s *Sink) flush() {
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
	if s.err != nil || s.closed {
		return
	}
	var written int
	var err error
	if s.file == nil {
		s.file, err = s.create()
	}
	if err == nil {
		written, err = s.file.Write(s.buf.Bytes())
	}
	if err != nil {
		// What is there of a line that is not there wholly is taken off again.
		torn := written
		written = bytes.LastIndexByte(s.buf.Bytes()[:written], '\n') + 1
		if torn > written {
			err = errors.Join(err, s.file.Truncate(s.size+int64(written)))
		}
		s.fail(err)
	}
	s.size += int64(written)
	for _, l := range s.lines {
		if l.end <= written {
			s.count++
			s.places.add(l.account, l.region, l.typ)
		} else if l.lost != nil {
			l.lost()
		}
	}
	s.buf.Reset()
	s.lines = s.lines[:0]
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

// Begin makes the file even if no line was written: an account that is known to
// hold nothing is an empty file. Close tells when that fails.
func (s *Sink) Begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flush()
}

// Close writes what is left and closes the file, if there is one. Later lines
// are refused.
func (s *Sink) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return s.err
	}
	if s.buf.Len() > 0 {
		s.flush()
	}
	s.closed = true
	if s.file != nil {
		if err := s.file.Close(); err != nil && s.err == nil {
			s.fail(err)
		}
	}
	return s.err
}

// Written tells whether this run has a file of its own.
func (s *Sink) Written() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.file != nil
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
