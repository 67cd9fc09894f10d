package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/internal/fakeaws"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory/azure"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
	simazure "github.com/cloudpace/cloudpace/cmd/cloudpace/sim/azure"
)

// isolateAzure takes out of the environment what could lead to somebody's
// subscriptions: variables, and the logins of the command line tools.
func isolateAzure() error {
	for _, set := range os.Environ() {
		name, _, _ := strings.Cut(set, "=")
		if strings.HasPrefix(name, "AZURE_") || slices.Contains([]string{"IDENTITY_ENDPOINT", "MSI_ENDPOINT"}, name) {
			if err := os.Unsetenv(name); err != nil {
				return err
			}
		}
	}
	nowhere := filepath.Join(os.TempDir(), "cloudpace-no-such-directory")
	return errors.Join(os.Setenv("AZURE_CONFIG_DIR", nowhere), os.Setenv("AZD_CONFIG_DIR", nowhere))
}

const (
	subscription1 = "00000000-0000-0000-0000-000000000001"
	subscription2 = "00000000-0000-0000-0000-000000000002"
)

// simulateAzure serves a small tenant over plain HTTP. AWS has no credentials.
func simulateAzure(t *testing.T) (*sim.Server, string) {
	t.Helper()
	fakeaws.Isolate(t)
	front := simazure.New()
	p := sim.Default(front)
	p.Estate = sim.EstateConfig{Accounts: front.ExampleAccounts(2), Regions: []string{"eastus", "westeurope"}, Assets: 600}
	p.Faults = []sim.Fault{{Kind: sim.Latency, Seconds: 0.002}}
	return serve(t, front, p)
}

// mapped runs map with the arguments.
func mapped(t *testing.T, args ...string) outcome {
	t.Helper()
	ownCache(t)
	o := outcome{dir: filepath.Join(t.TempDir(), "out")}
	o.code, o.stdout, o.stderr = call(append([]string{"map", "-o", o.dir}, args...)...)
	t.Logf("exit code %d\n%s", o.code, o.stderr)
	return o
}

// subscriptions lists those that a run has read.
func subscriptions(d inventory.Document) (ids []string) {
	for _, a := range d.Summary.Accounts {
		ids = append(ids, a.ID)
	}
	return ids
}

// TestMapAzure: an emulator over plain HTTP is read without any login, all of it,
// some of its subscriptions, or a management group.
func TestMapAzure(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		read []string
	}{
		{"all", []string{"-p", "azure"}, []string{subscription1, subscription2}},
		{"one", []string{"-p", "azure", "--subscriptions", " " + subscription2 + ", " + subscription2}, []string{subscription2}},
		{"group", []string{"--management-group", "platform"}, []string{subscription1}}, // AWS has no credentials, and nobody asked for it
	} {
		t.Run(c.name, func(t *testing.T) {
			server, url := simulateAzure(t)
			o := mapped(t, append(c.args, "--azure-endpoint", url, "--fail-on-partial", "--only", "compute,storage,resources")...)
			if o.code != exitDone {
				t.Fatalf("exit code %d", o.code)
			}
			d := o.document(t)
			if got := subscriptions(d); !slices.Equal(got, c.read) || !slices.Equal(d.Summary.Provider, []string{"azure"}) {
				t.Errorf("%v of %v were read, want %v", got, d.Summary.Provider, c.read)
			}
			want := 0
			for _, id := range c.read {
				for typ := range simazure.Assets(server.Estate(), id) {
					if strings.HasPrefix(typ, "Microsoft.Storage/") {
						want++
					}
				}
			}
			if got := d.Summary.ByType["Microsoft.Storage/storageAccounts"]; got != want || want == 0 {
				t.Errorf("%d storage accounts, want %d", got, want)
			}
		})
	}
}

// TestMapAzureByGraph: Resource Graph alone finds the resources, in a few queries.
func TestMapAzureByGraph(t *testing.T) {
	_, url := simulateAzure(t)
	o := mapped(t, "-p", "azure", "--azure-endpoint", url, "--only", "graph", "--fail-on-partial")
	d := o.document(t)
	if o.code != exitDone || d.Summary.Outcome != inventory.Complete || d.Summary.Assets < 500 || d.Throttling.Totals.Calls > 10 {
		t.Errorf("exit code %d, outcome %s, %d assets by %d calls", o.code, d.Summary.Outcome, d.Summary.Assets, d.Throttling.Totals.Calls)
	}
	for _, r := range d.Coverage {
		if r.Account != everywhere {
			t.Errorf("%s is of account %s", r.Task, r.Account)
		}
	}
}

// TestRefusedAzure: what cannot work is said before anything is sent.
func TestRefusedAzure(t *testing.T) {
	for _, c := range []struct {
		args string
		says []string
	}{
		{"-p aws --subscriptions " + subscription1, []string{"--subscriptions is for Azure, which is not read with -p aws"}},
		{"-p azure --regions us-east-1", []string{"--regions is for AWS, which is not read with -p azure"}},
		{"-p azure --endpoint-url http://localhost", []string{"--endpoint-url is for AWS"}},
		{"-p azrue", []string{`unknown provider "azrue", did you mean "azure"?`}},
		{"-p azure --subscriptions first", []string{`"first"`, "az account list"}},
		{"-p azure --subscriptions " + subscription1 + " --management-group platform", []string{"exclude each other"}},
		{"-p azure --azure-cloud chnia", []string{`"chnia"`, `"china"`}},
		{"-p azure --azure-endpoint http://management.example.com", []string{"unencrypted"}},
		{"-p azure --azure-endpoint localhost", []string{"not a URL"}},
		{"-p azure --only messaging", []string{`family "messaging" is AWS's, which is not read: -p names azure`}},
		{"-p aws --skip storage,resources", []string{`family "resources" is Azure's, which is not read: -p names aws`}},
		{"--only dns", []string{`family "dns" is Azure's, which is not read: it seems to have no credentials; -p azure`}},
		{"-p azure --only dsn", []string{`unknown family "dsn"`, `"dns"`, "resources"}},
		{"-p aws --only tag", []string{`unknown family "tag", did you mean "tags"?`}},
	} {
		t.Run(c.args, func(t *testing.T) {
			server, _ := simulateAzure(t)
			o := mapped(t, strings.Fields(c.args)...)
			if o.code != exitUsage {
				t.Errorf("exit code %d", o.code)
			}
			for _, want := range c.says {
				if !strings.Contains(o.stderr, want) {
					t.Errorf("stderr does not say %q", want)
				}
			}
			if n := server.Report().Totals.Asked; n != 0 {
				t.Errorf("%d requests were sent", n)
			}
			if _, err := os.Stat(o.dir); !os.IsNotExist(err) {
				t.Errorf("the output directory was made (%v)", err)
			}
		})
	}
}

// TestS15_3ProviderCannotBeOpened: a provider whose credentials are of no use does not
// stop another one; each of its tasks is a gap. Alone it is what broke the run.
func TestS15_3ProviderCannotBeOpened(t *testing.T) {
	_, url := simulateAzure(t)
	nobody := "--profile=nope"
	o := mapped(t, "-p", "aws,azure", nobody, "--azure-endpoint", url, "--only", "network")
	d := o.document(t)
	regional, global := rows(func(k inventory.Kind) bool { return k.Family == "network" })
	gaps := 0
	for _, r := range d.Coverage {
		switch {
		case r.Provider == "azure":
			if r.Status != inventory.Success {
				t.Errorf("%s: %s %s", r.Task, r.Status, r.Error)
			}
		case r.Status != inventory.Failed || r.Reason != inventory.CredentialsExpired || r.Account != "*" || r.Region != "":
			t.Errorf("%s in %q of %s: %s %s", r.Task, r.Region, r.Account, r.Status, r.Reason)
		default:
			gaps++
		}
	}
	if o.code != exitDone || gaps != regional+global || !slices.Equal(d.Summary.Provider, []string{"aws", "azure"}) || d.Summary.Assets == 0 {
		t.Errorf("exit code %d, %d gaps, %v, %d assets", o.code, gaps, d.Summary.Provider, d.Summary.Assets)
	}
	for _, want := range []string{"AWS cannot be read: no AWS credentials", fmt.Sprintf("%d tasks FAILED, credentials_expired in every account: login: no AWS credentials", gaps)} {
		if !strings.Contains(o.stderr, want) {
			t.Errorf("stderr does not say %q", want)
		}
	}
	if o := mapped(t, "-p", "aws,azure", nobody, "--azure-endpoint", url, "--only", "network", "--fail-on-partial"); o.code != exitPartial {
		t.Errorf("exit code %d under --fail-on-partial", o.code)
	}
	if o := mapped(t, "-p", "aws", nobody); o.code != exitBroken || strings.Contains(o.stderr, "cannot be read") || !strings.Contains(o.stderr, "no AWS credentials") {
		t.Errorf("alone: exit code %d", o.code)
	}
	t.Setenv("AZURE_TOKEN_CREDENTIALS", "EnvironmentCredential") // of all that the SDK would ask
	o = mapped(t, "-p", "aws,azure", nobody)
	if o.code != exitBroken || !strings.Contains(o.stderr, "no AWS credentials") || !strings.Contains(o.stderr, "no Azure credentials") {
		t.Errorf("neither: exit code %d", o.code)
	}
	if _, err := os.Stat(o.dir); !os.IsNotExist(err) {
		t.Errorf("the output directory was made (%v)", err)
	}
}

// TestUnopenedTasks: a provider that cannot be opened has records of the tasks that it
// would have had, and of no others.
func TestUnopenedTasks(t *testing.T) {
	_, url := simulateAzure(t)
	tenant, err := azureSource(azure.Options{Endpoint: url, Credential: noLogin{}}).open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tenant.close()
	names := func(tasks []inventory.Task) (list []string) {
		for _, task := range tasks {
			list = append(list, task.Name)
		}
		slices.Sort(list)
		return slices.Compact(list)
	}
	c := azureCloud()
	only := func(families ...string) func(inventory.Kind) bool {
		return func(k inventory.Kind) bool { return slices.Contains(families, k.Family) }
	}
	for name, wanted := range map[string]func(inventory.Kind) bool{
		"all": func(inventory.Kind) bool { return true }, "the sweep": only("resources"), "Resource Graph": only("graph"), "both": only("graph", "resources"), "networks": only("network"),
	} {
		if got, want := names(c.unopened(errors.New("no"), wanted)), names(tenant.tasks(wanted)); !slices.Equal(got, want) {
			t.Errorf("%s: %d tasks, opened it has %d:\n%v\n%v", name, len(got), len(want), got, want)
		}
	}
	a := awsCloud()
	if got := a.unopened(errors.New("no"), only("network")); len(got) == 0 || slices.ContainsFunc(got, func(task inventory.Task) bool { return task.Family != "network" }) {
		t.Errorf("%d tasks of AWS", len(got))
	}
}

// TestOpenedIsClosed: what was opened is closed when the run is over, also where there is
// none because another could not be opened.
func TestOpenedIsClosed(t *testing.T) {
	closed := 0
	good := source{open: func(context.Context) (opened, error) {
		return opened{
			accounts: []inventory.Account{{ID: "1"}}, close: func() { closed++ },
			tasks: func(func(inventory.Kind) bool) []inventory.Task { return nil },
		}, nil
	}}
	bad := source{open: func(context.Context) (opened, error) { return opened{}, errors.New("no") }}
	for _, c := range []struct {
		name    string
		sources []source
		after   int // closed by then
		fails   bool
	}{
		{"two", []source{good, good}, 2, false},
		{"the second fails", []source{good, bad}, 1, true},
		{"none", []source{bad}, 0, true},
	} {
		closed = 0
		p := selection{clouds: []*cloud{{asked: true, lacks: is[*azure.NoCredentialsError], refused: is[*azure.CredentialsError]}}, wanted: func(inventory.Kind) bool { return true }}
		r, err := p.open(t.Context(), func(*cloud) []source { return c.sources }, func(string) {})
		if (err != nil) != c.fails || closed != 0 {
			t.Errorf("%s: %v, closed %d", c.name, err, closed)
		}
		r.close()
		if closed != c.after {
			t.Errorf("%s: closed %d, want %d", c.name, closed, c.after)
		}
	}
}

// TestNoCredentialsAtAll: without -p the error says of each provider what was looked
// for.
func TestNoCredentialsAtAll(t *testing.T) {
	fakeaws.Isolate(t)
	o := mapped(t)
	for _, title := range []string{"AWS", "Azure", "Google Cloud"} {
		if want := "no " + title + " credentials"; o.code != exitBroken || !strings.Contains(o.stderr, want) {
			t.Errorf("exit code %d, want %q", o.code, want)
		}
	}
}

// TestChoose: which providers are read.
func TestChoose(t *testing.T) {
	for _, c := range []struct {
		name   string
		f      mapFlags
		given  []string
		azure  bool // has credentials
		want   []string
		absent int
	}{
		{"credentials of both", mapFlags{}, nil, true, []string{"aws", "azure"}, 0},
		{"no sign of Azure", mapFlags{}, nil, false, []string{"aws"}, 1},
		{"a flag of Azure's", mapFlags{}, []string{"subscriptions"}, false, []string{"aws", "azure"}, 0},
		{"named", mapFlags{providers: []string{"azure"}}, nil, false, []string{"azure"}, 0},
		{"both named", mapFlags{providers: []string{"azure", "aws"}}, nil, false, []string{"aws", "azure"}, 0},
		{"demo", mapFlags{demo: true}, nil, false, []string{"aws", "azure"}, 0},
		{"demo of one", mapFlags{demo: true, providers: []string{"aws"}}, nil, true, []string{"aws"}, 0},
	} {
		c.f.clouds = clouds()[:2]
		c.f.clouds[1].own = []string{"subscriptions"}
		c.f.clouds[1].absent = func() error {
			if c.azure {
				return nil
			}
			return errors.New("none")
		}
		list, absent := c.f.choose(func(name string) bool { return slices.Contains(c.given, name) })
		if got := providerNames(list); !slices.Equal(got, c.want) || len(absent) != c.absent {
			t.Errorf("%s: %v and %d absent, want %v and %d", c.name, got, len(absent), c.want, c.absent)
		}
	}
}

// TestAzureAbsent: what counts as credentials, as far as one can see without asking.
func TestAzureAbsent(t *testing.T) {
	dir := filepath.Join("home", "u")
	for _, c := range []struct {
		name     string
		env      map[string]string
		files    map[string]string
		programs string
		want     bool // something is there
	}{
		{"nothing", nil, nil, "", false},
		{"secret", map[string]string{"AZURE_TENANT_ID": "t", "AZURE_CLIENT_ID": "c", "AZURE_CLIENT_SECRET": "s"}, nil, "", true},
		{"certificate", map[string]string{"AZURE_TENANT_ID": "t", "AZURE_CLIENT_ID": "c", "AZURE_CLIENT_CERTIFICATE_PATH": "p"}, nil, "", true},
		{"workload", map[string]string{"AZURE_TENANT_ID": "t", "AZURE_CLIENT_ID": "c", "AZURE_FEDERATED_TOKEN_FILE": "p"}, nil, "", true},
		{"half of it", map[string]string{"AZURE_CLIENT_ID": "c", "AZURE_CLIENT_SECRET": "s"}, nil, "", false},
		{"an id alone", map[string]string{"AZURE_TENANT_ID": "t", "AZURE_CLIENT_ID": "c"}, nil, "", false},
		{"managed identity", map[string]string{"IDENTITY_ENDPOINT": "http://localhost"}, nil, "", true},
		{"az", nil, map[string]string{filepath.Join(dir, ".azure", "azureProfile.json"): "\xef\xbb\xbf" + `{"subscriptions": [{"id": "1"}]}`}, "az", true},
		{"az elsewhere", map[string]string{"AZURE_CONFIG_DIR": "there"}, map[string]string{filepath.Join("there", "azureProfile.json"): `{"subscriptions": [{"id": "1"}]}`}, "az", true},
		{"az logged out", nil, map[string]string{filepath.Join(dir, ".azure", "azureProfile.json"): `{"subscriptions": []}`}, "az", false},
		{"az gone", nil, map[string]string{filepath.Join(dir, ".azure", "azureProfile.json"): `{"subscriptions": [{"id": "1"}]}`}, "", false},
		{"az never used", nil, nil, "az", false},
		{"azd", nil, map[string]string{filepath.Join(dir, ".azd", "auth.json"): `{}`}, "azd", true},
		{"azd logged out", nil, nil, "azd", false},
	} {
		l := looks{
			env:  func(name string) string { return c.env[name] },
			home: func() (string, error) { return dir, nil },
			read: func(name string) ([]byte, error) {
				if text, ok := c.files[name]; ok {
					return []byte(text), nil
				}
				return nil, os.ErrNotExist
			},
			program: func(name string) (string, error) {
				if name == c.programs {
					return name, nil
				}
				return "", os.ErrNotExist
			},
		}
		if err := azureAbsent(l); (err == nil) != c.want {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestAzureDocumented: docs/map.md has every task, with its family and types, and
// every flag and family.
func TestAzureDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/map.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range azure.Kinds() {
		_, rest, _ := strings.Cut(string(text), "| `"+k.Name+"` | ")
		line, _, _ := strings.Cut(rest, "\n")
		for i, typ := range append([]string{k.Family}, k.Types...) {
			if i > 1 && k.Family == "dns" { // a zone's types of records share what they begin with
				typ = typ[strings.LastIndexByte(typ, '/')+1:]
			}
			if !strings.Contains(line, typ) {
				t.Errorf("docs/map.md says of %s %q, without %q", k.Name, line, typ)
			}
		}
	}
	for _, c := range clouds() {
		c.addFlags(newRoot())
		for _, name := range c.own {
			if !strings.Contains(string(text), "`--"+name+"`") {
				t.Errorf("docs/map.md does not have --%s", name)
			}
		}
	}
	for _, family := range inventory.Families(kindsOf(clouds())) {
		if !strings.Contains(string(text), "`"+family+"`") {
			t.Errorf("docs/map.md does not have the family %s", family)
		}
	}
}
