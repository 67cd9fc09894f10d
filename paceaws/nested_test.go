package paceaws

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/verdict"
)

const iamScope = "aws/" + account + "/aws-global/iam"

// roles answers AssumeRole with one thing and everything else with a list of
// users.
func roles(assume func(n int) answer) func(int, request) answer {
	n := 0
	var mu sync.Mutex
	return func(_ int, r request) answer {
		if r.operation() == "AssumeRole" {
			mu.Lock()
			n++
			i := n
			mu.Unlock()
			return assume(i)
		}
		return bare(200, "text/xml", "<ListUsersResponse><ListUsersResult><Users/></ListUsersResult></ListUsersResponse>")
	}
}

func assumed() answer {
	return bare(200, "text/xml", `<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>ASIA</AccessKeyId><SecretAccessKey>s</SecretAccessKey>`+
		`<SessionToken>t</SessionToken><Expiration>2096-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`)
}

// assuming makes an IAM client whose credentials come from an AssumeRole that is
// governed on the same account.
func assuming(cfg aws.Config) *iam.Client {
	provider := stscreds.NewAssumeRoleProvider(sts.NewFromConfig(cfg, fast), "arn:aws:iam::111122223333:role/r")
	cfg.Credentials = aws.NewCredentialsCache(provider)
	return iam.NewFromConfig(cfg, func(o *iam.Options) { o.Retryer = retry.AddWithMaxBackoffDelay(o.Retryer, time.Millisecond) })
}

func users(ctx context.Context, c *iam.Client) error {
	_, err := c.ListUsers(ctx, &iam.ListUsersInput{})
	return err
}

// Seen: AssumeRole runs inside the outer attempt. With one slot for both it would
// wait for itself.
func TestS5_4_NestedCallsTakeNoSecondSlot(t *testing.T) {
	t.Parallel()
	c := serve(t, roles(func(int) answer { return assumed() }))
	g := governor(t, provide(func(p *cloudpace.Provider) { p.MaxConcurrency = 1 }))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	cfg := c.installed(t, g)
	var all sync.WaitGroup
	for range 4 {
		client := assuming(cfg)
		for range 3 {
			all.Go(func() {
				if err := users(ctx, client); err != nil {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
	equal(t, "calls of sts", totals(g, stsScope).Calls, 4)
	equal(t, "calls of iam", totals(g, iamScope).Calls, 12)
	equal(t, "slots in use", slotsInUse(g), 0)
}

// One look-up of credentials serves all who wait for it, and goes on when the call
// that began it has ended. Were it to queue for a slot then, it would wait for one
// that waits for it.
func TestS5_4_NestedCallOutlivesItsCaller(t *testing.T) {
	t.Parallel()
	c := serve(t, roles(func(n int) answer {
		if n == 1 {
			return throttle()
		}
		return assumed()
	}))
	g := governor(t, provide(func(p *cloudpace.Provider) { p.MaxConcurrency = 1 }))
	cfg := c.installed(t, g)
	cfg.Credentials = aws.NewCredentialsCache(stscreds.NewAssumeRoleProvider(
		sts.NewFromConfig(cfg, slow(300*time.Millisecond)), "arn:aws:iam::111122223333:role/r"))
	client := iam.NewFromConfig(cfg)
	brief, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := users(brief, client); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	patient, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := users(patient, client); err != nil {
		t.Error(err)
	}
	equal(t, "calls of sts", totals(g, stsScope).Calls, 1)
	equal(t, "slots in use", slotsInUse(g), 0)
}

// Seen: the outer loop repeats the nested failure, 16 requests for max_retries 3.
func TestS5_4_NestedFailureIsNotRepeated(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		assume answer
		sends  int
		kind   verdict.Kind
	}{
		{"throttled", throttle(), 4, verdict.Throttled},
		{"transient", broken(), 4, verdict.Transient},
		// STS adds this code to what its retryer repeats, whatever is around it.
		{"with a code of the outer retryer", fault(400, "IDPCommunicationError", "x"), 4, verdict.Transient},
		{"fatal", forbidden(), 1, verdict.Fatal},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := serve(t, roles(func(int) answer { return test.assume }))
			g := governor(t, maxRetries(3), provide(func(p *cloudpace.Provider) { p.MaxRPS, p.Burst = 1000, 1000 }))
			cfg := c.installed(t, g)
			ctx, ledger := cloudpace.WithLedger(t.Context())
			err := users(ctx, assuming(cfg))
			equal(t, "sent", c.sent(), test.sends)
			equal(t, "kind", verdict.Classify(err), test.kind)
			// The caller gets what the SDK alone would have given.
			equal(t, "outer operation", wants[*smithy.OperationError](t, err).Operation(), "ListUsers")
			if text := err.Error(); !strings.Contains(text, "AssumeRole") || strings.Contains(text, "cloudpace") {
				t.Error(text)
			}
			// A nested throttle does not slow the outer scope, and marks nothing.
			equal(t, "throttled outside", totals(g, iamScope).Throttled, 0)
			equal(t, "transient outside", totals(g, iamScope).TransientErrors, 0)
			equal(t, "given up outside", totals(g, iamScope).GaveUp, 0)
			if b, ok := leaf(g, iamScope); !ok || b.RPS != 1000 {
				t.Errorf("the outer rate is %v", b.RPS)
			}
			for _, b := range g.Snapshot().Breakers {
				want := count(test.kind != verdict.Fatal)
				if strings.HasSuffix(b.Scope, "/iam") {
					want = 0
				}
				equal(t, "failures of "+b.Scope, b.Failures, want)
			}
			equal(t, "given up inside", totals(g, stsScope).GaveUp, count(test.kind == verdict.Throttled))
			equal(t, "entries in the ledger", strings.Count(ledger.String(), "sts: "), count(test.kind != verdict.Fatal))
			equal(t, "slots in use", slotsInUse(g), 0)
			t.Log(ledger)
		})
	}
}

// The same with a base config that nobody governs, and with an outer client whose
// own retryer repeats everything.
func TestS5_4_NestedFailureOfAnotherMake(t *testing.T) {
	t.Parallel()
	c := serve(t, roles(func(int) answer { return throttle() }))
	g := governor(t, maxRetries(3), provide(func(p *cloudpace.Provider) { p.MaxRPS, p.Burst = 1000, 1000 }))
	base := c.config()
	provider := stscreds.NewAssumeRoleProvider(sts.NewFromConfig(base, fast), "arn:aws:iam::111122223333:role/r")
	cfg := c.installed(t, g)
	cfg.Credentials = aws.NewCredentialsCache(provider)
	repeats := &countingQuota{}
	for _, client := range []*iam.Client{iam.NewFromConfig(cfg), iam.NewFromConfig(cfg, func(o *iam.Options) { o.Retryer = repeats })} {
		before := c.sent()
		err := users(t.Context(), client)
		equal(t, "sent", c.sent()-before, 3) // the SDK's own three
		_ = wants[*smithy.OperationError](t, err)
		equal(t, "kind", verdict.Classify(err), verdict.Throttled)
	}
	equal(t, "calls", totals(g, "").Calls, 2)
	equal(t, "throttled", totals(g, "").Throttled, 0)

	// A config's own retryer that repeats everything is not even asked.
	asked := &countingQuota{}
	cfg.Retryer = func() aws.Retryer { return asked }
	install(t, &cfg, g)
	if users(t.Context(), iam.NewFromConfig(cfg)) == nil {
		t.Error("no error")
	}
	equal(t, "asked for retries", asked.taken, 0)
}

// Several calls wait for the same credentials: those that did not ask for them
// themselves get the error too.
func TestS5_4_NestedFailureSharedByMany(t *testing.T) {
	t.Parallel()
	c := serve(t, roles(func(int) answer { a := throttle(); a.delay = 20 * time.Millisecond; return a }))
	g := governor(t, maxRetries(3), provide(func(p *cloudpace.Provider) { p.MaxRPS, p.Burst = 1000, 1000 }))
	client := assuming(c.installed(t, g))
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			if users(t.Context(), client) == nil {
				t.Error("no error")
			}
		})
	}
	all.Wait()
	equal(t, "sent", c.sent(), 4)
	equal(t, "throttled outside", totals(g, iamScope).Throttled, 0)
	equal(t, "given up outside", totals(g, iamScope).GaveUp, 0)
	equal(t, "slots in use", slotsInUse(g), 0)
}

// An open circuit inside is no reason for one outside.
func TestS5_4_NestedRefusal(t *testing.T) {
	t.Parallel()
	c := serve(t, roles(func(int) answer { return throttle() }))
	g := governor(t, maxRetries(0), provide(func(p *cloudpace.Provider) { p.BreakerThreshold = 1 }))
	client := assuming(c.installed(t, g))
	if users(t.Context(), client) == nil {
		t.Fatal("no error")
	}
	for range 3 {
		err := users(t.Context(), client)
		equal(t, "scope", wants[*cloudpace.CircuitOpenError](t, err).Scope.Service, "sts")
	}
	equal(t, "sent", c.sent(), 1)
	equal(t, "refused", totals(g, stsScope).Rejected, 3)
	equal(t, "refused outside", totals(g, iamScope).Rejected, 0)
}

// E23: a Do around a governed client repeats nothing that the client has given
// up.
func TestS5_4_DoAroundAClient(t *testing.T) {
	t.Parallel()
	c := serve(t, always(throttle()))
	g := governor(t, maxRetries(3), provide(func(p *cloudpace.Provider) { p.MaxConcurrency = 1 }))
	client := sts.NewFromConfig(c.installed(t, g), fast)
	scope := cloudpace.Scope{Provider: "aws", Account: account, Region: "us-east-1", Service: "mine"}
	err := cloudpace.Do(t.Context(), scope, func(ctx context.Context) error { return whoAmI(ctx, client) },
		cloudpace.WithGovernor(g), cloudpace.WithBackoff(time.Millisecond, time.Millisecond))
	_ = wants[*retry.MaxAttemptsError](t, err)
	equal(t, "sent", c.sent(), 4)
	equal(t, "throttled outside", totals(g, scope.String()).Throttled, 0)
	equal(t, "slots in use", slotsInUse(g), 0)
}

// S3 Express sessions are created inside the outer attempt too.
func TestS5_4_S3ExpressSession(t *testing.T) {
	t.Parallel()
	for _, ok := range []bool{true, false} {
		sessions := 0
		var mu sync.Mutex
		c := serve(t, func(_ int, r request) answer {
			if r.URL.Query().Has("session") {
				mu.Lock()
				sessions++
				mu.Unlock()
				if !ok {
					return bare(503, "application/xml", "<Error><Code>SlowDown</Code><Message>x</Message></Error>")
				}
				return bare(200, "application/xml", `<CreateSessionResult><Credentials><SessionToken>t</SessionToken><SecretAccessKey>s</SecretAccessKey>`+
					`<AccessKeyId>a</AccessKeyId><Expiration>2096-01-01T00:00:00Z</Expiration></Credentials></CreateSessionResult>`)
			}
			return bare(200, "application/xml", "<ListBucketResult/>")
		})
		g := governor(t, maxRetries(3), provide(func(p *cloudpace.Provider) { p.MaxConcurrency = 1 }))
		client := s3.NewFromConfig(c.installed(t, g), func(o *s3.Options) { o.Retryer = retry.AddWithMaxBackoffDelay(o.Retryer, time.Millisecond) })
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		_, err := client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: aws.String("b--use1-az4--x-s3")})
		cancel()
		if (err == nil) != ok {
			t.Fatal(err)
		}
		want := 1
		if !ok {
			want = 4
		}
		equal(t, "sessions", sessions, want)
		equal(t, "sent", c.sent(), want+count(ok))
		equal(t, "calls", totals(g, "").Calls, 2)
		equal(t, "slots in use", slotsInUse(g), 0)
	}
}

// Seen: imds clients inherit the hooks with an empty service id. Inside another
// call they also see that call's metadata, since they do not clear it.
func TestInstanceMetadataIsNotGoverned(t *testing.T) {
	t.Parallel()
	fails := false
	var mu sync.Mutex
	metadata := serve(t, func(n int, r request) answer {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case fails:
			return answer{status: 500}
		case strings.HasSuffix(r.URL.Path, "/token"):
			return answer{status: 200, body: "token", header: map[string]string{"X-Aws-Ec2-Metadata-Token-Ttl-Seconds": "21600"}}
		}
		return answer{status: 200, body: "key"}
	})
	c := serve(t, always(identity()))
	g := governor(t, maxRetries(10), provide(func(p *cloudpace.Provider) { p.MaxConcurrency = 1; p.RetryBudget = 0 }))
	cfg := c.installed(t, g)
	client := imds.NewFromConfig(cfg, func(o *imds.Options) {
		o.Endpoint = metadata.url
		o.Retryer = retry.AddWithMaxBackoffDelay(o.Retryer, time.Millisecond)
		o.DisableDefaultMaxBackoff = true
		o.HTTPClient = metadata.client
	})
	ask := func(ctx context.Context) error {
		_, err := client.GetMetadata(ctx, &imds.GetMetadataInput{Path: "x"})
		return err
	}
	if err := ask(t.Context()); err != nil {
		t.Fatal(err)
	}
	equal(t, "calls", totals(g, "").Calls, 0)

	inside := c.config()
	inside.Credentials = aws.CredentialsProviderFunc(func(ctx context.Context) (aws.Credentials, error) {
		if err := ask(ctx); err != nil {
			return aws.Credentials{}, fmt.Errorf("from the machine: %w", err)
		}
		return aws.Credentials{AccessKeyID: "a", SecretAccessKey: "s"}, nil
	})
	install(t, &inside, g)
	outer := sts.NewFromConfig(inside, fast)
	if err := whoAmI(t.Context(), outer); err != nil {
		t.Fatal(err)
	}
	equal(t, "calls", totals(g, "").Calls, 1)

	// One that fails has the SDK's own attempts, is not charged, and ends the outer
	// call without a mark.
	mu.Lock()
	fails = true
	mu.Unlock()
	before := metadata.sent()
	err := ask(t.Context())
	equal(t, "attempts", wants[*retry.MaxAttemptsError](t, err).Attempt, 3)
	equal(t, "requests", metadata.sent()-before, 3)
	before = metadata.sent()
	err = whoAmI(t.Context(), outer)
	if err == nil || !strings.Contains(err.Error(), "from the machine") {
		t.Error(err)
	}
	equal(t, "requests", metadata.sent()-before, 3)
	equal(t, "calls", totals(g, "").Calls, 2)
	equal(t, "transient errors", totals(g, "").TransientErrors, 0)
	equal(t, "retries", totals(g, "").Retries, 0)
	equal(t, "failures", breakerState(g).Failures, 0)
	equal(t, "sent", c.sent(), 1)
}

// A wait must never age a signature: neither the wait for a token, nor a pause
// before a retry, nor the one inside for credentials.
func TestS10_2_WaitsDoNotAgeSignatures(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		replies := []answer{throttle().with("Retry-After", "120"), broken().with("Retry-After", "90"), identity()}
		c := inProcess(func(n int, r request) answer {
			if r.operation() == "AssumeRole" {
				return assumed()
			}
			signed, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
			if err != nil {
				t.Error(err)
			}
			if age := r.at.Sub(signed); age < 0 || age >= time.Second {
				t.Errorf("request %d was signed %v ago", n, age)
			}
			a := replies[0]
			if len(replies) > 1 {
				replies = replies[1:]
			}
			return a
		})
		g := governor(t, provide(func(p *cloudpace.Provider) { p.MaxRPS, p.Burst, p.MinRPS = 0.01, 1, 0.01 }))
		cfg := c.installed(t, g)
		provider := stscreds.NewAssumeRoleProvider(sts.NewFromConfig(cfg), "arn:aws:iam::111122223333:role/r")
		cfg.Credentials = aws.NewCredentialsCache(provider)
		client := sts.NewFromConfig(cfg)
		start := time.Now()
		for range 2 {
			if err := whoAmI(t.Context(), client); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(start); took < 300*time.Second {
			t.Errorf("nothing waited: %v", took)
		}
		equal(t, "sent", c.sent(), 5)
	})
}
