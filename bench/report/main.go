// Report writes docs/benchmarks.md: it runs the benchmarks and the macro comparison,
// and puts what they print into template.md, where everything else of the document is.
// From the root of the repository:
//
//	go run ./bench/report
package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"text/template"
)

//go:embed template.md
var document string

func main() {
	out := flag.String("o", "docs/benchmarks.md", "write the document to this `file`")
	rounds := flag.Int("rounds", 11, "how often every benchmark runs, in turns with the others")
	benchtime := flag.String("benchtime", "200ms", "how long each of them runs, as go test takes it")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := write(ctx, *out, *rounds, *benchtime); err != nil {
		slog.Error("no report", "err", err)
		os.Exit(1) //nolint:gocritic // nothing is left to stop
	}
}

func write(ctx context.Context, out string, rounds int, benchtime string) error {
	if _, err := os.Stat("bench/report/template.md"); err != nil {
		return errors.New("run this in the root of the repository")
	}
	tmp, err := os.MkdirTemp("", "benchmarks")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(tmp) }()

	text, err := template.New("benchmarks").Option("missingkey=error").Parse(document)
	if err != nil {
		return err
	}
	measured, err := measure(ctx, tmp, rounds, benchtime)
	if err != nil {
		return err
	}
	versions, err := versions(ctx)
	if err != nil {
		return err
	}
	slog.Info("running the macro comparison")
	tables := filepath.Join(tmp, "macro.md")
	if _, err := run(ctx, ".", "go", "test", "-count", "1", "-timeout", "60m", "-run", "^TestMacro$", "./bench", "-macro.all", "-macro.out", tables); err != nil {
		return err
	}
	macro, err := os.ReadFile(tables)
	if err != nil {
		return err
	}

	var b bytes.Buffer
	if err := text.Execute(&b, fill(measured, versions, rounds, benchtime, string(macro))); err != nil {
		return err
	}
	return os.WriteFile(out, b.Bytes(), 0o644)
}

// fill is what the template asks for.
func fill(m *Measured, versions string, rounds int, benchtime, macro string) map[string]any {
	return map[string]any{
		"Machine":   machine(m),
		"Versions":  versions,
		"Rounds":    rounds,
		"Benchtime": benchtime,
		"Governor":  governorTable(m),
		"HotPath":   hotPathTable(m),
		"Ratios":    ratios(m),
		"Macro":     strings.TrimSpace(macro),
	}
}

// run gives what a command prints.
func run(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // go itself, and tests that it has built
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %v: %w\n%s%s", filepath.Base(name), args, err, stdout, stderr.Bytes())
	}
	return stdout, nil
}
