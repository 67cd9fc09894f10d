package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/words"
	"github.com/cloudpace/cloudpace/fleet/learned"
)

// limitsFlags are the command line of limits.
type limitsFlags struct {
	config      string
	json, fresh bool
}

func newLimitsCommand() *cobra.Command {
	var f limitsFlags
	c := &cobra.Command{
		Use:   "limits [SCOPE]",
		Short: "Show the limits in force, where they are from, and what was learned",
		Long: `limits shows how fast each provider may be called, where each number is from
(the built-in table with its source, a line of --config, or a CLOUDPACE_… variable),
and what throttling has taught earlier runs of map, as it would count in one that
began now: rates that are lowered, pauses, open circuits, quotas that are used up.

SCOPE is a part of the cloud: provider, account, region, service and operation with
slashes between them, as many as you like, and * for any. With one that has a service
it is shown what a call there has to pass.

What was learned is kept in a file in the user's cache directory. With --fresh it is
forgotten, all of it or what is learned of SCOPE, and nothing else is shown.

Exit codes: 0 shown or forgotten; 1 the file could not be changed; 2 wrong usage.`,
		Example: `  cloudpace limits
  cloudpace limits azure
  cloudpace limits aws/111122223333/us-east-1/ec2/DescribeSubnets
  cloudpace limits --config cloudpace.yaml --json
  cloudpace limits --fresh 'aws/111122223333/*/ec2'`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if name, ok := emptyFlag(c); ok {
				return usage("--%s is empty: give it a value or leave it out", name)
			}
			var p part
			if len(args) > 0 {
				var err error
				if p, err = parsePart(args[0]); err != nil {
					return err
				}
			}
			return f.run(c.Context(), p, c.OutOrStdout(), c.ErrOrStderr())
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return completeParts(typed), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		},
	}
	fs := c.Flags()
	fs.StringVar(&f.config, "config", "", "configuration `file` with limits (cloudpace.yaml)")
	fs.BoolVar(&f.json, "json", false, "print JSON")
	fs.BoolVar(&f.fresh, "fresh", false, "forget what was learned")
	return c
}

func (f *limitsFlags) run(ctx context.Context, p part, stdout, stderr io.Writer) error {
	settings, places, err := configuration(f.config, stderr)
	if err != nil {
		return err
	}
	governor, err := cloudpace.New(settings)
	if err != nil {
		return usage("configuration: %w", err)
	}
	file, err := learned.DefaultPath()
	if f.fresh {
		if err != nil {
			return broken(err)
		}
		return f.forget(ctx, governor, file, p, stdout, stderr)
	}
	d, faulty := inForce(settings, places, p)
	if faulty != nil {
		return broken(faulty)
	}
	if near := d.meant(p); near != "" {
		warn(stderr, fmt.Sprintf("no provider called %s is built in; did you mean %s?", p.Provider, near))
	}
	d.File = file
	if err == nil {
		var l cloudpace.Learned
		if l, err = learned.Read(file); err == nil {
			err = d.recall(governor, p, l)
		}
	}
	if err != nil {
		warn(stderr, unlearned(err))
	}
	return f.print(stdout, d, func(w io.Writer) { d.text(w, p) })
}

// forgotten is what is printed with --fresh and --json.
type forgotten struct {
	File      string `json:"file"`
	Forgotten int    `json:"forgotten"` // entries
}

// forget takes out of the file what was learned in a part of the cloud. Everything goes
// with the file itself, whatever is in it.
func (f *limitsFlags) forget(ctx context.Context, g *cloudpace.Governor, file string, p part, stdout, stderr io.Writer) error {
	var keep func(cloudpace.Learned) cloudpace.Learned
	if p.Provider == "" {
		if _, err := learned.Read(file); err != nil {
			warn(stderr, unlearned(err)+"; it is removed")
		}
	} else {
		p = p.leaves(g)
		keep = p.without
	}
	n, err := learned.Forget(ctx, file, keep)
	if err != nil {
		return broken(fmt.Errorf("nothing is forgotten: %w", err))
	}
	return f.print(stdout, forgotten{file, n}, func(w io.Writer) {
		of := ""
		if p.Provider != "" {
			of = " of " + p.short()
		}
		entries := "entries"
		if n == 1 {
			entries = "entry"
		}
		fmt.Fprintf(w, "Forgot %s %s%s in %s.\n", words.Number(n), entries, of, file)
	})
}

// print prints a document, as JSON or as text.
func (f *limitsFlags) print(stdout io.Writer, document any, text func(io.Writer)) error {
	w := failing{w: stdout}
	if f.json {
		e := json.NewEncoder(&w)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		if err := e.Encode(document); err != nil {
			return broken(fmt.Errorf("standard output: %w", err))
		}
		return nil
	}
	text(&w)
	if w.err != nil {
		return broken(fmt.Errorf("standard output: %w", w.err))
	}
	return nil
}

// failing remembers that its writer failed.
type failing struct {
	w   io.Writer
	err error
}

func (f *failing) Write(p []byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	n, err := f.w.Write(p)
	f.err = err
	return n, err
}
