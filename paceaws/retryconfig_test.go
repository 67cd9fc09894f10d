package paceaws

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/cloudpace/cloudpace"
)

func TestS10_5_RetryMaxAttemptsOnlyWhereNeitherIsSet(t *testing.T) {
	t.Parallel()
	own := func() aws.Retryer { return retry.NewStandard() }
	for _, test := range []struct {
		name string
		cfg  aws.Config
		want int
	}{
		{"neither", aws.Config{}, 8},
		{"attempts", aws.Config{RetryMaxAttempts: 4}, 4},
		{"retryer", aws.Config{Retryer: own}, 0},
		{"both", aws.Config{Retryer: own, RetryMaxAttempts: 4}, 4},
	} {
		g := governor(t, maxRetries(7))
		cfg := test.cfg
		for _, id := range []string{"a", "b", "b"} { // installing again is no different
			install(t, &cfg, g, Account(id))
			equal(t, test.name, cfg.RetryMaxAttempts, test.want)
		}
	}
}

// A Retryer that is put in place after Install is the config's own from then on.
func TestS10_5_RetryerReplacedAfterInstall(t *testing.T) {
	t.Parallel()
	c := serve(t, always(throttle()))
	g := governor(t, maxRetries(7))
	cfg := c.installed(t, g)
	cfg.Retryer = func() aws.Retryer {
		return retry.AddWithMaxBackoffDelay(retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts = 2 }), time.Millisecond)
	}
	install(t, &cfg, g)
	equal(t, "attempts", cfg.RetryMaxAttempts, 0)
	if whoAmI(t.Context(), sts.NewFromConfig(cfg)) == nil {
		t.Error("no error")
	}
	equal(t, "sent", c.sent(), 2)
	equal(t, "retries", totals(g, "").Retries, 1)
}

// A Retryer made of ours is asked and charged once, and installing again wraps
// it, not a second one.
func TestS10_5_OurRetryerInsideAnother(t *testing.T) {
	t.Parallel()
	c := serve(t, always(fault(400, "Peculiar", "again, please")))
	g := governor(t, maxRetries(4), provide(func(p *cloudpace.Provider) { p.RetryBudget = 10 }))
	cfg := c.installed(t, g)
	inner := cfg.Retryer
	cfg.Retryer = func() aws.Retryer {
		return retry.AddWithMaxBackoffDelay(retry.AddWithErrorCodes(inner(), "Peculiar"), time.Millisecond)
	}
	install(t, &cfg, g, Account("again"))
	if whoAmI(t.Context(), sts.NewFromConfig(cfg)) == nil {
		t.Error("no error")
	}
	equal(t, "sent", c.sent(), 5)
	equal(t, "budget", budget(g), 8) // four retries, two of them free
	equal(t, "calls", totals(g, "aws/again/us-east-1/sts").Calls, 1)
}

func TestS10_5_AdaptiveIsAcceptedWithOneWarning(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	log := WithLogger(slog.New(slog.NewTextHandler(&text, nil)))
	c := serve(t, then(broken(), identity()))
	g := governor(t, func(conf *cloudpace.Config, _ *cloudpace.Provider) { conf.AWS.RetryMode = "adaptive" })
	cfg := c.installed(t, g, log)
	for i := range 5 {
		member := cfg.Copy()
		install(t, &member, g, log, Account(fmt.Sprint(i)))
	}
	equal(t, "warnings", strings.Count(text.String(), "level=WARN"), 1)
	if _, ok := cfg.Retryer().(*retryer).governed.(*retry.AdaptiveMode); !ok {
		t.Error("the SDK's mode is not adaptive")
	}
	if err := whoAmI(t.Context(), sts.NewFromConfig(cfg, fast)); err != nil {
		t.Fatal(err)
	}
	equal(t, "sent", c.sent(), 2)

	text.Reset()
	for _, cfg := range []aws.Config{
		{RetryMode: aws.RetryModeAdaptive},
		{Retryer: func() aws.Retryer { return retry.NewAdaptiveMode() }},
	} {
		install(t, &cfg, governor(t), log)
	}
	equal(t, "warnings of other governors", strings.Count(text.String(), "level=WARN"), 2)

	text.Reset()
	quiet := aws.Config{}
	install(t, &quiet, governor(t), log)
	equal(t, "what standard mode logs", text.String(), "")
}
