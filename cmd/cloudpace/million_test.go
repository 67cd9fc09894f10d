package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	inventoryaws "github.com/cloudpace/cloudpace/cmd/cloudpace/inventory/aws"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
	simaws "github.com/cloudpace/cloudpace/cmd/cloudpace/sim/aws"
)

// BenchmarkMillionAssets maps an estate of a million assets in 200 account-regions,
// without quotas, so that nothing is waited for and all time is the map's and the
// simulated cloud's, which is in the same process. It fails when the process has
// ever held 300 MiB (F16). Run it by itself:
//
//	go test -run '^$' -bench MillionAssets -benchtime 1x ./cmd/cloudpace
func BenchmarkMillionAssets(b *testing.B) {
	const assets, accounts, mostMiB = 1_000_000, 10, 300
	boundMemory()
	regions := inventoryaws.RegionNames()[:20]
	p := sim.Default(simaws.New())
	p.Quotas = nil
	p.Faults = []sim.Fault{{Kind: sim.Latency, Seconds: 0.002}}
	p.Estate = sim.EstateConfig{Accounts: sim.ExampleAccounts(accounts), Regions: regions, Assets: assets}
	d, err := startDemo(b.Context(), simaws.New(), p)
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := d.close(); err != nil {
			b.Error(err)
		}
	}()
	settings := cloudpace.DefaultConfig()
	aws := settings.Providers["aws"]
	aws.MaxRPS, aws.Burst, aws.Services = 1e6, 1e6, nil
	settings.Providers["aws"] = aws
	for b.Loop() {
		g, err := cloudpace.New(settings)
		if err != nil {
			b.Fatal(err)
		}
		ctx, stats := cloudpace.WithStats(b.Context())
		start := time.Now()
		var tasks []inventory.Task
		for _, o := range d.awsAccounts(g) {
			account, err := inventoryaws.Open(ctx, o)
			if err != nil {
				b.Fatal(err)
			}
			tasks = append(tasks, account.Tasks(func(inventory.Kind) bool { return true })...)
		}
		sink := inventory.NewSink(b.TempDir())
		records, err := inventory.Run(ctx, tasks, inventory.Options{Sink: sink, Governor: g})
		if err != nil {
			b.Fatal(err)
		}
		found := 0
		for _, r := range records {
			if r.Status != inventory.Success {
				b.Errorf("%s in %s of %s: %s %s: %s", r.Task, r.Region, r.Account, r.Status, r.Reason, r.Error)
			}
			found += r.Assets
		}
		took, totals := time.Since(start), g.Summary(stats).Totals
		b.ReportMetric(float64(found)/took.Seconds(), "assets/s")
		b.ReportMetric(float64(totals.Calls)/took.Seconds(), "calls/s")
		b.Logf("%d assets of %d tasks by %d calls in %s", found, len(tasks), totals.Calls, took.Round(time.Millisecond))
	}
	most, err := peakMiB()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(most, "MiB-peak")
	if most > mostMiB {
		b.Errorf("the process held %.0f MiB, more than %d", most, mostMiB)
	}
}

// peakMiB is the most memory that the process has held.
func peakMiB() (float64, error) {
	text, err := os.ReadFile("/proc/self/status")
	if os.IsNotExist(err) { // another system than Linux
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.Sys) / (1 << 20), nil
	}
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, err := strconv.Atoi(strings.Fields(value)[0])
			return float64(kb) / 1024, err
		}
	}
	return 0, fmt.Errorf("no VmHWM in %q", text)
}
