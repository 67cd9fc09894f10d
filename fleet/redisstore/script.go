package redisstore

import (
	"context"
	"crypto/sha1" //nolint:gosec // Redis names scripts so
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"
)

// The scripts are the law of internal/sharing where Redis runs it, but for buckets that
// learn, which it only keeps. Each works on one key.
var (
	//go:embed bucket.lua
	bucketText string
	//go:embed learn.lua
	learnText string
	//go:embed slots.lua
	slotsText string
	//go:embed members.lua
	membersText string

	bucketScript  = newScript(bucketText)
	learnScript   = newScript(learnText)
	slotsScript   = newScript(slotsText)
	membersScript = newScript(membersText)
)

type script struct{ text, sha string }

func newScript(text string) *script {
	sum := sha1.Sum([]byte(text)) //nolint:gosec // likewise
	return &script{text: text, sha: hex.EncodeToString(sum[:])}
}

// call is one run of a script.
type call struct {
	script *script
	key    string
	args   []any
	reply  []string
	err    error
}

// once is a command that the client sends a single time, whatever becomes of its answer:
// one that was lost may have been carried out. Redirections of a cluster, which were not,
// are followed.
type once struct{ *redis.Cmd }

// NoRetry implements [redis.Cmder].
func (once) NoRetry() bool { return true }

// run sends calls in one go, and fills in what came of each. Scripts are sent by name; one
// that a server does not know, after a restart or failover, was not run, and is sent with
// its text. A few texts teach it to a server, or to all of a cluster, so that the rest can
// go by name again.
func (s *Store) run(ctx context.Context, calls []*call) {
	const texts = 16
	ctx, cancel := context.WithTimeout(ctx, 2*s.timeout)
	defer cancel()
	s.send(ctx, calls, 0)
	for unknown := pick(calls); len(unknown) > 0; {
		s.send(ctx, unknown, texts)
		rest := pick(unknown)
		if len(rest) > max(0, len(unknown)-texts) {
			return // it does not even know what it was just sent
		}
		unknown = rest
	}
}

// pick gives the calls whose script the server did not know.
func pick(calls []*call) (unknown []*call) {
	for _, c := range calls {
		if redis.HasErrorPrefix(c.err, "NOSCRIPT") {
			unknown = append(unknown, c)
		}
	}
	return unknown
}

// send sends calls in one pipeline, the first few with the script's text.
func (s *Store) send(ctx context.Context, calls []*call, texts int) {
	pipe := s.client.Pipeline()
	cmds := make([]once, len(calls))
	for i, c := range calls {
		args := append(make([]any, 0, 4+len(c.args)), "evalsha", c.script.sha, 1, c.key)
		if i < texts {
			args[0], args[1] = "eval", c.script.text
		}
		cmds[i] = once{redis.NewCmd(ctx, append(args, c.args...)...)}
		_ = pipe.Process(ctx, cmds[i]) // a pipeline only keeps it
	}
	_, err := pipe.Exec(ctx)
	for i, c := range calls {
		c.reply, c.err = nil, nil
		if e := cmds[i].Err(); e != nil {
			c.err = e
		} else if c.reply, c.err = strs(cmds[i].Val()); c.err != nil && err != nil {
			c.err = err
		}
	}
}

// errReply is an answer that none of our scripts gives.
var errReply = errors.New("the answer is not of our script")

// strs takes an answer of strings.
func strs(answer any) ([]string, error) {
	list, ok := answer.([]any)
	if !ok {
		return nil, errReply
	}
	out := make([]string, len(list))
	for i, x := range list {
		if out[i], ok = x.(string); !ok {
			return nil, errReply
		}
	}
	return out, nil
}

// scan reads the numbers of an answer's first string.
func scan(reply []string, into ...any) error {
	if len(reply) == 0 {
		return errReply
	}
	r := strings.NewReader(reply[0])
	for _, p := range into {
		if _, err := fmt.Fscan(r, p); err != nil {
			return fmt.Errorf("%w: %q", errReply, reply[0])
		}
	}
	return nil
}
