// Package awssdk makes the calls of a scenario with a client of the AWS SDK for Go v2
// and its own retryers.
package awssdk

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/cloudpace/cloudpace/bench/macro"
	"github.com/cloudpace/cloudpace/internal/scenario"
)

// Standard is the standard retryer with so many attempts.
func Standard(attempts int) func(scenario.Scenario, *macro.Server) (macro.Client, error) {
	return with(func() aws.Retryer {
		return retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts = attempts })
	})
}

// Adaptive is the adaptive retryer with so many attempts.
func Adaptive(attempts int) func(scenario.Scenario, *macro.Server) (macro.Client, error) {
	return with(func() aws.Retryer {
		return late{retry.NewAdaptiveMode(func(o *retry.AdaptiveModeOptions) {
			o.StandardOptions = append(o.StandardOptions, func(o *retry.StandardOptions) { o.MaxAttempts = attempts })
		})}
	})
}

func with(retryer func() aws.Retryer) func(scenario.Scenario, *macro.Server) (macro.Client, error) {
	return func(_ scenario.Scenario, server *macro.Server) (macro.Client, error) {
		client := sts.NewFromConfig(aws.Config{
			Region:     "us-east-1",
			HTTPClient: &http.Client{Transport: transport{server}},
			Retryer:    retryer,
			// Nobody checks signatures here.
			Credentials: aws.AnonymousCredentials{},
		})
		return func(ctx context.Context) error {
			_, err := client.GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
			return err
		}, nil
	}
}

// late has the adaptive retryer wake up a microsecond late, as every timer does that is
// not in virtual time. When it wakes up exactly on time it lacks the fraction of a token
// that was lost in rounding to a nanosecond, and asks again for ever: no time passes.
type late struct{ *retry.AdaptiveMode }

func (l late) GetAttemptToken(ctx context.Context) (func(error) error, error) {
	return l.AdaptiveMode.GetAttemptToken(lateContext{ctx})
}

type lateContext struct{ context.Context }

// Done is what the retryer asks for once for every sleep.
func (l lateContext) Done() <-chan struct{} {
	time.Sleep(time.Microsecond)
	return l.Context.Done()
}

// transport is the server as a transport of HTTP requests.
type transport struct{ server *macro.Server }

const (
	identity = `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult>` +
		`<Arn>arn:aws:iam::111122223333:user/reader</Arn><UserId>AIDACKCEVSQ6C2EXAMPLE</UserId><Account>111122223333</Account>` +
		`</GetCallerIdentityResult></GetCallerIdentityResponse>`
	throttling = `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error>` +
		`<Type>Sender</Type><Code>Throttling</Code><Message>Rate exceeded</Message></Error></ErrorResponse>`
)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	a := t.server.Attempt()
	resp := &http.Response{
		StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"text/xml"}},
	}
	body := identity
	if !a.OK {
		body, resp.StatusCode = throttling, http.StatusBadRequest
		if a.RetryAfter > 0 { // the standard header, which the SDK does not read, and the one that it does
			resp.Header.Set("Retry-After", strconv.Itoa(int(a.RetryAfter.Seconds())))
			resp.Header.Set("X-Amz-Retry-After", strconv.FormatInt(a.RetryAfter.Milliseconds(), 10))
		}
	}
	resp.Body, resp.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	return resp, nil
}
