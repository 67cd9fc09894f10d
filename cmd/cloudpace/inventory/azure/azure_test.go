package azure

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"go.uber.org/goleak"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
	simazure "github.com/cloudpace/cloudpace/cmd/cloudpace/sim/azure"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	first  = "00000000-0000-0000-0000-000000000001"
	second = "00000000-0000-0000-0000-000000000002"
	absent = "00000000-0000-0000-0000-0000000000ee"
)

// token is a credential that gives one.
type token string

func (t token) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: string(t), ExpiresOn: time.Now().Add(24 * time.Hour)}, nil
}

// governor is one that gives up at the first error and does not pace, so that tests
// of errors do not wait.
func governor(t testing.TB) *cloudpace.Governor {
	t.Helper()
	cfg := cloudpace.DefaultConfig()
	p := cfg.Provider(Provider)
	p.MaxRetries, p.MaxRPS, p.Burst, p.AccountMaxRPS, p.Services = 0, 1e5, 1e5, 0, nil
	cfg.Providers = map[string]cloudpace.Provider{Provider: p}
	return must(cloudpace.New(cfg))(t)
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// small is a tenant of two subscriptions, without quotas. A race detector is to get
// through it, too.
func small(faults ...sim.Fault) sim.Profile {
	front := simazure.New()
	p := sim.Default(front)
	p.Quotas = nil
	p.Estate = sim.EstateConfig{Accounts: front.ExampleAccounts(2), Regions: []string{"eastus", "westeurope"}, Assets: 800,
		Types: map[string]int{"Microsoft.Compute/disks": 160}} // four pages in each
	p.Faults = faults
	return p
}

// tenant is a simulated one that listens on a socket.
type tenant struct {
	*sim.Server
	url string
}

func serve(t testing.TB, p sim.Profile, options ...simazure.Option) *tenant {
	t.Helper()
	server := must(sim.New(simazure.New(options...), p))(t)
	listener := must(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return &tenant{server, "http://" + listener.Addr().String()}
}

// open opens it; change, if given, changes the options.
func (x *tenant) open(t testing.TB, change ...func(*Options)) *Tenant {
	t.Helper()
	o := Options{Endpoint: x.url, Credential: token(simazure.Token), Governor: governor(t)}
	for _, c := range change {
		c(&o)
	}
	a := must(Open(t.Context(), o))(t)
	t.Cleanup(a.Close) // or the server waits for connections that were never used
	return a
}

// run runs the tasks of some names, or all for none, and gives records and assets.
func run(t testing.TB, a *Tenant, names ...string) ([]inventory.Record, []inventory.Asset) {
	t.Helper()
	return runWhere(t, a, func(k inventory.Kind) bool {
		for _, name := range names {
			if k.Name == name {
				return true
			}
		}
		return len(names) == 0
	})
}

func runWhere(t testing.TB, a *Tenant, wanted func(inventory.Kind) bool) ([]inventory.Record, []inventory.Asset) {
	t.Helper()
	dir := t.TempDir()
	records, err := inventory.Run(t.Context(), a.Tasks(wanted), inventory.Options{Sink: inventory.NewSink(dir), Governor: a.governor})
	if err != nil {
		t.Fatal(err)
	}
	return records, assets(t, dir)
}

func assets(t testing.TB, dir string) (list []inventory.Asset) {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, inventory.AssetsFile))
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var a inventory.Asset
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			t.Fatal(err)
		}
		list = append(list, a)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// record finds a task's record in a subscription.
func record(t testing.TB, records []inventory.Record, account, task string) inventory.Record {
	t.Helper()
	for _, r := range records {
		if r.Account == account && r.Task == task {
			return r
		}
	}
	t.Fatalf("no record of %s in %s among %d", task, account, len(records))
	return inventory.Record{}
}
