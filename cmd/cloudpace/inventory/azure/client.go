package azure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/cloudpace/cloudpace/paceazure"
)

const (
	// A host that does not take a connection within seconds will not take one. An
	// answer may be long in coming, so that has a time of its own.
	connectTimeout = 5 * time.Second
	readTimeout    = 60 * time.Second
	// Resource Manager is one host for all subscriptions and services.
	keptPerHost = 128
)

// clouds are the parts of Azure with accounts of their own.
var clouds = map[string]cloud.Configuration{
	"": cloud.AzurePublic, "public": cloud.AzurePublic, "government": cloud.AzureGovernment, "china": cloud.AzureChina,
}

// CloudNames lists what Options.Cloud can be.
func CloudNames() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(clouds)), func(name string) bool { return name == "" })
}

// clientOptions are what every client is made with, over a transport of its own
// unless they are given. Nothing is registered: a reader does not write.
func clientOptions(o Options, own *http.Client) *arm.ClientOptions {
	options := arm.ClientOptions{}
	if o.ClientOptions != nil {
		options = *o.ClientOptions
	} else {
		options.Cloud = cloudOf(o)
		options.Transport = own
		options.InsecureAllowCredentialWithHTTP = strings.HasPrefix(o.Endpoint, "http://")
	}
	options.DisableRPRegistration = true
	options.Telemetry.ApplicationID = cmp.Or(options.Telemetry.ApplicationID, "cloudpace") // so that its calls can be told in activity logs
	return paceazure.ClientOptions(&options, paceazure.WithGovernor(o.Governor))
}

// cloudOf is the cloud, asked at the endpoint where there is one.
func cloudOf(o Options) cloud.Configuration {
	c := clouds[o.Cloud]
	if o.Endpoint == "" {
		return c
	}
	services := maps.Clone(c.Services)
	manager := services[cloud.ResourceManager]
	manager.Endpoint = strings.TrimSuffix(o.Endpoint, "/")
	services[cloud.ResourceManager] = manager
	c.Services = services
	return c
}

func transport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // it is one unless somebody replaced it, which nobody here does
	t.DialContext = (&net.Dialer{Timeout: connectTimeout, KeepAlive: 30 * time.Second}).DialContext
	t.TLSHandshakeTimeout = connectTimeout
	t.ResponseHeaderTimeout = readTimeout
	t.MaxIdleConnsPerHost = keptPerHost
	t.MaxIdleConns = 0 // no limit beyond the one per host
	return t
}

// scope is what a token is asked for.
func scope(options *arm.ClientOptions) string {
	return strings.TrimSuffix(options.Cloud.Services[cloud.ResourceManager].Audience, "/") + "/.default"
}

// near tells whether a link leads to the service that was asked. A token goes along
// with whoever follows it.
func (t *Tenant) near(link string) error {
	here, err := url.Parse(t.options.Cloud.Services[cloud.ResourceManager].Endpoint)
	if err != nil {
		return err
	}
	there, err := url.Parse(link)
	if err != nil {
		return errors.New("protocol: the link to the next page is no URL")
	}
	if there.Scheme != here.Scheme || !strings.EqualFold(there.Host, here.Host) {
		return fmt.Errorf("protocol: the link to the next page leads to %s://%s, and %s was asked", there.Scheme, there.Host, here.Host)
	}
	return nil
}

// follow asks for a page by its link, where a module takes its list for one without
// pages.
func (t *Tenant) follow(link string) pages { return &linked{t, link} }

type linked struct {
	tenant *Tenant
	link   string
}

func (l *linked) next(ctx context.Context) error {
	client, err := arm.NewClient("cloudpace", "v0.0.0", l.tenant.credential, l.tenant.options)
	if err != nil {
		return err
	}
	response, err := runtime.FetcherForNextLink(ctx, client.Pipeline(), l.link, func(ctx context.Context) (*policy.Request, error) {
		return runtime.NewRequest(ctx, http.MethodGet, l.link)
	}, nil)
	if err != nil {
		return err
	}
	return response.Body.Close() // it was read into memory, and is read from there
}

func (*linked) more() bool { return false }
