package aws

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/internal/fakeaws"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// The SDK shuts its connections down when they have been idle, not before.
		goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"),
	)
}

// governor is one that lets the SDK give up at the first error, so that tests of
// errors do not wait for its back-off.
func governor(t *testing.T) *cloudpace.Governor {
	t.Helper()
	cfg := cloudpace.DefaultConfig()
	cfg.AWS.MaxRetries = 0
	g, err := cloudpace.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func open(t *testing.T, s *fakeaws.Server, regions ...string) *Account {
	t.Helper()
	a, err := Open(t.Context(), Options{Endpoint: s.URL, Regions: regions, Governor: governor(t)})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// mapped runs the tasks of that name in us-east-1, or all for "", and gives the
// records and assets.
func mapped(t *testing.T, s *fakeaws.Server, name string) ([]inventory.Record, []inventory.Asset) {
	t.Helper()
	a := open(t, s, "us-east-1")
	dir := t.TempDir()
	tasks := a.Tasks(func(k inventory.Kind) bool { return name == "" || k.Name == name })
	records, err := inventory.Run(t.Context(), tasks, inventory.Options{Sink: inventory.NewSink(dir)})
	if err != nil {
		t.Fatal(err)
	}
	return records, assets(t, dir)
}

func assets(t *testing.T, dir string) (list []inventory.Asset) {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, inventory.AssetsFile))
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var a inventory.Asset
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			t.Fatal(err)
		}
		list = append(list, a)
	}
	return list
}
