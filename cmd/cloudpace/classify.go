package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// maxRecord bounds one line of classify's input, in bytes.
const maxRecord = 16 << 20

func newClassifyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "classify [FILE...]",
		Short: "Say what cloudpace makes of recorded responses",
		Long: `classify reads recorded responses, one JSON object a line, from the files or
from standard input, and writes one JSON object for each: which scope it belongs
to, what kind of outcome it is, how long the server wants to wait, whether
cloudpace would repeat the request, what else it would hold, and why.

Input (all optional, but one of status, grpc and error):
  id            anything, comes back
  provider      aws, azure, gcp, databricks or another; else from the URL's host
  service       "ec2"; else from the URL
  method        of the request; GET if missing
  url           of the request
  status        HTTP status
  headers       {"Retry-After": "5"}; a list for repeated headers
  body          text, or JSON as it was
  grpc          {"code": "UNAVAILABLE", "message", "details": [...], "trailers": {...}}
  error         where the connection failed: ECONNRESET, ECONNREFUSED, ECONNABORTED,
                EPIPE, ETIMEDOUT, ESHUTDOWN, EHOSTUNREACH, ENETUNREACH, EAFNOSUPPORT,
                EMFILE, EACCES, EINVAL, EOF, TIMEOUT, TLS, DNS_NOT_FOUND, CANCELED
  command       operation: "DescribeSubnets", "ListAssets", "GetOperationStatus"
  received_at   RFC 3339; what dates are measured from, without a Date header

Output:
  id, scope, kind (ok, throttled, transient, fatal, canceled),
  retry_after_seconds (null without a hint), retry, pause, reason

Limits and circuits are the built-in ones. A line that cannot be read becomes
{"id", "line", "error"}; the rest is still read, and the exit code is 1.`,
		Example: `  echo '{"provider":"aws","service":"ec2","status":503,"body":"<Code>RequestLimitExceeded</Code>"}' | cloudpace classify`,
		RunE: func(cmd *cobra.Command, args []string) error {
			out := bufio.NewWriter(cmd.OutOrStdout())
			c := classifier{out: out}
			if len(args) == 0 {
				args = []string{"-"}
			}
			for _, name := range args {
				if err := c.file(name, cmd.InOrStdin()); err != nil {
					_ = out.Flush()
					return broken(err)
				}
			}
			if err := out.Flush(); err != nil {
				return broken(fmt.Errorf("writing: %w", err))
			}
			if c.bad > 0 {
				return broken(fmt.Errorf("%d of %d lines could not be read", c.bad, c.lines))
			}
			return nil
		},
	}
}

// classifier answers lines.
type classifier struct {
	out   *bufio.Writer
	lines int // that were not blank
	bad   int
}

// answer is one line of the output. Its fields are an interface to others.
type answer struct {
	ID         json.RawMessage `json:"id,omitempty"`
	Scope      string          `json:"scope"`
	Kind       string          `json:"kind"`
	RetryAfter *float64        `json:"retry_after_seconds"`
	Retry      bool            `json:"retry"`
	Pause      string          `json:"pause"`
	Reason     string          `json:"reason"`
}

// unreadable is what becomes of a line that is no record.
type unreadable struct {
	ID    json.RawMessage `json:"id,omitempty"`
	Line  int             `json:"line"`
	Error string          `json:"error"`
}

// file answers the lines of one file; "-" is standard input. The error is about
// reading or writing as such.
func (c *classifier) file(name string, stdin io.Reader) error {
	in := stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	r := bufio.NewReaderSize(in, 64<<10)
	for n := 1; ; n++ {
		line, err := readLine(r)
		if err != nil && !errors.Is(err, errLongLine) {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return fmt.Errorf("reading %s: %w", name, err)
		}
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
		}
		if err := c.line(n, line, err); err != nil {
			return fmt.Errorf("writing: %w", err)
		}
		// Who watches a pipe wants the answers as they come, also while half of the
		// next line is there.
		if ahead, _ := r.Peek(r.Buffered()); bytes.IndexByte(ahead, '\n') < 0 {
			if err := c.out.Flush(); err != nil {
				return fmt.Errorf("writing: %w", err)
			}
		}
	}
}

func (c *classifier) line(n int, line []byte, problem error) error {
	line = bytes.TrimSpace(line)
	if len(line) == 0 && problem == nil {
		return nil
	}
	c.lines++
	var result any
	rec, err := readRecord(line, problem)
	if err == nil {
		result, err = rec.classify()
	}
	if err != nil {
		c.bad++
		result = unreadable{ID: rec.ID, Line: n, Error: err.Error()}
	}
	enc := json.NewEncoder(c.out)
	enc.SetEscapeHTML(false)
	return enc.Encode(result)
}

var errLongLine = fmt.Errorf("the line is longer than %d bytes", maxRecord)

// readLine reads one line without its end. Of a line that is too long it gives
// errLongLine, and the next call begins behind it.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > maxRecord+1 {
			line, long = nil, true
		}
		if !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err == io.EOF && (long || len(line) > 0):
			// The last line needs no end.
		case err != nil:
			return nil, err
		}
		if long {
			return nil, errLongLine
		}
		return line, nil
	}
}

// oneLine keeps a reason on one line, whatever was in the response.
func oneLine(s string) string {
	if !utf8.ValidString(s) {
		s = string(bytes.ToValidUTF8([]byte(s), []byte("\uFFFD")))
	}
	return string(bytes.Join(bytes.Fields([]byte(s)), []byte(" ")))
}
