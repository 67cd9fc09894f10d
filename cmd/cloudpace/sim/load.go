package sim

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/cloudpace/cloudpace"
)

// maxFile bounds a sim file, in bytes.
const maxFile = 1 << 20

// Load gives the profile that a name or a sim file stands for. A text that has
// neither a slash nor a dot is a name: that of a provider, with what it
// documents.
func Load(front Front, nameOrFile string) (Profile, error) {
	if nameOrFile == "" || nameOrFile == front.Provider() {
		return Default(front), nil
	}
	if !isFile(nameOrFile) {
		return Profile{}, &cloudpace.ConfigError{Path: "profile", Value: nameOrFile, Allowed: oneOf(nameOrFile, []string{front.Provider()}) + ", or a file"}
	}
	text, err := readFile(nameOrFile)
	if err != nil {
		return Profile{}, err
	}
	p, err := Parse(front, text)
	if err != nil {
		return Profile{}, fmt.Errorf("%s: %w", nameOrFile, err)
	}
	p.Name = nameOrFile
	return p, nil
}

// ProviderIn tells which provider a name or a sim file is of: the name itself, or
// what the file says. It is "" where the file does not say, or cannot be read:
// [Load] tells why.
func ProviderIn(nameOrFile string) (provider string) {
	if !isFile(nameOrFile) {
		return nameOrFile
	}
	defer func() {
		if recover() != nil {
			provider = ""
		}
	}()
	text, err := readFile(nameOrFile)
	var head struct {
		Profile string `yaml:"profile"`
	}
	if err != nil || yaml.Unmarshal(text, &head) != nil {
		return ""
	}
	return head.Profile
}

func isFile(nameOrFile string) bool { return strings.ContainsAny(nameOrFile, `./\`) }

// readFile reads a byte more than is allowed, for what is too long to be noticed.
func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxFile+1))
}

// Parse reads the text of a sim file. What the file leaves out is as in
// [Default]; its quotas come before the documented ones. All that is wrong is
// joined in the error, each a [*cloudpace.ConfigError] with its line.
func Parse(front Front, text []byte) (p Profile, err error) {
	if len(text) > maxFile {
		return Profile{}, fmt.Errorf("the file is longer than %d bytes", maxFile)
	}
	// The parser works on text from outside; should it panic on some, that is an
	// error like others.
	defer func() {
		if problem := recover(); problem != nil {
			p, err = Profile{}, fmt.Errorf("the file cannot be read as YAML: %v", problem)
		}
	}()
	loader, err := yaml.NewLoader(bytes.NewReader(text))
	if err != nil {
		return Profile{}, err
	}
	p = Default(front)
	var document yaml.Node
	switch err := loader.Load(&document); {
	case errors.Is(err, io.EOF):
		return p, nil
	case err != nil:
		return Profile{}, err
	}
	d := decoder{front: front, lines: make(map[string]int)}
	if len(document.Content) > 0 {
		d.profile(&p, document.Content[0])
	}
	// What is of the right type may still be out of range. Those faults have paths,
	// and the paths have lines.
	checked := p
	checked.Quotas = d.quotas
	if err := checked.Check(front, false); err != nil && len(d.faults) == 0 {
		d.adopt(err)
	}
	if len(d.faults) > 0 {
		return Profile{}, errors.Join(d.faults...)
	}
	p.Quotas = append(d.quotas, p.Quotas...)
	return p, nil
}

// decoder reads the nodes of a file.
type decoder struct {
	front  Front
	quotas []Quota
	lines  map[string]int
	faults []error
}

func (d *decoder) reject(n *yaml.Node, path string, value any, allowed string) {
	d.fail(n.Line, &cloudpace.ConfigError{Path: path, Value: value, Allowed: allowed})
}

func (d *decoder) fail(line int, err error) {
	if line > 0 {
		err = fmt.Errorf("line %d: %w", line, err)
	}
	d.faults = append(d.faults, err)
}

// adopt gives the faults of a check their lines.
func (d *decoder) adopt(err error) {
	all := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		all = joined.Unwrap()
	}
	for _, err := range all {
		line := 0
		var fault *cloudpace.ConfigError
		if errors.As(err, &fault) {
			line = d.lines[fault.Path]
		}
		d.fail(line, err)
	}
}
