package paceaws

import (
	"bytes"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go/middleware"

	"github.com/cloudpace/cloudpace"
)

const stsScope = "aws/" + account + "/us-east-1/sts"

func TestS10_1_InstallGovernsClients(t *testing.T) {
	t.Parallel()
	c := serve(t, always(identity()))
	g := governor(t)
	cfg := c.config()
	before := sts.NewFromConfig(cfg)
	install(t, &cfg, g)
	after := sts.NewFromConfig(cfg)
	for _, client := range []*sts.Client{before, after, after} {
		if err := whoAmI(t.Context(), client); err != nil {
			t.Fatal(err)
		}
	}
	equal(t, "sent", c.sent(), 3)
	equal(t, "governed calls", totals(g, stsScope).Calls, 2)
	equal(t, "slots in use", slotsInUse(g), 0)
}

func TestS10_1_DefaultGovernor(t *testing.T) {
	c := serve(t, always(identity()))
	cfg := c.config()
	if err := Install(&cfg, Account("default-governor")); err != nil {
		t.Fatal(err)
	}
	calls := func() int { return totals(cloudpace.Default(), "aws/default-governor/us-east-1/sts").Calls }
	before := calls()
	if err := whoAmI(t.Context(), sts.NewFromConfig(cfg)); err != nil {
		t.Fatal(err)
	}
	equal(t, "calls", calls()-before, 1)
}

func TestS10_1_InstallAgainChangesNothing(t *testing.T) {
	t.Parallel()
	c := serve(t, always(identity()))
	g := governor(t)
	cfg := c.installed(t, g)
	options, retryer, attempts := cfg.APIOptions, cfg.Retryer, cfg.RetryMaxAttempts
	install(t, &cfg, g)
	equal(t, "options", len(cfg.APIOptions), 1)
	equal(t, "the slice of options", &cfg.APIOptions[0], &options[0])
	equal(t, "the retryer", reflect.ValueOf(cfg.Retryer).UnsafePointer(), reflect.ValueOf(retryer).UnsafePointer())
	equal(t, "attempts", cfg.RetryMaxAttempts, attempts)
	if err := whoAmI(t.Context(), sts.NewFromConfig(cfg)); err != nil {
		t.Fatal(err)
	}
	equal(t, "calls", totals(g, "").Calls, 1)
	equal(t, "sent", c.sent(), 1)
}

// After an AssumeRole the copy of the base config must not keep the base's
// scope.
func TestS10_1_AnotherAccountReplaces(t *testing.T) {
	t.Parallel()
	c := serve(t, always(identity()))
	g := governor(t)
	base := c.config()
	if err := Install(&base, WithGovernor(g)); err != nil {
		t.Fatal(err)
	}
	member := base.Copy()
	for range 3 {
		install(t, &member, g, Account("444455556666"))
	}
	equal(t, "options", len(member.APIOptions), 1)
	for _, cfg := range []aws.Config{member, base, member} {
		if err := whoAmI(t.Context(), sts.NewFromConfig(cfg)); err != nil {
			t.Fatal(err)
		}
	}
	equal(t, "calls of the member", totals(g, "aws/444455556666/us-east-1/sts").Calls, 2)
	equal(t, "calls of the base", totals(g, "aws/*/us-east-1/sts").Calls, 1)
}

func TestS10_1_AnotherGovernorReplaces(t *testing.T) {
	t.Parallel()
	c := serve(t, always(identity()))
	first, second := governor(t, maxRetries(2)), governor(t, maxRetries(5))
	cfg := c.installed(t, first)
	equal(t, "attempts", cfg.RetryMaxAttempts, 3)
	install(t, &cfg, second)
	equal(t, "attempts", cfg.RetryMaxAttempts, 6)
	if err := whoAmI(t.Context(), sts.NewFromConfig(cfg)); err != nil {
		t.Fatal(err)
	}
	equal(t, "calls of the first", totals(first, "").Calls, 0)
	equal(t, "calls of the second", totals(second, "").Calls, 1)
}

// Seen: aws.Config.Copy is shallow. Two copies whose option slices have room for
// one more would write to the same place.
func TestS10_1_CopiesDoNotOverwriteEachOther(t *testing.T) {
	t.Parallel()
	c := serve(t, always(identity()))
	g := governor(t)
	base := c.config()
	base.APIOptions = make([]func(*middleware.Stack) error, 0, 8)
	var installed []aws.Config
	for i := range 3 {
		cfg := base.Copy()
		install(t, &cfg, g, Account(fmt.Sprint("account-", i)))
		installed = append(installed, cfg)
	}
	// Copies of an installed config, changed one after the other.
	for i := range 3 {
		cfg := installed[0].Copy()
		install(t, &cfg, g, Account(fmt.Sprint("copy-", i)))
		installed = append(installed, cfg)
	}
	for _, cfg := range installed {
		if err := whoAmI(t.Context(), sts.NewFromConfig(cfg)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"account-0", "account-1", "account-2", "copy-0", "copy-1", "copy-2"} {
		equal(t, name, totals(g, "aws/"+name+"/us-east-1/sts").Calls, 1)
	}
	equal(t, "options of the base", len(base.APIOptions), 0)
}

func TestS10_1_OptionsOfTheConfigStay(t *testing.T) {
	t.Parallel()
	c := serve(t, always(identity()))
	g := governor(t)
	cfg := c.config()
	var ran []string
	note := func(name string) func(*middleware.Stack) error {
		return func(*middleware.Stack) error { ran = append(ran, name); return nil }
	}
	cfg.APIOptions = append(cfg.APIOptions, note("first"))
	install(t, &cfg, g)
	cfg.APIOptions = append(cfg.APIOptions, nil, note("last"))
	install(t, &cfg, g, Account("other"))
	equal(t, "options", len(cfg.APIOptions), 4)
	cfg.APIOptions = slices.DeleteFunc(cfg.APIOptions, func(f func(*middleware.Stack) error) bool { return f == nil })
	if err := whoAmI(t.Context(), sts.NewFromConfig(cfg)); err != nil {
		t.Fatal(err)
	}
	equal(t, "ran", strings.Join(ran, " "), "first last")
	equal(t, "calls", totals(g, "aws/other/us-east-1/sts").Calls, 1)
}

// The options of two configs in one client: one governs the call, the later.
func TestS10_1_TwoHooksInOneClient(t *testing.T) {
	t.Parallel()
	c := serve(t, always(identity()))
	g := governor(t)
	one, two := c.installed(t, g, Account("one")), c.installed(t, g, Account("two"))
	client := sts.NewFromConfig(one, func(o *sts.Options) { o.APIOptions = append(o.APIOptions, two.APIOptions...) })
	if err := whoAmI(t.Context(), client); err != nil {
		t.Fatal(err)
	}
	equal(t, "calls", totals(g, "").Calls, 1)
	equal(t, "calls of the later", totals(g, "aws/two/us-east-1/sts").Calls, 1)
}

func TestS10_1_Paginators(t *testing.T) {
	t.Parallel()
	c := serve(t, func(n int, r request) answer {
		more := ""
		if n < 3 {
			more = "<IsTruncated>true</IsTruncated><Marker>m</Marker>"
		}
		return answer{status: 200, body: "<ListUsersResponse><ListUsersResult><Users/>" + more + "</ListUsersResult></ListUsersResponse>"}
	})
	g := governor(t)
	pages := iam.NewListUsersPaginator(iam.NewFromConfig(c.installed(t, g)), &iam.ListUsersInput{})
	for pages.HasMorePages() {
		if _, err := pages.NextPage(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	equal(t, "pages", c.sent(), 3)
	equal(t, "calls", totals(g, "aws/"+account+"/aws-global/iam").Calls, 3)
}

func TestS10_1_Waiters(t *testing.T) {
	t.Parallel()
	c := serve(t, then(
		fault(404, "NoSuchEntity", "not yet"),
		answer{status: 200, body: "<GetUserResponse><GetUserResult><User><UserName>u</UserName></User></GetUserResult></GetUserResponse>"},
	))
	g := governor(t)
	w := iam.NewUserExistsWaiter(iam.NewFromConfig(c.installed(t, g)), func(o *iam.UserExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = time.Millisecond, 2*time.Millisecond
	})
	if err := w.Wait(t.Context(), &iam.GetUserInput{UserName: aws.String("u")}, time.Minute); err != nil {
		t.Fatal(err)
	}
	equal(t, "calls", totals(g, "aws/"+account+"/aws-global/iam").Calls, 2)
}

func TestS1_2_Scopes(t *testing.T) {
	t.Parallel()
	c := serve(t, func(_ int, r request) answer {
		if r.operation() == "GetCallerIdentity" {
			return identity()
		}
		return answer{status: 200, body: "<r><ListUsersResult><Users/></ListUsersResult></r>"}
	})
	g := governor(t, provide(func(p *cloudpace.Provider) {
		p.Services = map[string]cloudpace.Service{"ec2": {MaxRPS: 1e6, PerOperation: true}}
	}))
	// One account-wide quota must not become one bucket for each client region.
	for _, region := range []string{"us-east-1", "eu-west-1", "cn-north-1", "us-gov-west-1", "aws-global"} {
		cfg := c.config()
		cfg.Region = region
		install(t, &cfg, g)
		if _, err := iam.NewFromConfig(cfg).ListUsers(t.Context(), &iam.ListUsersInput{}); err != nil {
			t.Fatal(err)
		}
		if err := whoAmI(t.Context(), sts.NewFromConfig(cfg)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := ec2.NewFromConfig(c.installed(t, g)).DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{}); err != nil {
		t.Fatal(err)
	}
	for scope, calls := range map[string]int{
		"aws-global/iam": 3, "aws-cn-global/iam": 1, "aws-us-gov-global/iam": 1,
		"us-east-1/sts": 1, "eu-west-1/sts": 1, "cn-north-1/sts": 1, "us-gov-west-1/sts": 1,
		"us-east-1/ec2": 1,
	} {
		equal(t, scope, totals(g, "aws/"+account+"/"+scope).Calls, calls)
	}
	if _, ok := leaf(g, "aws/"+account+"/us-east-1/ec2/DescribeSubnets"); !ok {
		t.Error("ec2 has no bucket of the operation")
	}
}

func TestS10_6_WithoutAccount(t *testing.T) {
	t.Parallel()
	for _, opts := range [][]Option{nil, {Account("")}, {Account("*")}, {Account("x"), Account("*")}, {nil}} {
		c := serve(t, always(identity()))
		g := governor(t)
		cfg := c.config()
		if err := Install(&cfg, append(opts, WithGovernor(g))...); err != nil {
			t.Fatal(err)
		}
		if err := whoAmI(t.Context(), sts.NewFromConfig(cfg)); err != nil {
			t.Fatal(err)
		}
		equal(t, "calls", totals(g, "aws/*/us-east-1/sts").Calls, 1)
	}
}

func TestS10_10_InstallErrors(t *testing.T) {
	t.Parallel()
	if err := Install(nil); err == nil || !strings.Contains(err.Error(), "aws.Config") {
		t.Errorf("Install(nil): %v", err)
	}
	for _, c := range []cloudpace.AWSConfig{{RetryMode: "legacy"}, {RetryMode: "standard", MaxRetries: -1}} {
		if check(c) == nil {
			t.Errorf("%+v passes", c)
		}
	}
	for _, c := range []cloudpace.AWSConfig{{}, {RetryMode: "standard"}, {RetryMode: "adaptive", MaxRetries: 10}} {
		if err := check(c); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// Seen: an APIOption that returns an error fails the call.
func TestS10_10_StackWithoutRetry(t *testing.T) {
	t.Parallel()
	c := serve(t, always(identity()))
	g := governor(t)
	cfg := c.config()
	cfg.APIOptions = append(cfg.APIOptions, func(s *middleware.Stack) error {
		_, err := s.Finalize.Remove("Retry")
		return err
	})
	var text bytes.Buffer
	install(t, &cfg, g, WithLogger(slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: slog.LevelDebug}))))
	if err := whoAmI(t.Context(), sts.NewFromConfig(cfg)); err != nil {
		t.Fatal(err)
	}
	equal(t, "sent", c.sent(), 1)
	equal(t, "calls", totals(g, "").Calls, 0)
	if s := text.String(); strings.Count(s, "\n") != 1 || !strings.Contains(s, "level=DEBUG") || !strings.Contains(s, "GetCallerIdentity") {
		t.Errorf("the log says %q", s)
	}
}

// A stack that was hooked, and whose retry loop somebody takes away afterwards,
// still begins and ends its call.
func TestS10_10_RetryRemovedAfterwards(t *testing.T) {
	t.Parallel()
	c := serve(t, then(throttle(), identity()))
	g := governor(t)
	client := sts.NewFromConfig(c.installed(t, g), func(o *sts.Options) {
		o.APIOptions = append(o.APIOptions, func(s *middleware.Stack) error {
			_, err := s.Finalize.Remove("Retry")
			return err
		})
	})
	if err := whoAmI(t.Context(), client); err == nil {
		t.Error("no error")
	}
	if err := whoAmI(t.Context(), client); err != nil {
		t.Error(err)
	}
	equal(t, "calls", totals(g, "").Calls, 2)
	equal(t, "throttled", totals(g, "").Throttled, 1)
	equal(t, "slots in use", slotsInUse(g), 0)
}
