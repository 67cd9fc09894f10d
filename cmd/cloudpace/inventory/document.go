package inventory

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/timeline"
	"github.com/cloudpace/cloudpace/internal/wholefile"
)

// Document is what run.json holds: what a run did, and what is known about every
// part of it.
type Document struct {
	Summary    Summary           `json:"summary"`
	Coverage   []Record          `json:"coverage"`
	Throttling cloudpace.Summary `json:"throttling"`
	// Timeline has the services where something happened, over the time of the run.
	Timeline *timeline.Timeline `json:"timeline,omitempty"`
	// Fleet is set where the limits were shared with other processes.
	Fleet *Fleet `json:"fleet,omitempty"`
}

// Fleet says how the limits were shared with other processes.
type Fleet struct {
	Store   string `json:"store"`   // where, without secrets
	Members int    `json:"members"` // processes, this one included, as last seen
	// Exchanges counts the questions to the store for tokens, and Tokens what they
	// brought.
	Exchanges int64 `json:"exchanges"`
	Tokens    int64 `json:"tokens"`
	// Outages counts how often the store was out of reach, AloneSeconds for how long in
	// all: then this process went on within its share. Cause is the last error.
	Outages      int     `json:"outages"`
	AloneSeconds float64 `json:"alone_seconds"`
	Cause        string  `json:"cause,omitempty"`
}

// Outcome says how a run ended as a whole.
type Outcome string

// The outcomes of a run.
const (
	Complete    Outcome = "complete"    // no record is a [Record.Gap]
	WithGaps    Outcome = "partial"     // some are not
	NothingRead Outcome = "failed"      // no task read anything, or the assets could not be written
	Interrupted Outcome = "interrupted" // what is there is right
)

// Summary is a run in short.
type Summary struct {
	Version  string    `json:"version"` // of cloudpace
	Provider []string  `json:"provider"`
	Outcome  Outcome   `json:"outcome"`
	Error    string    `json:"error,omitempty"` // what broke the run
	Accounts []Account `json:"accounts"`
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished"`
	Seconds  float64   `json:"seconds"`

	Assets int `json:"assets"`
	// AssetsFile is the file with this run's assets. It is empty when the run
	// wrote none: an assets.jsonl that lies there then is an earlier run's.
	AssetsFile string `json:"assets_file"`
	// Edges counts the lines of EdgesFile, which is there where there are any.
	Edges     int            `json:"edges,omitempty"`
	EdgesFile string         `json:"edges_file,omitempty"`
	ByType    map[string]int `json:"by_type"`
	ByPlace   Places         `json:"by_place"`  // by account, region and type
	ByStatus  map[Status]int `json:"by_status"` // of records
	// Complete lists where all that a task covers was read. A step that deletes
	// what is no longer found may do so only inside these.
	Complete []Scope `json:"complete"`
}

// Account is one that was read.
type Account struct {
	Provider string   `json:"provider"`
	ID       string   `json:"id"`
	Caller   string   `json:"caller,omitempty"` // who read it
	Regions  *Regions `json:"regions,omitempty"`
}

// Regions say what part of an account was asked.
type Regions struct {
	Requested []string `json:"requested"`
	Enabled   int      `json:"enabled,omitempty"` // how many the account has, where it was asked
	// NotRequested are enabled and were not asked.
	NotRequested []string `json:"not_requested"`
	// Verified tells whether the account itself said which regions it has enabled.
	Verified bool   `json:"verified"`
	Note     string `json:"note,omitempty"`
}

// Scope is a task in an account and region.
type Scope struct {
	Provider string `json:"provider"`
	Account  string `json:"account"`
	Region   string `json:"region"`
	Task     string `json:"task"`
}

// NewDocument makes the document of a run from its records; broken is the error
// of [Run], cause that of its context.
func NewDocument(head Summary, records []Record, sink *Sink, broken, cause error) Document {
	s := head
	if broken != nil {
		records = unwritten(records, broken)
	}
	s.ByStatus, s.Complete = make(map[Status]int), []Scope{}
	for _, r := range records {
		s.ByStatus[r.Status]++
		if r.Status == Success {
			s.Complete = append(s.Complete, Scope{r.Provider, r.Account, r.Region, r.Task})
		}
	}
	s.ByPlace, s.Assets = sink.Counts()
	s.ByType = s.ByPlace.ByType()
	if sink.Written() {
		s.AssetsFile = AssetsFile
	}
	if s.Edges = sink.Edges(); s.Edges > 0 {
		s.EdgesFile = EdgesFile
	}
	s.Finished = time.Now().UTC()
	s.Seconds = s.Finished.Sub(s.Started).Round(time.Millisecond).Seconds()
	switch {
	case broken != nil:
		s.Outcome, s.Error = NothingRead, broken.Error()
	case cause != nil:
		s.Outcome, s.Error = Interrupted, cause.Error()
	case !known(records):
		s.Outcome = NothingRead
	case slices.ContainsFunc(records, Record.Gap):
		s.Outcome = WithGaps
	default:
		s.Outcome = Complete
	}
	return Document{Summary: s, Coverage: records}
}

// unwritten gives the records of a run that could not write all it read: nobody
// knows any more whose assets the disk has, so no task is SUCCESS.
func unwritten(records []Record, broken error) []Record {
	records = slices.Clone(records)
	for i := range records {
		if r := &records[i]; r.Status == Success {
			r.Status, r.Reason, r.Errors = Partial, Truncated, 1
			r.Error = strings.TrimSuffix(broken.Error()+"; "+r.Error, "; ")
		}
	}
	return records
}

// Write puts the document into dir as run.json, whole or not at all.
func (d Document) Write(dir string) error {
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return fmt.Errorf("%s: %w", RunFile, err)
	}
	return wholefile.Write(dir, RunFile, 0o644, func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	})
}

// Writable makes dir if needed and tells whether files can be made in it. It
// leaves nothing behind: undo removes the directories it made and nobody used.
func Writable(dir string) (undo func(), err error) {
	var made []string // the deepest first
	for d := filepath.Clean(dir); ; d = filepath.Dir(d) {
		if _, err := os.Lstat(d); err == nil || d == filepath.Dir(d) {
			break
		}
		made = append(made, d)
	}
	undo = func() {
		for _, d := range made {
			_ = os.Remove(d) // fails, as it should, once there is something in it
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		undo()
		return undo, fmt.Errorf("output directory %s: %w", dir, err)
	}
	probe, err := os.CreateTemp(dir, ".cloudpace-*")
	if err != nil {
		undo()
		return undo, fmt.Errorf("output directory %s cannot be written to: %w", dir, err)
	}
	_ = probe.Close()
	if err := os.Remove(probe.Name()); err != nil {
		return undo, fmt.Errorf("output directory %s: %w", dir, err)
	}
	return undo, nil
}
