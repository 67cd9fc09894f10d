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
		options.InsecureAllowCredentialWithHTTP = o.Plain()
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

// listClient is what Resource Manager is asked with. Its lists lead nowhere else: who
// followed a redirection would take the token along, to another port or without TLS.
func listClient() *http.Client {
	return &http.Client{
		Transport:     transport(),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
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

// question is how the clients ask for a token, letter for letter: what is asked
// otherwise is another token, and a second login.
func question(options *arm.ClientOptions) policy.TokenRequestOptions {
	return policy.TokenRequestOptions{Scopes: []string{options.Cloud.Services[cloud.ResourceManager].Audience + "/.default"}, EnableCAE: true}
}

// leads gives the link to the next page as it is followed: to the service that was
// asked and to nobody else, for a token goes along. A proxy that is asked in the
// cloud's place may pass on links to the cloud, which are asked of it then.
func (t *Tenant) leads(link string) (string, error) {
	here, err := url.Parse(t.options.Cloud.Services[cloud.ResourceManager].Endpoint)
	if err != nil {
		return "", err
	}
	there, err := url.Parse(link)
	if err != nil {
		return "", errors.New("protocol: the link to the next page is no URL")
	}
	if there.User == nil && sameHost(here, there) {
		return link, nil
	}
	if direct, err := url.Parse(t.direct); err == nil && t.direct != "" && there.User == nil && sameHost(direct, there) {
		return here.Scheme + "://" + here.Host + strings.TrimSuffix(here.EscapedPath(), "/") + there.RequestURI(), nil
	}
	return "", fmt.Errorf("protocol: the link to the next page leads to %s://%s, and %s was asked", there.Scheme, there.Host, here.Host)
}

// sameHost tells whether two URLs lead to one server, however they are written.
func sameHost(a, b *url.URL) bool {
	port := func(u *url.URL) string {
		return cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	}
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
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
