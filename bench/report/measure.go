package main

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"strings"
)

// suites are the benchmarks whose figures are in the document.
var suites = []struct{ dir, bench string }{
	{".", "^Benchmark(BeginEnd|Do)$"},
	{"verdict", "^BenchmarkExamine$"},
	{"bench", "^BenchmarkHotPath$"},
}

// measure runs all suites in turns, so that whatever else the machine does strikes all of
// them alike.
func measure(ctx context.Context, tmp string, rounds int, benchtime string) (*Measured, error) {
	m := &Measured{}
	binary := func(i int) string { return filepath.Join(tmp, fmt.Sprintf("suite%d.test", i)) }
	for i, s := range suites {
		if _, err := run(ctx, s.dir, "go", "test", "-c", "-o", binary(i), "."); err != nil {
			return nil, err
		}
	}
	for round := range rounds {
		slog.Info("running the benchmarks", "round", round+1, "of", rounds)
		for i, s := range suites {
			output, err := run(ctx, s.dir, binary(i), "-test.run", "^$", "-test.bench", s.bench, "-test.benchmem", "-test.benchtime", benchtime)
			if err != nil {
				return nil, err
			}
			m.Add(string(output))
		}
	}
	return m, nil
}

// machine says what ran all this, and no more than that.
func machine(m *Measured) string {
	cpu := m.CPU
	if cpu == "" {
		cpu = runtime.GOARCH
	}
	return fmt.Sprintf("%s, %d cores, %s/%s, %s", cpu, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
}

// compared are the modules that cloudpace is compared with.
var compared = []string{
	"golang.org/x/time", "golang.org/x/sync", "github.com/sony/gobreaker/v2", "github.com/failsafe-go/failsafe-go",
	"github.com/alibaba/sentinel-golang", "github.com/aws/aws-sdk-go-v2", "github.com/aws/aws-sdk-go-v2/service/sts",
	"github.com/Azure/azure-sdk-for-go/sdk/azcore", "github.com/googleapis/gax-go/v2",
}

// versions are those that are built into the benchmarks: of the workspace, which may be
// above what bench's go.mod asks for.
func versions(ctx context.Context) (string, error) {
	output, err := run(ctx, "bench", "go", append([]string{"list", "-m", "-f", "`{{.Path}}` {{.Version}}"}, compared...)...)
	if err != nil {
		return "", err
	}
	return strings.Join(strings.Split(strings.TrimSpace(string(output)), "\n"), ",\n"), nil
}
