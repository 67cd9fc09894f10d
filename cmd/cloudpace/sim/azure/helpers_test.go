package azure_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"go.uber.org/goleak"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim/azure"
	"github.com/cloudpace/cloudpace/verdict"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	first  = "00000000-0000-0000-0000-000000000001"
	second = "00000000-0000-0000-0000-000000000002"
)

// small is a profile with two subscriptions and no quotas.
func small(front *azure.Front) sim.Profile {
	p := sim.Default(front)
	p.Quotas = nil
	p.Estate = sim.EstateConfig{Accounts: front.ExampleAccounts(2), Regions: []string{"eastus", "westeurope"}, Assets: 3000}
	return p
}

// tenant is a server in the same process, and what talks to it.
type tenant struct {
	t       *testing.T
	server  *sim.Server
	http    *http.Client
	options *arm.ClientOptions
}

// start serves in memory until the returned function is called.
func start(t *testing.T, front *azure.Front, p sim.Profile) (*tenant, func()) {
	t.Helper()
	server, err := sim.New(front, p)
	if err != nil {
		t.Fatal(err)
	}
	memory := sim.NewMemory()
	return serve(t, server, memory, memory.Dial)
}

func serve(t *testing.T, server *sim.Server, l net.Listener, dial func(context.Context, string, string) (net.Conn, error)) (*tenant, func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, l) }()
	transport := &http.Transport{DialContext: dial, MaxIdleConnsPerHost: 64}
	x := &tenant{t: t, server: server, http: &http.Client{Transport: transport}}
	x.options = &arm.ClientOptions{ClientOptions: policy.ClientOptions{
		Cloud: cloud.Configuration{Services: map[cloud.ServiceName]cloud.ServiceConfiguration{
			cloud.ResourceManager: {Endpoint: "http://sim", Audience: azure.Audience},
		}},
		InsecureAllowCredentialWithHTTP: true,
		Transport:                       x.http,
		Retry:                           policy.RetryOptions{MaxRetries: -1},
	}}
	return x, func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		transport.CloseIdleConnections()
	}
}

// credential is what the documentation says a client needs.
type credential struct{}

func (credential) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: azure.Token, ExpiresOn: time.Now().Add(24 * time.Hour)}, nil
}

// answer is a whole response.
type answer struct {
	status int
	header http.Header
	body   map[string]any
	text   string
}

// ask sends a request with a token, and an api-version where the path has none.
func (x *tenant) ask(method, path, body string) answer {
	x.t.Helper()
	return x.askWith(azure.Token, method, path, body)
}

func (x *tenant) get(path string) answer { x.t.Helper(); return x.ask(http.MethodGet, path, "") }

func (x *tenant) askWith(token, method, path, body string) answer {
	x.t.Helper()
	if !strings.HasPrefix(path, "http") {
		path = "http://sim" + path
	}
	if !strings.Contains(path, "?") {
		path += "?api-version=2025-01-01"
	}
	r, err := http.NewRequestWithContext(x.t.Context(), method, path, strings.NewReader(body))
	if err != nil {
		x.t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := x.http.Do(r)
	if err != nil {
		x.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		x.t.Fatal(err)
	}
	a := answer{status: response.StatusCode, header: response.Header, text: string(text)}
	if err := json.Unmarshal(text, &a.body); err != nil {
		x.t.Fatalf("%s %s: %v in %s", method, path, err, text)
	}
	return a
}

// query asks Resource Graph.
func (x *tenant) query(text, options string) answer {
	x.t.Helper()
	if options == "" {
		options = "{}"
	}
	body, err := json.Marshal(text)
	if err != nil {
		x.t.Fatal(err)
	}
	return x.ask(http.MethodPost, "/providers/Microsoft.ResourceGraph/resources", `{"query":`+string(body)+`,"options":`+options+`}`)
}

// code is the error's.
func (a answer) code() string {
	e, _ := a.body["error"].(map[string]any)
	code, _ := e["code"].(string)
	return code
}

// kind is what cloudpace takes an answer for.
func (a answer) kind() verdict.Kind {
	return verdict.ClassifyFor("azure", &verdict.ResponseError{Provider: "azure", StatusCode: a.status, Code: a.code(), Header: a.header, Body: []byte(a.text)})
}

// ids are those on a page.
func (a answer) ids(list string) (ids []string) {
	items, _ := a.body[list].([]any)
	for _, i := range items {
		o, _ := i.(map[string]any)
		id, _ := o["id"].(string)
		ids = append(ids, id)
	}
	return ids
}

// all follows the links of a list, a bounded number of times.
func (x *tenant) all(path string) (ids []string, pages int) {
	x.t.Helper()
	for next := path; next != "" && pages < 200; pages++ {
		a := x.get(next)
		if a.status != http.StatusOK {
			x.t.Fatalf("%s: %d %s", next, a.status, a.text)
		}
		ids = append(ids, a.ids("value")...)
		next, _ = a.body["nextLink"].(string)
	}
	return ids, pages
}
