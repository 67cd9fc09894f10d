package cloudpace_test

import (
	"bytes"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The rules of the house: which package may import which. They are checked over
// all modules at once, by reading the imports of every Go file in the
// repository, whatever system or build tag it is for.

const modulePath = "github.com/cloudpace/cloudpace"

// A room is a package, or a folder of packages, and what it may reach.
type room struct {
	dir     string   // slash-separated, "" for the root package
	tree    bool     // packages below dir belong to the room
	floor   int      // a room imports only from its own floor's room and from floors below
	outside []string // import prefixes outside the standard library and this house; {"*"} is any
	module  string   // directory of its Go module
}

var (
	noneOutside = []string{}
	anyOutside  = []string{"*"}
	yamlOutside = []string{"go.yaml.in/yaml/", "github.com/goccy/go-yaml", "gopkg.in/yaml."}
	testOutside = []string{"pgregory.net/rapid", "go.uber.org/goleak"}
)

// rooms lists the house from the ground floor up. A package that is not in it
// fails the test: a new room is given its place here first.
var rooms = []room{
	{dir: "internal", tree: true, floor: 0, outside: noneOutside},
	{dir: "verdict", tree: true, floor: 1, outside: noneOutside},
	{dir: "", floor: 2, outside: noneOutside},
	{dir: "config", tree: true, floor: 3, outside: yamlOutside},
	{dir: "pacehttp", tree: true, floor: 4, outside: noneOutside},
	{dir: "pacedatabricks", tree: true, floor: 4, outside: noneOutside},
	{dir: "paceaws", tree: true, floor: 4, outside: anyOutside, module: "paceaws"},
	{dir: "paceazure", tree: true, floor: 4, outside: anyOutside, module: "paceazure"},
	{dir: "pacegcp", tree: true, floor: 4, outside: anyOutside, module: "pacegcp"},
	{dir: "fleet", tree: true, floor: 5, outside: anyOutside, module: "fleet"},
	{dir: "cmd/cloudpace", tree: true, floor: 6, outside: anyOutside, module: "cmd/cloudpace"},
	{dir: "bench", tree: true, floor: 6, outside: anyOutside, module: "bench"},
}

// sdks are the vendors' SDKs by import prefix; a package holds one of them.
var sdks = map[string][]string{
	"aws":        {"github.com/aws/"},
	"azure":      {"github.com/Azure/", "github.com/microsoft/kiota"},
	"gcp":        {"cloud.google.com/", "google.golang.org/api", "google.golang.org/genproto", "github.com/googleapis/"},
	"databricks": {"github.com/databricks/"},
}

// source is what the rules need to know of one file.
type source struct {
	file    string // slash-separated, from the repository's root
	test    bool
	imports []string
}

func (s source) dir() string {
	if d := path.Dir(s.file); d != "." {
		return d
	}
	return ""
}

func roomOf(dir string) (room, bool) {
	for _, r := range rooms {
		if dir == r.dir || r.tree && strings.HasPrefix(dir, r.dir+"/") {
			return r, true
		}
	}
	return room{}, false
}

// within gives the directory that an import path has in this house.
func within(importPath string) (string, bool) {
	if importPath == modulePath {
		return "", true
	}
	return strings.CutPrefix(importPath, modulePath+"/")
}

// standard tells the standard library's paths by their first element, which
// has no dot.
func standard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".") && importPath != "C"
}

func hasPrefix(importPath string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return p == "*" || strings.HasPrefix(importPath, p) })
}

func isWiring(dir string) bool { return strings.HasPrefix(dir, "pace") }

// breaches lists what is against the rules in the given files.
func breaches(files []source) []string {
	var out []string
	sdkOf := map[string]map[string]string{} // package directory -> SDK -> a file with it
	for _, f := range files {
		report := func(format string, args ...any) {
			out = append(out, f.file+": "+fmt.Sprintf(format, args...))
		}
		from, ok := roomOf(f.dir())
		if !ok {
			report("package %q has no place in the house; give it one in house_test.go", f.dir())
			continue
		}
		for _, imp := range f.imports {
			if standard(imp) {
				continue
			}
			dir, ours := within(imp)
			if !ours {
				checkOutside(from, f, imp, report)
				for sdk, prefixes := range sdks {
					if hasPrefix(imp, prefixes) && from.dir != "cmd/cloudpace" {
						if sdkOf[f.dir()] == nil {
							sdkOf[f.dir()] = map[string]string{}
						}
						sdkOf[f.dir()][sdk] = f.file
					}
				}
				continue
			}
			to, ok := roomOf(dir)
			if !ok {
				report("imports %s, which has no place in the house", imp)
				continue
			}
			checkInside(from, to, f, dir, imp, report)
		}
	}
	for dir, found := range sdkOf {
		if len(found) < 2 {
			continue
		}
		names := make([]string, 0, len(found))
		for sdk, file := range found {
			names = append(names, sdk+" in "+path.Base(file))
		}
		slices.Sort(names)
		out = append(out, fmt.Sprintf("%s: two SDKs in one package: %s", dir, strings.Join(names, ", ")))
	}
	slices.Sort(out)
	return out
}

func checkOutside(from room, f source, imp string, report func(string, ...any)) {
	switch {
	case hasPrefix(imp, from.outside):
	case f.test && hasPrefix(imp, testOutside):
	case f.test:
		report("a test imports %s; tests here may use %s", imp, strings.Join(testOutside, ", "))
	default:
		report("imports %s; this room may use nothing outside the standard library%s", imp, besides(from.outside))
	}
}

func besides(outside []string) string {
	if len(outside) == 0 {
		return ""
	}
	return " besides " + strings.Join(outside, ", ")
}

func checkInside(from, to room, f source, dir, imp string, report func(string, ...any)) {
	if (dir == "cmd/cloudpace/sim" || strings.HasPrefix(dir, "cmd/cloudpace/sim/")) && from.dir != "cmd/cloudpace" {
		report("imports %s; sim is for the command alone", imp)
		return
	}
	if from.dir == to.dir {
		return
	}
	if isWiring(from.dir) && isWiring(to.dir) {
		report("imports %s; a wiring never imports another", imp)
		return
	}
	// A test may look upwards (an example that reads a configuration), but not
	// out of its module: that would put the other's dependencies into go.mod.
	if f.test {
		if from.module != to.module && to.floor >= from.floor {
			report("a test imports %s, which is in a higher module", imp)
		}
		return
	}
	if to.floor >= from.floor {
		report("imports %s; a lower room never imports a higher one", imp)
	}
}

// repository reads the imports of every Go file below the working directory.
func repository(t *testing.T) []source {
	t.Helper()
	var files []source
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); p != "." && (name[0] == '.' || name[0] == '_' || name == "testdata" || name == "vendor" || name == "dist") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(p, ".go") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		s := source{file: filepath.ToSlash(p), test: strings.HasSuffix(p, "_test.go")}
		for _, imp := range parsed.Imports {
			unquoted, err := strconv.Unquote(imp.Path.Value)
			if err != nil {
				return err
			}
			s.imports = append(s.imports, unquoted)
		}
		files = append(files, s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// inRepository skips where the root module is tested alone, out of a module
// cache: the other modules, which these tests are about, are not there.
func inRepository(t *testing.T) {
	t.Helper()
	if _, err := os.Stat("paceaws/go.mod"); err != nil {
		t.Skip("not a checkout of the whole repository")
	}
}

func TestHouse(t *testing.T) {
	inRepository(t)
	files := repository(t)
	// A walk that finds nothing would pass for ever.
	for _, want := range []string{"verdict", "paceaws", "paceazure", "pacegcp", "cmd/cloudpace", "internal/bucket"} {
		if !slices.ContainsFunc(files, func(s source) bool { return s.dir() == want && !s.test }) {
			t.Errorf("the walk found no package in %s", want)
		}
	}
	for _, b := range breaches(files) {
		t.Error(b)
	}
}

// TestHouseRules shows that each rule fails on what it forbids and lets pass
// what it allows.
func TestHouseRules(t *testing.T) {
	const m = modulePath
	for _, c := range []struct {
		name    string
		file    string
		imports []string
		want    string // part of the one breach, "" for none
	}{
		{"std in the root", "governor.go", []string{"context", "net/http"}, ""},
		{"root uses the ground floor", "governor.go", []string{m + "/internal/bucket", m + "/verdict"}, ""},
		{"root uses an outside module", "governor.go", []string{"golang.org/x/time/rate"}, "nothing outside the standard library"},
		{"root uses cgo", "governor.go", []string{"C"}, "nothing outside the standard library"},
		{"root uses config", "governor.go", []string{m + "/config"}, "never imports a higher one"},
		{"verdict uses the root", "verdict/kind.go", []string{m}, "never imports a higher one"},
		{"verdict uses an SDK", "verdict/aws.go", []string{"github.com/aws/smithy-go"}, "nothing outside the standard library"},
		{"internal uses verdict", "internal/bucket/bucket.go", []string{m + "/verdict"}, "never imports a higher one"},
		{"internal uses internal", "internal/bucket/bucket.go", []string{m + "/internal/budget"}, ""},
		{"pacehttp uses the root", "pacehttp/transport.go", []string{m, m + "/internal/httpbody"}, ""},
		{"pacehttp uses an outside module", "pacehttp/transport.go", []string{"golang.org/x/net/http2"}, "nothing outside the standard library"},
		{"databricks uses its SDK", "pacedatabricks/transport.go", []string{"github.com/databricks/databricks-sdk-go"}, "nothing outside the standard library"},
		{"config uses YAML", "config/parse.go", []string{"go.yaml.in/yaml/v4", m}, ""},
		{"config uses something else", "config/parse.go", []string{"github.com/spf13/viper"}, "besides go.yaml.in/yaml/"},
		{"a wiring uses its SDK", "paceaws/install.go", []string{"github.com/aws/aws-sdk-go-v2/aws", m + "/verdict"}, ""},
		{"a wiring uses another", "paceaws/install.go", []string{m + "/pacehttp"}, "a wiring never imports another"},
		{"a wiring's test uses another", "paceaws/install_test.go", []string{m + "/pacehttp"}, "a wiring never imports another"},
		{"a wiring uses two SDKs", "paceaws/install.go", []string{"github.com/aws/smithy-go", "github.com/Azure/azure-sdk-for-go/sdk/azcore"}, "two SDKs in one package: aws in install.go, azure in install.go"},
		{"a comparison uses two SDKs", "bench/bench_test.go", []string{"github.com/aws/smithy-go", "cloud.google.com/go/asset/apiv1"}, "two SDKs in one package"},
		{"the command uses two SDKs", "cmd/cloudpace/auth/auth.go", []string{"github.com/aws/smithy-go", "cloud.google.com/go/asset/apiv1"}, ""},
		{"the command uses sim", "cmd/cloudpace/sim.go", []string{m + "/cmd/cloudpace/sim"}, ""},
		{"bench uses sim", "bench/bench.go", []string{m + "/cmd/cloudpace/sim"}, "sim is for the command alone"},
		{"a wiring's test uses sim", "paceaws/install_test.go", []string{m + "/cmd/cloudpace/sim/aws"}, "sim is for the command alone"},
		{"a wiring uses the command", "paceaws/install.go", []string{m + "/cmd/cloudpace/inventory"}, "never imports a higher one"},
		{"the root's test uses rapid", "governor_test.go", []string{"pgregory.net/rapid", "go.uber.org/goleak"}, ""},
		{"the root uses rapid", "governor.go", []string{"pgregory.net/rapid"}, "nothing outside the standard library"},
		{"the root's test uses testify", "governor_test.go", []string{"github.com/stretchr/testify/require"}, "tests here may use pgregory.net/rapid"},
		{"the root's test uses config", "example_test.go", []string{m + "/config"}, ""},
		{"the root's test uses another module", "example_test.go", []string{m + "/paceaws"}, "which is in a higher module"},
		{"an unknown package", "util/util.go", nil, `package "util" has no place in the house`},
		{"an import of an unknown package", "governor.go", []string{m + "/util"}, "has no place in the house"},
		{"a package named like a room", "verdicts/v.go", nil, `package "verdicts" has no place in the house`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := breaches([]source{{file: c.file, test: strings.HasSuffix(c.file, "_test.go"), imports: c.imports}})
			switch {
			case c.want == "" && len(got) != 0:
				t.Errorf("allowed, but reported: %q", got)
			case c.want != "" && (len(got) != 1 || !strings.Contains(got[0], c.want)):
				t.Errorf("got %q, want one breach with %q", got, c.want)
			}
		})
	}
}

// TestHouseTwoFiles: the SDKs of a package are counted over its files, and two
// packages with an SDK each are nobody's business.
func TestHouseTwoFiles(t *testing.T) {
	aws, gcp := []string{"github.com/aws/smithy-go"}, []string{"cloud.google.com/go/asset/apiv1"}
	if got := breaches([]source{{file: "fleet/a.go", imports: aws}, {file: "fleet/b.go", imports: gcp}}); len(got) != 1 {
		t.Errorf("one package: got %q, want one breach", got)
	}
	if got := breaches([]source{{file: "bench/aws/a.go", imports: aws}, {file: "bench/gcp/b.go", imports: gcp}}); len(got) != 0 {
		t.Errorf("two packages: got %q, want none", got)
	}
}

// TestDependenciesDocumented: docs/dependencies.md has every module that one of
// ours requires directly, by its path, or within an SDK by the end of it.
func TestDependenciesDocumented(t *testing.T) {
	inRepository(t)
	document, err := os.ReadFile("docs/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	modules, err := filepath.Glob("*/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(modules, "go.mod", "cmd/cloudpace/go.mod") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
			if len(fields) != 2 || !strings.HasPrefix(fields[1], "v") || strings.HasPrefix(fields[0], modulePath) {
				continue // not a requirement, an indirect one, or our own
			}
			name := strings.TrimPrefix(fields[0], "github.com/aws/aws-sdk-go-v2/")
			if !bytes.Contains(document, []byte("`"+name+"`")) {
				t.Errorf("%s requires %s, which docs/dependencies.md does not have", file, fields[0])
			}
		}
	}
}

// TestFileLength holds source files to a length that is read in one sitting.
func TestFileLength(t *testing.T) {
	inRepository(t)
	const longest = 450
	for _, f := range repository(t) {
		if f.test {
			continue
		}
		text, err := os.ReadFile(filepath.FromSlash(f.file))
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(text, []byte("\n")); n > longest {
			t.Errorf("%s has %d lines, more than %d: give its second thing a file of its own", f.file, n, longest)
		}
	}
}
