package azure

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
	simazure "github.com/cloudpace/cloudpace/cmd/cloudpace/sim/azure"
)

// TestCheck: what is wrong with the options is said before anything is sent.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		o     Options
		words string // none is right
	}{
		{Options{}, ""},
		{Options{Subscriptions: []string{strings.ToUpper(absent)}, Cloud: "china"}, ""},
		{Options{Endpoint: "http://localhost:4599"}, ""},
		{Options{Endpoint: "http://[::1]:4599/"}, ""},
		{Options{Endpoint: "HTTP://LOCALHOST:4599"}, ""},
		{Options{Endpoint: "HTTP://arm.example.com"}, "unencrypted"},
		{Options{Endpoint: "https://arm.example.com"}, ""},
		{Options{Endpoint: "http://arm.example.com"}, "unencrypted"},
		{Options{Endpoint: "http://user:hunter2@localhost"}, "a password"},
		{Options{Endpoint: "localhost:4599"}, "not a URL"},
		{Options{Subscriptions: []string{"production"}}, `"production" is not an id`},
		{Options{Subscriptions: []string{first}, ManagementGroup: "platform"}, "exclude"},
		{Options{ManagementGroup: "a/b"}, "not a group's name"},
		{Options{Cloud: "chnia"}, `did you mean "china"?`},
		{Options{Cloud: "public", ClientOptions: new(arm.ClientOptions)}, "given"},
	} {
		err := c.o.Check()
		if (err == nil) != (c.words == "") || err != nil && (!strings.Contains(err.Error(), c.words) || strings.Contains(err.Error(), "hunter2")) {
			t.Errorf("%+v: %v, want %q", c.o, err, c.words)
		}
		if _, opened := Open(t.Context(), c.o); c.words != "" && (opened == nil || !strings.Contains(opened.Error(), c.words)) {
			t.Errorf("%+v was opened: %v", c.o, opened)
		}
	}
}

// ids of those that are read, and why others are not.
func ids(a *Tenant) (list []string) {
	for _, s := range a.Subscriptions() {
		text := s.ID
		if s.Err != nil {
			text += " " + string(inventory.ReasonOf(Provider, s.Err))
		}
		list = append(list, text)
	}
	return list
}

func five() sim.Profile {
	p := small()
	p.Estate.Accounts = simazure.New().ExampleAccounts(5)
	return p
}

// TestSubscriptions: all that there are, those of a management group and below it, or
// those that were named; none is left out in silence.
func TestSubscriptions(t *testing.T) {
	const base = "00000000-0000-0000-0000-00000000000"
	x := serve(t, five(), simazure.WithDisabled(base+"4"))
	for _, c := range []struct {
		name   string
		change func(*Options)
		want   string
	}{
		{"all", func(*Options) {}, "1|2|3|4 api_disabled|5"},
		{"a group", func(o *Options) { o.ManagementGroup = "platform" }, "1|3|5"},
		{"a group with a disabled one", func(o *Options) { o.ManagementGroup = "Workloads" }, "2|4 api_disabled"},
		{"a group of groups", func(o *Options) { o.ManagementGroup = simazure.Tenant }, "1|2|3|4 api_disabled|5"},
		{"named", func(o *Options) { o.Subscriptions = []string{base + "5", base + "2", base + "5"} }, "2|5"},
		{"named, disabled and unknown", func(o *Options) { o.Subscriptions = []string{base + "9", base + "4", base + "1"} }, "1|4 api_disabled|9 access_denied"},
	} {
		a := x.open(t, c.change)
		got := strings.ReplaceAll(strings.Join(ids(a), "|"), base, "")
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if n := len(a.Accounts()); n != strings.Count(c.want, "|")+1 {
			t.Errorf("%s: %d accounts", c.name, n)
		}
	}
	_, err := Open(t.Context(), Options{Endpoint: x.url, Credential: token(simazure.Token), Governor: governor(t), ManagementGroup: "nobodys"})
	if err == nil || !strings.Contains(err.Error(), "access_denied") || !strings.Contains(err.Error(), "nobodys") {
		t.Errorf("an unknown group: %v", err)
	}
}

// TestClosedSubscriptions: each task of a subscription that is unknown or disabled has
// its record, nothing is sent there, and the others are read; Resource Graph names it.
func TestClosedSubscriptions(t *testing.T) {
	x := serve(t, small(), simazure.WithDisabled(second))
	a := x.open(t, func(o *Options) { o.Subscriptions = []string{first, second, absent} })
	records, found := run(t, a)
	for _, r := range records {
		want := inventory.Record{Status: inventory.Success}
		switch r.Account {
		case second:
			want = inventory.Record{Status: inventory.Skipped, Reason: inventory.APIDisabled}
		case absent:
			want = inventory.Record{Status: inventory.Failed, Reason: inventory.AccessDenied}
		}
		if r.Status != want.Status || r.Reason != want.Reason || (r.Account != first) != (r.Error != "") || r.Account != first && r.Calls != 0 {
			t.Errorf("%+v, want %s %s", r, want.Status, want.Reason)
		}
	}
	for _, f := range found {
		if f.Account != first {
			t.Fatalf("%+v", f)
		}
	}
	if len(records) != 3*(len(Kinds())-len(graphRows)) {
		t.Errorf("%d records", len(records))
	}
	records, _ = runWhere(t, a, func(k inventory.Kind) bool { return k.Family == graphFamily })
	if r := record(t, records, Everywhere, "azure_graph_resources"); r.Status != inventory.Partial || r.Errors != 2 || r.Assets == 0 {
		t.Errorf("%+v", r)
	}
}

// fails is a credential that gives an error.
type fails struct{ err error }

func (f fails) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{}, f.err
}

// TestNoCredential: with nothing to log in with the error says so before anything is
// sent, and what to do.
func TestNoCredential(t *testing.T) {
	for _, name := range []string{"AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET", "AZURE_FEDERATED_TOKEN_FILE", "IDENTITY_ENDPOINT"} {
		t.Setenv(name, "")
	}
	t.Setenv("PATH", t.TempDir())
	t.Setenv("AZURE_TOKEN_CREDENTIALS", "dev") // a managed identity is looked for on the network
	x := serve(t, small())
	_, err := Open(t.Context(), Options{Endpoint: x.url, Governor: governor(t)})
	var missing *NoCredentialsError
	if !errors.As(err, &missing) || !strings.Contains(err.Error(), "AzureCLICredential") || !strings.Contains(err.Error(), "Next: run az login") || strings.Contains(err.Error(), "login: ") {
		t.Errorf("%v", err)
	}
	if n := len(x.Report().Scopes); n != 0 {
		t.Errorf("%d operations were asked for", n)
	}
}

// TestCredentialFails: a source that refuses, and tokens that are not good.
func TestCredentialFails(t *testing.T) {
	x := serve(t, small())
	refused := &azidentity.AuthenticationFailedError{}
	_, err := Open(t.Context(), Options{Endpoint: x.url, Governor: governor(t), Credential: fails{refused}})
	var unusable *CredentialsError
	if !errors.As(err, &unusable) || !strings.Contains(err.Error(), "Next: log in again") {
		t.Errorf("refused: %v", err)
	}
	_, err = Open(t.Context(), Options{Endpoint: x.url, Governor: governor(t), Credential: token(simazure.ExpiredToken)})
	if err == nil || !strings.Contains(err.Error(), "credentials_expired") || !strings.Contains(err.Error(), "ExpiredAuthenticationToken") || strings.Contains(err.Error(), "\n") {
		t.Errorf("expired: %v", err)
	}
}

// turning is a credential that gives a token so many times, each good for a moment,
// and then an error.
type turning struct {
	left *atomic.Int32
	err  error
}

func (c turning) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	if c.left.Add(-1) < 0 {
		return azcore.AccessToken{}, c.err
	}
	return azcore.AccessToken{Token: simazure.Token, ExpiresOn: time.Now().Add(time.Minute)}, nil
}

// TestLoginEndsLater: a login that ends in the middle of a run is in the records.
func TestLoginEndsLater(t *testing.T) {
	x := serve(t, small())
	var left atomic.Int32
	left.Store(2) // to see whether there is one, and to find the subscriptions
	a := x.open(t, func(o *Options) {
		o.Credential = turning{&left, errors.New("AADSTS700082: The refresh token has expired")}
	})
	records, _ := run(t, a, disks)
	for _, r := range records {
		if r.Status != inventory.Failed || r.Reason != inventory.CredentialsExpired || !strings.Contains(r.Error, "AADSTS700082") {
			t.Errorf("%+v", r)
		}
	}
}

// TestDiscoveryFails: half a list of subscriptions is none.
func TestDiscoveryFails(t *testing.T) {
	where := sim.Match{Operation: sim.Patterns{"subscriptions.list"}}
	for _, c := range []struct {
		fault sim.Fault
		words string
	}{
		{sim.Fault{Kind: sim.Denied, Match: where}, "access_denied"},
		{sim.Fault{Kind: sim.RepeatToken, Match: where}, "repeated a page token"},
		{sim.Fault{Kind: sim.HTML, Match: where}, "protocol"},
		{sim.Fault{Kind: sim.Wrong, Match: where}, "protocol"},
		{sim.Fault{Kind: sim.Error, Code: "TooManyRequests", Status: http.StatusTooManyRequests, Match: where}, "throttled"},
	} {
		x := serve(t, small(c.fault))
		_, err := Open(t.Context(), Options{Endpoint: x.url, Governor: governor(t), Credential: token(simazure.Token)})
		if err == nil || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: %v, want %q", c.fault.Kind, err, c.words)
		}
	}
}

// TestSchemeInCapitals: an emulator is asked however its address is written.
func TestSchemeInCapitals(t *testing.T) {
	x := serve(t, small())
	a := x.open(t, func(o *Options) { o.Endpoint = strings.ToUpper(x.url) })
	if records, found := run(t, a, disks); records[0].Status != inventory.Success || len(found) == 0 {
		t.Errorf("%+v", records[0])
	}
}

// TestSubscriptionIDs: a subscription is known by its path where its id is not told, and
// one that has neither is none.
func TestSubscriptionIDs(t *testing.T) {
	for text, want := range map[string]string{
		`{"id":"/subscriptions/` + first + `"}`:                                        first,
		`{"id":"/subscriptions/x","subscriptionId":"` + strings.ToUpper(absent) + `"}`: absent,
		`{"id":"/subscriptions/"}`:                                                     "",
		`{"id":"/subscriptions/x"}`:                                                    "",
		`{"id":"/subscriptions/x","subscriptionId":"../../x"}`:                         "",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"value":[%s]}`, text)
		}))
		a, err := Open(t.Context(), Options{Endpoint: server.URL, Credential: token("t"), Governor: governor(t)})
		switch {
		case want == "":
			if err == nil || !strings.Contains(err.Error(), "protocol") {
				t.Errorf("%s: %v", text, err)
			}
		case err != nil || strings.Join(ids(a), " ") != want:
			t.Errorf("%s: %v", text, err)
		}
		if a != nil {
			a.Close()
		}
		server.Close()
	}
}

// TestEndlessDiscovery: a list of subscriptions without an end that could be reached is
// an error, whether its pages are empty or the same ones.
func TestEndlessDiscovery(t *testing.T) {
	for _, text := range []string{``, `{"id":"/subscriptions/` + first + `"}`} {
		pages := 0
		var server *httptest.Server
		server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			pages++
			fmt.Fprintf(w, `{"value":[%s],"nextLink":"%s/subscriptions?page=%d"}`, text, server.URL, pages)
		}))
		_, err := Open(t.Context(), Options{Endpoint: server.URL, Credential: token("t"), Governor: governor(t)})
		if err == nil || !strings.Contains(err.Error(), "has no end") || pages > 1001 {
			t.Errorf("%q: %d pages, %v", text, pages, err)
		}
		server.Close()
	}
}

// TestNobodyThere: that nobody answers is said soon, although a run would be patient.
func TestNobodyThere(t *testing.T) {
	tries := 0
	g := must(cloudpace.New(cloudpace.DefaultConfig()))(t)
	options := &arm.ClientOptions{ClientOptions: policy.ClientOptions{Transport: sends(func(*http.Request) (*http.Response, error) {
		tries++
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	})}}
	_, err := Open(t.Context(), Options{ClientOptions: options, Credential: token("t"), Governor: g})
	if err == nil || !strings.Contains(err.Error(), "unreachable") || tries != askRetries+1 {
		t.Errorf("%d tries: %v", tries, err)
	}
}

// sends is a transport.
type sends func(*http.Request) (*http.Response, error)

func (f sends) Do(r *http.Request) (*http.Response, error) { return f(r) }

// TestLostName: the one host of the cloud that is not found any more is a gap of every
// task, and nothing of it is complete.
func TestLostName(t *testing.T) {
	x := serve(t, small())
	client := listClient()
	defer client.CloseIdleConnections()
	gone := false
	options := &arm.ClientOptions{ClientOptions: policy.ClientOptions{
		Cloud:                           cloud.Configuration{Services: map[cloud.ServiceName]cloud.ServiceConfiguration{cloud.ResourceManager: {Endpoint: x.url, Audience: simazure.Audience}}},
		InsecureAllowCredentialWithHTTP: true,
		Transport: sends(func(r *http.Request) (*http.Response, error) {
			if gone {
				return nil, &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "management.azure.com", IsNotFound: true}}
			}
			return client.Do(r)
		}),
	}}
	a := must(Open(t.Context(), Options{Credential: token(simazure.Token), Governor: governor(t), ClientOptions: options}))(t)
	gone = true
	sink := inventory.NewSink(t.TempDir())
	records, err := inventory.Run(t.Context(), a.Tasks(func(inventory.Kind) bool { return true }), inventory.Options{Sink: sink, Governor: a.governor})
	d := inventory.NewDocument(inventory.Summary{}, records, sink, err, nil)
	for _, r := range records {
		if r.Status != inventory.Failed || r.Reason != inventory.Unreachable {
			t.Errorf("%+v", r)
		}
	}
	if d.Summary.Outcome != inventory.NothingRead || len(d.Summary.Complete) != 0 || sink.Written() {
		t.Errorf("%s, complete %v, written %v", d.Summary.Outcome, d.Summary.Complete, sink.Written())
	}
}
