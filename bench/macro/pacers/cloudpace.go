// Package pacers makes the calls of a scenario through what paces plain functions:
// cloudpace, golang.org/x/time/rate, failsafe-go and sentinel-golang, each set to the
// rate and the burst that the scenario's client has configured.
package pacers

import (
	"context"
	"net/http"
	"strconv"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/bench/macro"
	"github.com/cloudpace/cloudpace/internal/scenario"
	"github.com/cloudpace/cloudpace/verdict"
)

// Cloudpace is [cloudpace.Do] with the defaults of the provider "aws" and whatever set
// changes.
func Cloudpace(set func(*cloudpace.Provider)) func(scenario.Scenario, *macro.Server) (macro.Client, error) {
	return func(s scenario.Scenario, server *macro.Server) (macro.Client, error) {
		cfg := cloudpace.DefaultConfig()
		p := cfg.Providers["aws"]
		p.Services, p.MaxRPS, p.Burst = nil, s.Client.Rate, s.Client.Burst
		set(&p)
		cfg.Providers["aws"] = p
		g, err := cloudpace.New(cfg)
		if err != nil {
			return nil, err
		}
		scope := cloudpace.Scope{Provider: "aws", Account: "111122223333", Region: "us-east-1", Service: "ec2", Operation: "DescribeInstances"}
		with := cloudpace.WithGovernor(g)
		call := func(context.Context) error { return answer(server) }
		return func(ctx context.Context) error { return cloudpace.Do(ctx, scope, call, with) }, nil
	}
}

// answer is a request to the server, whose throttled answer is an error with the hint.
func answer(server *macro.Server) error {
	a := server.Attempt()
	if a.OK {
		return nil
	}
	header := http.Header{}
	if a.RetryAfter > 0 {
		header.Set("Retry-After", strconv.Itoa(int(a.RetryAfter.Seconds())))
	}
	return &verdict.ResponseError{Provider: "aws", StatusCode: http.StatusServiceUnavailable, Code: "RequestLimitExceeded", Header: header}
}
