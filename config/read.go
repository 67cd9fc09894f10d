package config

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/cloudpace/cloudpace"
)

// maxSize bounds what is read, in bytes.
const maxSize = 1 << 20

// Warning is something in the configuration that was ignored, or that is
// probably not what was meant.
type Warning struct {
	Where   string // "line 12", "cloudpace.yaml:12", or the variable's or flag's name
	Path    string // "ratelimit.aws.max_rpm"
	Message string // "unknown key, ignored; did you mean max_rps?"
}

// String gives the warning on one line.
func (w Warning) String() string { return w.Where + ": " + w.Path + ": " + w.Message }

// Setting is one value from outside a file. Settings are made by [Environ] and by
// programs, for their flags.
type Setting struct {
	// Path is the key with dots: "ratelimit.aws.max_rps". After "services" all but
	// the last part is the service's name:
	// "ratelimit.gcp.services.cloudasset.ListAssets.max_rps".
	Path string
	// Value is written as in a file, without quotes: "8", "true", "hard".
	Value string
	// Source stands in front of warnings and errors: the variable's or the flag's
	// name.
	Source string

	folded bool // the path is from an environment variable, so its case says little
}

// Parse reads the text of a configuration file. Nothing else is looked at: not
// the environment either. An empty text gives the built-in settings.
//
// The error joins all faults, in the order of their lines. With one, the Config
// must not be used.
func Parse(yaml []byte) (cloudpace.Config, []Warning, error) {
	return read(yaml, "line %d", nil)
}

// Load reads a configuration file and the environment of the process. An empty
// path reads no file. A file that does not exist is an error: fs.ErrNotExist.
func Load(path string) (cloudpace.Config, []Warning, error) {
	return Read(path, Environ(os.Environ())...)
}

// Read reads a configuration file, unless path is empty, and what overrides it:
// of two settings with one path the later counts. Programs with flags call
//
//	config.Read(path, append(config.Environ(os.Environ()), flags...)...)
func Read(path string, settings ...Setting) (cloudpace.Config, []Warning, error) {
	text, err := fileOrNone(path)
	if err != nil {
		return cloudpace.Config{}, nil, err
	}
	return read(text, path+":%d", settings)
}

// fileOrNone reads a file, unless the path is empty.
func fileOrNone(path string) ([]byte, error) {
	if path == "" {
		return nil, nil
	}
	text, err := readFile(path)
	if err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	return text, nil
}

// readFile reads at most one byte more than is allowed: a device or a pipe has no
// end.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxSize+1))
}

// read is that of a new reader.
func read(text []byte, place string, settings []Setting) (cloudpace.Config, []Warning, error) {
	return newReader().read(text, place, settings)
}

// read puts the sources on top of each other and makes the settings of them.
// place is the form of a place in the text.
func (r *reader) read(text []byte, place string, settings []Setting) (cloudpace.Config, []Warning, error) {
	root := r.parse(text, place)
	for _, s := range settings {
		r.override(root, s)
	}
	cfg := cloudpace.DefaultConfig()
	r.apply(&cfg, root)
	if !r.broken {
		r.check(cfg)
	}
	slices.SortStableFunc(r.warnings, func(a, b placedWarning) int { return a.at.compare(b.at) })
	warnings := make([]Warning, 0, len(r.warnings))
	for _, w := range r.warnings {
		warnings = append(warnings, Warning{w.at.text, w.path, w.message})
	}
	if len(r.faults) > 0 {
		slices.SortStableFunc(r.faults, func(a, b placedFault) int { return a.at.compare(b.at) })
		errs := make([]error, 0, len(r.faults))
		for _, f := range r.faults {
			if f.at.text == "" {
				errs = append(errs, fmt.Errorf("config: %w", f.err))
				continue
			}
			errs = append(errs, fmt.Errorf("%s: %w", f.at.text, f.err))
		}
		return cloudpace.Config{}, warnings, errors.Join(errs...)
	}
	return cfg, warnings, nil
}

// reader gathers what is found on the way.
type reader struct {
	values   map[string]*value // every value that was applied, by path
	derived  map[string]string // where values come from that follow from these, by path
	warnings []placedWarning
	faults   []placedFault
	broken   bool // the text is no YAML, so what is in it is not known
}

func newReader() *reader { return &reader{values: map[string]*value{}, derived: map[string]string{}} }

type placedWarning struct {
	at            place
	path, message string
}

type placedFault struct {
	at  place
	err error
}

// place is where a value stands: a line of the file, or what overrides it.
type place struct {
	text string
	line int // 0: not in the file
}

// compare orders the file's lines before what overrides them.
func (p place) compare(q place) int {
	if (p.line == 0) != (q.line == 0) {
		return cmp.Compare(q.line, p.line)
	}
	return cmp.Or(cmp.Compare(p.line, q.line), cmp.Compare(p.text, q.text))
}

func (r *reader) warn(at place, path, message string) {
	r.warnings = append(r.warnings, placedWarning{at, path, message})
}

func (r *reader) fail(at place, err error) {
	r.faults = append(r.faults, placedFault{at, err})
}

func (r *reader) reject(v *value, path, allowed string) {
	r.fail(v.at, &cloudpace.ConfigError{Path: path, Value: v.shown(), Allowed: allowed})
}

// check asks the core for what is out of range, and adds the places.
func (r *reader) check(cfg cloudpace.Config) {
	err := cfg.Validate()
	if err == nil {
		return
	}
	all := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		all = joined.Unwrap()
	}
	for _, err := range all {
		var fault *cloudpace.ConfigError
		if !errors.As(err, &fault) {
			r.fail(place{}, err)
			continue
		}
		v, ok := r.values[fault.Path]
		if !ok {
			r.fail(place{}, err)
			continue
		}
		// As it was written, not as it was rounded.
		r.reject(v, fault.Path, fault.Allowed)
	}
}
