package aws

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsarn "github.com/aws/aws-sdk-go-v2/aws/arn"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go/logging"
)

const (
	// A host that does not take a connection within seconds will not take one. An
	// answer may be long in coming, so that has a time of its own.
	connectTimeout = 5 * time.Second
	readTimeout    = 60 * time.Second
	// As many connections are kept to one host as an account has slots: an
	// endpoint URL makes all services one host.
	keptPerHost = 128
)

// load makes the configuration that everything starts from, with credentials
// that are known to be there.
func load(ctx context.Context, o Options) (aws.Config, error) {
	if o.Config != nil {
		cfg := o.Config.Copy()
		if cfg.Credentials == nil || cfg.Region == "" {
			return aws.Config{}, errors.New("aws: a configuration that is given has to have credentials and a region")
		}
		return finish(cfg), nil
	}
	client := awshttp.NewBuildableClient().
		WithDialerOptions(func(d *net.Dialer) { d.Timeout = connectTimeout }).
		WithTransportOptions(func(t *http.Transport) {
			t.DialContext = newDialer(t.DialContext).DialContext
			t.TLSHandshakeTimeout = connectTimeout
			t.MaxIdleConnsPerHost = keptPerHost
			t.MaxIdleConns = 0 // no limit beyond the one per host
		}).
		WithReadTimeout(readTimeout)
	options := []func(*config.LoadOptions) error{
		config.WithHTTPClient(client),
		// What the SDK would print is in the errors it returns.
		config.WithLogger(logging.Nop{}),
	}
	if o.Profile != "" {
		options = append(options, config.WithSharedConfigProfile(o.Profile))
	}
	cfg, err := config.LoadDefaultConfig(ctx, options...)
	var missing config.SharedConfigProfileNotExistError
	var mfa config.AssumeRoleTokenProviderNotSetError
	switch {
	case errors.As(err, &missing):
		return aws.Config{}, &NoCredentialsError{Profile: o.Profile, Err: err}
	case errors.As(err, &mfa):
		return aws.Config{}, &CredentialsError{Profile: o.Profile, Err: err}
	case err != nil:
		return aws.Config{}, fmt.Errorf("aws: configuration: %w", err)
	}
	if o.Endpoint != "" {
		// Only now: where credentials come from is not what is redirected.
		cfg.BaseEndpoint = aws.String(o.Endpoint)
		cfg.ConfigSources = append([]any{flagOnly{}}, cfg.ConfigSources...)
	}
	cfg = finish(cfg)
	cfg.Region = startRegion(cfg.Region, o)
	if cfg.Credentials == nil {
		return aws.Config{}, &NoCredentialsError{Profile: o.Profile}
	}
	source := discreet{cfg.Credentials, o.Profile}
	cfg.Credentials = source
	if _, err := source.Retrieve(ctx); err != nil {
		switch {
		case ctx.Err() != nil:
			return aws.Config{}, context.Cause(ctx)
		case source.lastResort():
			return aws.Config{}, &NoCredentialsError{Profile: o.Profile, Err: err}
		}
		return aws.Config{}, &CredentialsError{Profile: o.Profile, Sources: source.ProviderSources(), Err: err}
	}
	return cfg, nil
}

// finish adds what every configuration gets, wherever it is from.
func finish(cfg aws.Config) aws.Config {
	cfg.APIOptions = append(slices.Clip(cfg.APIOptions), insist)
	if cfg.AppID == "" {
		cfg.AppID = "cloudpace" // in the user agent, so that its calls can be told in CloudTrail
	}
	return cfg
}

// flagOnly is a source of configuration, before the environment and the files,
// that says no endpoints are to be taken from those. A client would prefer one for
// its service (AWS_ENDPOINT_URL_S3, a profile's services section) to the
// configuration's own, and a part of the calls would go somewhere else than asked.
type flagOnly struct{}

// GetIgnoreConfiguredEndpoints is how the SDK asks; it means
// AWS_IGNORE_CONFIGURED_ENDPOINT_URLS.
func (flagOnly) GetIgnoreConfiguredEndpoints(context.Context) (value, found bool, err error) {
	return true, true, nil
}

// startRegion is where the account is asked about itself: the configured region,
// unless the regions to read or the role are of another partition, whose accounts
// it does not know.
func startRegion(configured string, o Options) string {
	here, known := partitionOf(configured)
	if len(o.Regions) > 0 && o.Regions[0] != AllRegions {
		there, _ := partitionOf(o.Regions[0])
		if known && here.id == there.id {
			return configured
		}
		// One that may not be enabled knows nobody's credentials.
		for _, region := range o.Regions {
			if slices.Contains(there.regions, region) {
				return region
			}
		}
		return cmp.Or(there.home, o.Regions[0])
	}
	there := partitions[0]
	if role, err := awsarn.Parse(o.RoleARN); err == nil {
		there = partitionNamed(role.Partition)
		if known && here.id != there.id {
			return there.home
		}
	}
	return cmp.Or(configured, there.home)
}

// assume gives a copy whose credentials are those of a role. The call that
// fetches them is governed as the base config's.
func assume(cfg aws.Config, role, externalID string) aws.Config {
	provider := stscreds.NewAssumeRoleProvider(sts.NewFromConfig(cfg), role, func(o *stscreds.AssumeRoleOptions) {
		o.RoleSessionName = fmt.Sprintf("cloudpace-%d", time.Now().Unix())
		if externalID != "" {
			o.ExternalID = aws.String(externalID)
		}
	})
	assumed := cfg.Copy()
	assumed.Credentials = aws.NewCredentialsCache(provider)
	return assumed
}
