package paceaws

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/verdict"
)

// S2.9: what an SDK's caller receives also satisfies the SDK's own error
// interface, whichever of the three errors it is.
func TestS2_9_WhatCallersReceive(t *testing.T) {
	t.Parallel()
	answered := &awshttp.ResponseError{ResponseError: &smithyhttp.ResponseError{
		Response: response(503), Err: &smithy.GenericAPIError{Code: "SlowDown", Message: "reduce"}}}
	scope := cloudpace.Scope{Provider: "aws", Service: "s3"}
	for _, own := range []verdict.Own{
		&cloudpace.CircuitOpenError{Scope: scope, RetryAfter: time.Minute, Err: answered},
		&cloudpace.RetryBudgetExhaustedError{Scope: scope, Err: answered},
		&cloudpace.DeadlineExceededError{Scope: scope, RetryAfter: time.Minute, Err: answered},
	} {
		err := error(&smithy.OperationError{ServiceID: "S3", OperationName: "GetObject", Err: forCaller(own)})
		likeThrottling(t, err)
		if !errors.Is(err, own) {
			t.Errorf("%T is not in it", own)
		}
		equal(t, "status inside", wants[*awshttp.ResponseError](t, err).HTTPStatusCode(), 503)
		equal(t, "text", wants[*refusal](t, err).Error(), own.Error())
		// Neither an outer retry loop nor one with codes of its own repeats it.
		standard := retry.NewStandard()
		equal(t, "repeated", standard.IsErrorRetryable(err), false)
	}
	late := forCaller(&cloudpace.DeadlineExceededError{Scope: scope})
	equal(t, "nothing was sent", verdict.Classify(late), verdict.Transient)
	if !errors.Is(late, context.DeadlineExceeded) {
		t.Error("it is no context.DeadlineExceeded")
	}
	_ = wants[*aws.RequestCanceledError](t, forCaller(context.Canceled))
	other := errors.New("other")
	equal(t, "another error", forCaller(other), other)
}

// Seen: an error with code "Throttling" inside the loop is repeated, and slows
// the SDK's adaptive mode. Ours has neither code nor cause.
func TestS10_3_TheErrorThatEndsTheLoop(t *testing.T) {
	t.Parallel()
	ends := (&operation{}).halt(&cloudpace.CircuitOpenError{Err: &smithy.GenericAPIError{Code: "Throttling"}})
	for _, r := range []aws.Retryer{
		retry.NewStandard(), retry.NewAdaptiveMode(), retry.AddWithErrorCodes(retry.NewStandard(), "Throttling"),
		(&installation{settings: newSettings(nil)}).newRetryer(),
	} {
		if r.IsErrorRetryable(ends) {
			t.Errorf("%T repeats it", r)
		}
	}
	if retry.IsErrorThrottles(retry.DefaultThrottles).IsErrorThrottle(ends).Bool() {
		t.Error("it counts as a throttle")
	}
	var api smithy.APIError
	if errors.As(ends, &api) {
		t.Error("it has a code")
	}
}

// The same over the wire, in adaptive mode: the budget ends the loop, nothing
// more is sent, and the caller sees the throttle.
func TestS10_3_BudgetEndsTheAdaptiveLoop(t *testing.T) {
	t.Parallel()
	c := serve(t, always(broken()))
	g := governor(t, maxRetries(8), provide(func(p *cloudpace.Provider) { p.RetryBudget = 0 }))
	cfg := c.config()
	cfg.RetryMode = aws.RetryModeAdaptive
	install(t, &cfg, g, WithLogger(debugTo(t.Output())))
	client := sts.NewFromConfig(cfg, fast)
	start := time.Now()
	for range 10 {
		_ = wants[*cloudpace.RetryBudgetExhaustedError](t, whoAmI(t.Context(), client))
	}
	equal(t, "sent", c.sent(), 30)
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("the SDK paced: %v", took)
	}
}

func TestS9_3_DisabledIsStillLabelled(t *testing.T) {
	t.Parallel()
	c := serve(t, always(bare(400, "text/plain", "Rate exceeded")))
	g := governor(t, func(c *cloudpace.Config, _ *cloudpace.Provider) { c.Enabled = false })
	err := whoAmI(t.Context(), sts.NewFromConfig(c.installed(t, g)))
	if text := verdict.Describe(err); text[:11] != "throttled: " {
		t.Error(text)
	}
}
