package pacedatabricks

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/internal/backoff"
	"github.com/cloudpace/cloudpace/internal/databricks"
	"github.com/cloudpace/cloudpace/internal/httpbody"
	"github.com/cloudpace/cloudpace/verdict"
)

// exchange is one request with all its attempts.
type exchange struct {
	*transport
	req     *http.Request
	command databricks.Command
	head    [databricks.HeadBytes]byte
	start   time.Time
	call    *cloudpace.Call
	attempt int // attempts made
	resends int // of those before the one under way
	watch   *watch
	first   watch // of the first attempt
	kept    kept
}

var errNothing = errors.New("pacedatabricks: the base transport returned neither answer nor error")

func (x *exchange) run() (*http.Response, error) {
	ctx := x.req.Context()
	opts := [2]cloudpace.BeginOption{cloudpace.Until(x.start.Add(x.retry.Duration))}
	n := 1
	if x.command.Repeatable {
		opts[1] = cloudpace.WaitForCircuit()
		n = 2
	}
	call, err := x.governor.Begin(ctx, scope(x.req, &x.command), opts[:n]...)
	if err != nil {
		httpbody.Close(x.req)
		return nil, x.notSent(err)
	}
	defer call.Drop()
	x.call = call
	for next := x.req; ; {
		resp, f := x.send(next)
		if f == nil {
			call.End(nil)
			return resp, nil
		}
		if gone := ctx.Err(); gone != nil {
			// No event of the network, whatever it looks like.
			return x.end(f, 0, x.why(gone), fmt.Errorf("%w: %w", gone, f.err))
		}
		call.Failed(f.err)
		delay := x.retry.delay(x.attempt, f.proposed)
		again, reason, err := x.decide(f, delay)
		x.logConnection(f, err == nil, delay)
		if err != nil {
			return x.end(f, delay, reason, err)
		}
		if err := x.wait(f, delay); err != nil {
			httpbody.Close(again)
			return x.end(f, delay, x.why(err), err)
		}
		httpbody.Drop(f.resp, peeked)
		next = again
	}
}

// send makes one attempt. Answers below 400 are no failures.
func (x *exchange) send(req *http.Request) (*http.Response, *failure) {
	x.attempt++
	x.resends = x.resent()
	sent := x.guard(x.call.Context(), req)
	resp, err := x.base.RoundTrip(sent)
	if resp == nil && err == nil {
		err = errNothing
	}
	if err != nil {
		x.watch.release()
		return nil, x.failedConnection(err)
	}
	if resp.Body == nil {
		resp.Body = http.NoBody // a client of net/http would get that, too
	}
	if resp.ProtoMajor == 2 {
		x.http2.Store(true)
	}
	resp.Request = x.req
	switch {
	case resp.StatusCode >= 400:
		f := x.answered(resp)
		x.releaseAtEnd(resp)
		return nil, f
	case x.command.Repeatable:
		whole, err := x.kept.read(resp, x.req.Method)
		if err != nil {
			_ = resp.Body.Close()
			x.watch.release()
			return nil, x.failedConnection(err)
		}
		if whole {
			x.watch.release()
			if f := x.lost(resp); f != nil {
				return nil, f
			}
			if code := databricks.Refused(x.kept.data); code != "" && x.command.Service == "sql" {
				mark(resp, x.req, x.failure(resp.StatusCode, code, x.retry.delay(x.attempt, x.retry.DelayDefault), notRetryable, nil))
			}
			return resp, nil
		}
	}
	x.releaseAtEnd(resp)
	return resp, nil
}

// releaseAtEnd ends what the attempt holds with the answer's body. A connection that
// was switched to another protocol is its caller's, and can be written to.
func (x *exchange) releaseAtEnd(resp *http.Response) {
	if x.watch.cancel != nil && resp.StatusCode != http.StatusSwitchingProtocols {
		resp.Body = httpbody.AtEnd(resp.Body, x.watch.release)
	}
}

// decide gives the request to send next, with the retry paid for, or why a failure
// is the last one. The order is that of S14.4.
func (x *exchange) decide(f *failure, delay time.Duration) (again *http.Request, reason string, err error) {
	// A pause that the governor makes of the hint holds for this request too.
	wait := max(delay, x.pause(f))
	switch owner := owner(x.req.Context()); {
	case time.Since(x.start)+wait > x.retry.Duration, x.tooLate(time.Now().Add(wait)):
		return nil, outOfTime, f.err
	case x.attempt >= x.retry.Attempts:
		return nil, outOfAttempts, f.err
	case !x.command.Repeats(f.outcome):
		return nil, notRetryable, f.err
	case owner != nil && owner.Err() != nil:
		return nil, x.why(owner.Err()), fmt.Errorf("%w: %w", owner.Err(), f.err)
	}
	// Before the token: what cannot be sent must not take one.
	again, err = httpbody.Rewind(x.req.Context(), x.req)
	if err != nil {
		return nil, notRetryable, fmt.Errorf("pacedatabricks: %w, after: %w", err, f.err)
	}
	if err := x.call.Retry(); err != nil {
		httpbody.Close(again)
		return nil, x.why(err), err
	}
	return again, "", nil
}

// pause is how long the governor lets nobody go after a failure, where it paces.
func (x *exchange) pause(f *failure) time.Duration {
	if !f.throttled || !x.call.Governed() {
		return 0
	}
	return min(f.hint, x.governor.Provider(provider).MaxPause)
}

// tooLate tells whether the caller's deadline, or its owner's, lies before a time.
func (x *exchange) tooLate(at time.Time) bool {
	ctx := x.req.Context()
	if d, ok := ctx.Deadline(); ok && d.Before(at) {
		return true
	}
	if owner := owner(ctx); owner != nil {
		if d, ok := owner.Deadline(); ok && d.Before(at) {
			return true
		}
	}
	return false
}

func owner(ctx context.Context) context.Context {
	o, _ := ctx.Value(ownerKey{}).(context.Context)
	return o
}

// wait sleeps, and has the next attempt admitted.
func (x *exchange) wait(f *failure, delay time.Duration) error {
	ctx, done := x.patience()
	defer done()
	err := backoff.Rest(ctx, delay)
	if err == nil {
		err = x.call.Next(ctx)
	}
	if err != nil && err == ctx.Err() { //nolint:errorlint // the bare error, which says nothing of the failure
		return fmt.Errorf("%w while waiting to repeat after: %w", err, f.err)
	}
	return err
}

// patience is the caller's context, bounded by its owner's too.
func (x *exchange) patience() (context.Context, func()) {
	ctx := x.req.Context()
	owner := owner(ctx)
	if owner == nil {
		return ctx, func() {}
	}
	var cancel context.CancelFunc
	if d, ok := owner.Deadline(); ok {
		ctx, cancel = context.WithDeadline(ctx, d)
	} else {
		ctx, cancel = context.WithCancel(ctx)
	}
	stop := context.AfterFunc(owner, cancel)
	return ctx, func() { stop(); cancel() }
}

// why gives the reason that stands for an error of the governor or of a context.
func (x *exchange) why(err error) string {
	var (
		open   *cloudpace.CircuitOpenError
		budget *cloudpace.RetryBudgetExhaustedError
		late   *cloudpace.DeadlineExceededError
	)
	switch {
	case errors.As(err, &open) && x.command.Repeatable, errors.As(err, &late):
		return outOfTime
	case errors.As(err, &budget):
		return outOfAttempts
	case errors.Is(err, context.Canceled):
		return canceled
	case errors.Is(err, context.DeadlineExceeded):
		return outOfTime
	}
	return notRetryable
}

// notSent is the error of a request that the governor did not let go.
func (x *exchange) notSent(err error) error {
	return x.failure(0, "", 0, x.why(err), err)
}

// end gives the caller the last answer as it is, with its body unread, or the
// error. A caller who has left wants no answer, and its leaving says nothing about
// the service.
func (x *exchange) end(f *failure, delay time.Duration, reason string, err error) (*http.Response, error) {
	if reason == canceled {
		x.call.Drop()
	} else {
		x.call.End(err)
	}
	status := 0
	if f.resp != nil {
		status = f.resp.StatusCode
	}
	why := x.failure(status, f.message, delay, reason, err)
	if f.resp == nil || x.req.Context().Err() != nil {
		httpbody.Drop(f.resp, 0)
		return nil, why
	}
	mark(f.resp, x.req, why)
	return f.resp, nil
}

// resent is how often net/http sent attempts again by itself.
func (x *exchange) resent() int {
	if x.watch == nil {
		return x.resends
	}
	return x.resends + int(x.watch.resends.Load())
}

func (x *exchange) failure(status int, message string, delay time.Duration, reason string, err error) *RetryError {
	e := &RetryError{
		Method: x.command.Name, SessionID: x.command.SessionID(), QueryID: x.command.QueryID(), HTTPCode: status, Reason: reason,
		Delay: delay, Elapsed: time.Since(x.start), Attempt: x.attempt, Attempts: x.retry.Attempts, Resends: x.resent(),
		message: message, maxDuration: x.retry.Duration, err: err,
	}
	return e
}

// logConnection logs a failed connection, once.
func (x *exchange) logConnection(f *failure, again bool, delay time.Duration) {
	if !f.connection {
		return
	}
	level := slog.LevelWarn
	if f.usual {
		level = slog.LevelInfo
	}
	x.logger().LogAttrs(x.req.Context(), level, "databricks connection failed",
		slog.String("method", x.command.Name), slog.String("session_id", x.command.SessionID()), slog.String("query_id", x.command.QueryID()),
		slog.Bool("retry", again), slog.Duration("delay", delay), slog.Int("attempt", x.attempt), slog.Int("attempts", x.retry.Attempts),
		slog.Duration("elapsed", time.Since(x.start)), slog.Int("resends", x.resent()), slog.String("error", verdict.DescribeFor(provider, f.err)))
}
