package paceaws

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/cloudpace/cloudpace"
)

// canned is an HTTP client that always has the same answer.
type canned string

func (c canned) Do(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		r.Body.Close()
	}
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(c))), Request: r}, nil
}

func cannedConfig(body string) aws.Config {
	cfg := (&cloud{url: "http://cloud.test"}).config()
	cfg.HTTPClient = canned(body)
	return cfg
}

// A governed call that need not wait costs at most twelve allocations more than a
// bare one.
func TestS10_8_Allocations(t *testing.T) {
	g := governor(t, provide(func(p *cloudpace.Provider) {
		p.Services = map[string]cloudpace.Service{"ec2": {MaxRPS: 1e6, Burst: 1e6, PerOperation: true}}
	}))
	perCall := func(cfg aws.Config) (identity, subnets float64) {
		s, e := sts.NewFromConfig(cfg), ec2.NewFromConfig(cfg)
		identity = testing.AllocsPerRun(500, func() {
			if err := whoAmI(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		})
		subnets = testing.AllocsPerRun(500, func() {
			if _, err := e.DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{}); err != nil {
				t.Fatal(err)
			}
		})
		return identity, subnets
	}
	cfg := cannedConfig(identity().body)
	bareIdentity, bareSubnets := perCall(cfg)
	install(t, &cfg, g)
	governedIdentity, governedSubnets := perCall(cfg)
	for what, n := range map[string][2]float64{
		"sts GetCallerIdentity": {bareIdentity, governedIdentity},
		"ec2 DescribeSubnets":   {bareSubnets, governedSubnets},
	} {
		t.Logf("%s: %v bare, %v governed", what, n[0], n[1])
		if more := n[1] - n[0]; more > 12 {
			t.Errorf("%s: %v allocations more than a bare call (%v, %v)", what, more, n[1], n[0])
		}
	}
}

func BenchmarkCall(b *testing.B) {
	run := func(cfg aws.Config) func(*testing.B) {
		return func(b *testing.B) {
			client := sts.NewFromConfig(cfg)
			b.ReportAllocs()
			for b.Loop() {
				if err := whoAmI(b.Context(), client); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	cfg := cannedConfig(identity().body)
	b.Run("bare", run(cfg))
	install(b, &cfg, governor(b))
	b.Run("governed", run(cfg))
}

func BenchmarkInstall(b *testing.B) {
	g := governor(b)
	base := aws.Config{}
	install(b, &base, g)
	b.Run("again", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			install(b, &base, g)
		}
	})
	b.Run("another account", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			cfg := base.Copy()
			install(b, &cfg, g, Account("444455556666"))
		}
	})
}
