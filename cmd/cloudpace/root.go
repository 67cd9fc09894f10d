package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cloudpace/cloudpace/verdict"
)

// The exit codes.
const (
	exitDone        = 0   // finished, perhaps with gaps, which stderr names
	exitBroken      = 1   // nothing could be collected, or the run broke
	exitUsage       = 2   // the command line or the configuration is wrong
	exitPartial     = 3   // finished with gaps, under --fail-on-partial
	exitInterrupted = 130 // by a signal; data and coverage are kept
)

// exitError carries an exit code out of a command. Without an error inside,
// everything has been said.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func usage(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

func broken(err error) error { return &exitError{exitBroken, err} }

// run is the program with everything it touches as a parameter; it returns the
// exit code. The end of ctx is an interruption.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	command, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitDone
	}
	var exit *exitError
	if !errors.As(err, &exit) {
		// What cobra itself finds is about the command line.
		exit = &exitError{exitUsage, err}
	}
	if exit.err != nil {
		// Errors of others may repeat what they were given, such as a URL with a password.
		text := verdict.Describe(exit.err)
		if exit.code == exitUsage {
			text = strings.TrimPrefix(text, "throttled: ") // nobody was asked: only the word is in it
		}
		fmt.Fprintf(stderr, "cloudpace: %s\n", text)
	}
	if exit.code == exitUsage {
		fmt.Fprintf(stderr, "See '%s --help'.\n", command.CommandPath())
	}
	return exit.code
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "cloudpace",
		Short: "Read whole cloud accounts within their limits, and know what is missing",
		Long: `cloudpace reads whole cloud accounts within the providers' request limits,
and says what could not be read.`,
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(newMapCommand(), newPlanCommand(), newLimitsCommand(), newClassifyCommand(), newSimCommand(), newFleetCommand())
	return root
}

// version is that of the module, or the commit it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "devel-" + s.Value[:12]
		}
	}
	return "devel"
}
