package paceaws

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// retryer decides like the SDK's own retryer, or like the one the config had.
// The one thing it adds is in GetRetryToken, which the SDK asks when it has
// decided to retry and before it backs off: there the governor's budget pays.
type retryer struct {
	*installation

	// governed has no quota of its own: the SDK's, 500 tokens of which a retry takes
	// 5 or 14, would end the retries of a client after some thirty operations.
	governed aws.RetryerV2
	// alone is what the SDK would have used, for calls that are not governed.
	alone aws.RetryerV2
}

var _ aws.RetryerV2 = (*retryer)(nil)

// newRetryer is the Retryer that Install sets: one for every client.
func (in *installation) newRetryer() aws.Retryer {
	if in.origin.retryer != nil {
		if own := in.origin.retryer(); own != nil {
			v2 := asV2(own)
			return &retryer{installation: in, governed: v2, alone: v2}
		}
	}
	conf := in.governor.Config().AWS
	mode := in.mode(conf)
	return &retryer{
		installation: in,
		governed: newSDKRetryer(mode, func(o *retry.StandardOptions) {
			o.MaxAttempts = conf.MaxRetries + 1
			if in.origin.maxAttempts > 0 {
				o.MaxAttempts = in.origin.maxAttempts
			}
			o.RateLimiter = ratelimit.None
		}),
		alone: newSDKRetryer(in.origin.mode, func(o *retry.StandardOptions) {
			if in.origin.maxAttempts > 0 {
				o.MaxAttempts = in.origin.maxAttempts
			}
		}),
	}
}

func newSDKRetryer(mode aws.RetryMode, options func(*retry.StandardOptions)) aws.RetryerV2 {
	if mode == aws.RetryModeAdaptive {
		return retry.NewAdaptiveMode(func(o *retry.AdaptiveModeOptions) {
			o.StandardOptions = append(o.StandardOptions, options)
		})
	}
	return retry.NewStandard(options)
}

func (r *retryer) of(op *operation) aws.RetryerV2 {
	if op == nil || op.off {
		return r.alone
	}
	return r.governed
}

// MaxAttempts is asked without a context, once at the beginning of a loop. It is
// right for both kinds of call; last ends the one with fewer attempts.
func (r *retryer) MaxAttempts() int {
	return max(r.governed.MaxAttempts(), r.alone.MaxAttempts())
}

func (r *retryer) IsErrorRetryable(err error) bool {
	if errors.Is(err, errHalted) {
		return false
	}
	return r.governed.IsErrorRetryable(err)
}

func (r *retryer) RetryDelay(attempt int, err error) (time.Duration, error) {
	return r.governed.RetryDelay(attempt, err)
}

func (r *retryer) GetInitialToken() func(error) error {
	return r.governed.GetInitialToken() //nolint:staticcheck // the interface has it, and whoever still calls it gets the inner retryer's
}

func (r *retryer) GetAttemptToken(ctx context.Context) (func(error) error, error) {
	return r.of(operationOf(ctx)).GetAttemptToken(ctx)
}

// GetRetryToken lets a config's own quota decide first: what it refuses is not
// paid for, and what the budget refuses is given back to it.
func (r *retryer) GetRetryToken(ctx context.Context, opErr error) (func(error) error, error) {
	op := operationOf(ctx)
	if op != nil && op.last(r) {
		return nil, &lastAttempt{opErr}
	}
	release, err := r.of(op).GetRetryToken(ctx, opErr)
	if err != nil || op == nil || op.off {
		return release, err
	}
	if op.failed == nil {
		// Another middleware of the loop failed before our hook was reached.
		op.fail(opErr)
	}
	if err := op.pay(ctx); err != nil {
		_ = release(nil)
		return nil, op.halt(err)
	}
	return release, nil
}

// last tells whether a call has had its attempts where the loop would count
// further. That happens because the loop's number is fixed before it is known
// whether the call is governed: it is RetryMaxAttempts from when the client was
// made, or MaxAttempts, which has no context to look at. A number that the client
// itself was given is left alone, and so is a config's own Retryer.
func (op *operation) last(r *retryer) bool {
	if r.origin.retryer != nil || op.attempts < r.of(op).MaxAttempts() {
		return false
	}
	return op.limit == 0 || op.limit == op.setAttempts || op.limit == r.MaxAttempts()
}

// countsTo reads from the header that the loop puts on a request how many attempts
// it counts to; 0 when it is not there.
func countsTo(request any) int {
	r, ok := request.(*smithyhttp.Request)
	if !ok {
		return 0
	}
	_, after, _ := strings.Cut(r.Header.Get("Amz-Sdk-Request"), "max=")
	digits, _, _ := strings.Cut(after, ";")
	n, _ := strconv.Atoi(digits)
	return n
}

// asV2 does for a Retryer of the first kind what the SDK does with it.
func asV2(r aws.Retryer) aws.RetryerV2 {
	if v2, ok := r.(aws.RetryerV2); ok {
		return v2
	}
	return firstKind{r}
}

type firstKind struct{ aws.Retryer }

func (r firstKind) GetAttemptToken(context.Context) (func(error) error, error) {
	return r.GetInitialToken(), nil
}

var _ aws.RetryerV2 = firstKind{}
