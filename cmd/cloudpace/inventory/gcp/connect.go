package gcp

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	asset "cloud.google.com/go/asset/apiv1"
	"google.golang.org/api/cloudresourcemanager/v3"
	"google.golang.org/api/option"
	htransport "google.golang.org/api/transport/http"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	"github.com/cloudpace/cloudpace/pacegcp"
)

const (
	// A host that does not take a connection within seconds will not take one. An
	// answer may be long in coming, so that has a time of its own.
	connectTimeout = 5 * time.Second
	readTimeout    = 60 * time.Second
)

func transport(o Options) *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // it is one unless somebody replaced it, which nobody here does
	t.DialContext = (&net.Dialer{Timeout: connectTimeout, KeepAlive: 30 * time.Second}).DialContext
	if o.Dial != nil {
		t.DialContext, t.Proxy = o.Dial, nil
	}
	t.TLSHandshakeTimeout = connectTimeout
	t.ResponseHeaderTimeout = readTimeout
	return t
}

// connect makes the clients. What is asked without TLS is an emulator: no credentials
// are looked for.
func (e *Estate) connect(ctx context.Context, o Options) error {
	plain := inventory.PlainEndpoint(o.Endpoint)
	e.QuotaProject = strings.TrimPrefix(o.QuotaProject, "projects/")
	shared := []option.ClientOption{option.WithUserAgent("cloudpace"), option.WithTelemetryDisabled()}
	if e.QuotaProject != "" {
		shared = append(shared, option.WithQuotaProject(e.QuotaProject))
	}
	if plain {
		e.QuotaProject = cmp.Or(e.QuotaProject, os.Getenv("GOOGLE_CLOUD_QUOTA_PROJECT"))
		shared = append(shared, option.WithoutAuthentication())
		return e.dial(ctx, o, shared, shared)
	}
	creds, err := e.login(ctx)
	if err != nil {
		return err
	}
	var ofCredentials string
	e.Caller, ofCredentials = whose(ctx, creds)
	e.QuotaProject = cmp.Or(e.QuotaProject, ofCredentials)
	own := func() []option.ClientOption { // a client changes the credentials that it is given
		return append(slices.Clone(shared), option.WithAuthCredentials(withWords(creds)))
	}
	return e.dial(ctx, o, own(), own())
}

// dial makes a client over gRPC and one over REST.
func (e *Estate) dial(ctx context.Context, o Options, rpc, rest []option.ClientOption) (err error) {
	if e.assets, err = asset.NewClient(ctx, slices.Concat(rpc, e.grpcOptions(o))...); err != nil {
		return fmt.Errorf("gcp: %w", err)
	}
	// Authorization is added once for a request with its repetitions, which take seconds.
	governed := pacegcp.NewTransport(e.http, pacegcp.WithGovernor(e.governor), pacegcp.WithQuotaProject(o.QuotaProject))
	base, err := htransport.NewTransport(ctx, governed, slices.Concat(rest, []option.ClientOption{option.WithScopes(cloudPlatform)})...)
	if err != nil {
		return fmt.Errorf("gcp: %w", err)
	}
	options := []option.ClientOption{option.WithHTTPClient(&http.Client{
		Transport: base,
		// The API sends nobody elsewhere, and the token would go along.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	})}
	if o.Endpoint != "" {
		options = append(options, option.WithEndpoint(strings.TrimSuffix(o.Endpoint, "/")+"/"))
	}
	if e.search, err = cloudresourcemanager.NewService(ctx, options...); err != nil {
		return fmt.Errorf("gcp: %w", err)
	}
	return nil
}

// grpcOptions are those for the connection.
func (e *Estate) grpcOptions(o Options) []option.ClientOption {
	dial := []grpc.DialOption{
		grpc.WithChainUnaryInterceptor(pages),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.DefaultConfig, MinConnectTimeout: connectTimeout}),
	}
	if o.Dial != nil {
		dial = append(dial, grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) { return o.Dial(ctx, "tcp", address) }))
	}
	var options []option.ClientOption
	if u, err := url.Parse(o.Endpoint); err == nil && u.Host != "" {
		address := u.Host
		if u.Port() == "" {
			address = net.JoinHostPort(u.Hostname(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
		}
		if u.Scheme == "http" {
			dial = append(dial, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithChainUnaryInterceptor(e.named))
			address = "passthrough:///" + address // a proxy's business it is not
		}
		options = append(options, option.WithEndpoint(address))
	}
	for _, d := range dial {
		options = append(options, option.WithGRPCDialOption(d))
	}
	return options
}

// named tells an emulator whose quota is used, which the SDK does with credentials only.
func (e *Estate) named(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	if e.QuotaProject != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, "x-goog-user-project", e.QuotaProject)
	}
	return invoke(ctx, method, req, reply, cc, opts...)
}
