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
	create func() (io.WriteCloser, error)

	mu     sync.Mutex
	file   io.WriteCloser // nil until the first flush
	buf    bytes.Buffer
	timer  *time.Timer // set while lines wait in buf
	err    error       // the first one; nothing is written after it
	closed bool
	count  int
	byType map[string]int
	failed func(error)
}

// NewSink makes the sink for a directory. What an earlier run left there is
// replaced when the first lines are written, not before: a run that collects
// nothing leaves the older assets as they were.
func NewSink(dir string) *Sink {
	return newSink(func() (io.WriteCloser, error) {
		// The old run.json tells of the old assets, so it goes first: a run killed
		// from here on leaves no file that speaks for another's data.
		for _, name := range []string{RunFile, AssetsFile} {
			if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
		}
		// A new file rather than a truncated one: who still reads the old one reads it
		// to its end.
		return os.OpenFile(filepath.Join(dir, AssetsFile), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	})
}

func newSink(create func() (io.WriteCloser, error)) *Sink {
	return &Sink{create: create, byType: make(map[string]int)}
}

// Write adds a line. It returns the error that ended the writing, also when that
// was an earlier line's.
func (s *Sink) Write(a Asset) error {
	var line bytes.Buffer
	e := json.NewEncoder(&line)
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
	s.buf.Write(line.Bytes())
	s.count++
	s.byType[a.Type]++
	if s.buf.Len() >= flushBytes {
		return s.flush()
	}
	if s.timer == nil {
		s.timer = time.AfterFunc(flushAfter, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			_ = s.flush() // kept in s.err, and told to the run
		})
	}
	return nil
}

// flush writes what is gathered, in one go.
func (s *Sink) flush() error {
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
	if s.err != nil || s.closed {
		return s.err
	}
	if s.file == nil {
		file, err := s.create()
		if err != nil {
			return s.fail(err)
		}
		s.file = file
	}
	_, err := s.file.Write(s.buf.Bytes())
	s.buf.Reset()
	if err != nil {
		return s.fail(err)
	}
	return nil
}

func (s *Sink) fail(err error) error {
	s.err = fmt.Errorf("the assets cannot be written: %w", err)
	if s.failed != nil {
		s.failed(s.err)
	}
	return s.err
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
	_ = s.flush() // kept in s.err
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
		_ = s.flush() // kept in s.err
	}
	s.closed = true
	if s.file != nil {
		if err := s.file.Close(); err != nil && s.err == nil {
			return s.fail(err)
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

// Counts gives the assets so far, by type and in all.
func (s *Sink) Counts() (byType map[string]int, total int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.byType), s.count
}
