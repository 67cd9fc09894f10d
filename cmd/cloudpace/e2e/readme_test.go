package e2e

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/paceaws"
)

// The README's code, word for word.

func vpcs(ctx context.Context) (*ec2.DescribeVpcsOutput, error) {
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, err
	}
	if err := paceaws.Install(&cfg, paceaws.Account("111122223333")); err != nil {
		return nil, err
	}
	return ec2.NewFromConfig(cfg).DescribeVpcs(ctx, nil) // paced, as every call of every client made from cfg
}

func fetch(ctx context.Context, call func(context.Context) error) error {
	scope := cloudpace.Scope{Provider: "github", Service: "search"}
	return cloudpace.Do(ctx, scope, call) // paced, and repeated where that helps
}

// TestReadmeCode: what the README shows is code that compiles, here.
func TestReadmeCode(t *testing.T) {
	_ = vpcs // compiling is all that can be asked of it without AWS
	if err := fetch(t.Context(), func(context.Context) error { return nil }); err != nil {
		t.Error(err)
	}
	here := text(t, "readme_test.go")
	wirings, err := filepath.Glob("../../../pace*/readme_test.go") // with the SDK that each is for
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range wirings {
		here += text(t, file)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(text(t, "../../../README.md"), -1)
	if len(blocks) == 0 {
		t.Error("the README has no Go code")
	}
	for _, b := range blocks {
		if !strings.Contains(here, b[1]) {
			t.Errorf("this code of the README is in no readme_test.go:\n%s", b[1])
		}
	}
}

// TestReadmeCommands: the commands that the README gives are there, and the one
// that runs the tests is the one that checks every change.
func TestReadmeCommands(t *testing.T) {
	readme, makefile := text(t, "../../../README.md"), text(t, "../../../Makefile")
	for _, m := range regexp.MustCompile(`(?m)^    make ([a-z0-9-]+)$`).FindAllStringSubmatch(readme, -1) {
		if !strings.Contains(makefile, "\n"+m[1]+":") {
			t.Errorf("the Makefile has no target %s", m[1])
		}
	}
	_, try, _ := strings.Cut(readme, "\n## Try it\n")
	if m := regexp.MustCompile(`(?m)^    (.*)$`).FindStringSubmatch(try); m == nil || m[1] != "go run ./cmd/cloudpace map --demo" {
		t.Errorf("the first command to try is %q, not the demo", m)
	}
	if !strings.Contains(readme, "\n    make test\n") || !strings.Contains(text(t, "../../../.ci/run"), " make test\n") {
		t.Error("README and .ci/run do not run the tests by the same command")
	}
}

// TestReadmeLinks: what the documents link to exists.
func TestReadmeLinks(t *testing.T) {
	for _, document := range []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md"} {
		for _, m := range regexp.MustCompile(`\]\(([^):#]+)\)`).FindAllStringSubmatch(text(t, "../../../"+document), -1) {
			if _, err := os.Stat("../../../" + m[1]); err != nil {
				t.Errorf("%s links to %s: %v", document, m[1], err)
			}
		}
	}
}

func text(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(b), "\r\n", "\n")
}
