package main

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/words"
	"github.com/cloudpace/cloudpace/fleet"
)

// TestFleetRefused: what cannot be shared is said before anything is sent, without the
// password.
func TestFleetRefused(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"map -p aws --fleet http://:hunter2@example.com", exitUsage, "its scheme is unknown (allowed: redis, rediss"},
		{"map -p aws --fleet redis://:hunter2@127.0.0.1:1", exitBroken, "it cannot be reached"},
		{"map --demo --fleet redis://127.0.0.1:1", exitUsage, "--demo and --fleet exclude each other"},
		{"fleet status", exitUsage, "which fleet? Name its store with --fleet URL or CLOUDPACE_FLEET"},
		{"fleet status --fleet=", exitUsage, "--fleet is empty"},
		{"fleet status --fleet redis://:hunter2@127.0.0.1:1", exitBroken, "redis at redis://127.0.0.1:1: it cannot be reached"},
	} {
		t.Run(c.args, func(t *testing.T) {
			t.Setenv(cacheVariable(), t.TempDir())
			t.Chdir(t.TempDir())
			var stdout, stderr bytes.Buffer
			code := run(t.Context(), strings.Fields(c.args), strings.NewReader(""), &stdout, &stderr)
			if code != c.code || !strings.Contains(stderr.String(), c.want) || strings.Contains(stderr.String(), "hunter2") {
				t.Errorf("exit code %d, want %d and %q:\n%s", code, c.code, c.want, &stderr)
			}
		})
	}
}

// TestFleetStatusText: who shares what, by names.
func TestFleetStatusText(t *testing.T) {
	started := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	var b bytes.Buffer
	err := printFleet(&b, fleet.Status{
		Store: "redis://cache.example.com",
		Members: []fleet.MemberStatus{
			{Member: fleet.Member{ID: "1", Name: "map-1@a", Started: started}, Left: 9.6},
			{Member: fleet.Member{ID: "2", Name: "map-2@b", Started: started.Add(time.Minute)}, Left: 3},
		},
		Buckets: []fleet.BucketStatus{
			{Key: "aws/111122223333/us-east-1/sqs leaf", RPS: 20, MaxRPS: 20, Burst: 39, Tokens: 39},
			{Key: "aws/111122223333/us-east-1/ec2 leaf", RPS: 7.5, MaxRPS: 20, Burst: 39, Tokens: -3, Active: []string{"2", "1", "7", "8"}},
			{Key: "aws/111122223333/us-east-1/iam leaf", RPS: 10, MaxRPS: 10, PausedSeconds: 12, Active: []string{"2"}},
			{Key: "aws/111122223333/us-east-1/kms leaf", RPS: 10, MaxRPS: 10, OpenSeconds: 59},
		},
		Slots: []fleet.SlotsStatus{{Key: "aws/111122223333/*/* slots", Max: 128, Slots: map[string]int{"1": 40, "2": 4}}},
	})
	want := `2 processes share their limits through redis://cache.example.com.

process  since                lease ends in
map-1@a  2026-11-30 12:00:00  10s
map-2@b  2026-11-30 12:01:00  3s

bucket                               calls/s  of  stored  shared by                 now
aws/111122223333/us-east-1/ec2 leaf  7.5      20  0       7, 8, map-1@a and 1 more  slowed down
aws/111122223333/us-east-1/iam leaf  10       10  0       map-2@b                   paused for 12s
aws/111122223333/us-east-1/sqs leaf  20       20  39      nobody now
aws/111122223333/us-east-1/kms leaf  10       10  0       nobody now                circuit open for 59s

slots                 of   held by
aws/111122223333/*/*  128  map-1@a 40, map-2@b 4
`
	if err != nil || b.String() != want {
		t.Errorf("%v\n%s\nwant\n%s", err, &b, want)
	}
}

// TestFleetNotes: an event of the fleet is a line among the others.
func TestFleetNotes(t *testing.T) {
	g, err := cloudpace.New(cloudpace.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	_, stats := cloudpace.WithStats(context.Background())
	var b bytes.Buffer
	show := newProgress(&b, g, stats)
	log := slog.New(notes{show: show})
	log.Debug("not this")
	log.With("fleet", "x").WithGroup("g").Warn("the shared limits are out of reach", "share", 0.25, "error", "gone\naway")
	log.Info("the shared limits are back", "alone_seconds", 12.4)
	show.stop()
	want := "cloudpace: warning: the shared limits are out of reach (fleet x, share 0.25, error gone away)\nthe shared limits are back (alone 12s)\n"
	if b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

// TestShared: what the end says of it.
func TestShared(t *testing.T) {
	for want, f := range map[string]*inventory.Fleet{
		"": nil,
		"Shared its limits with nobody else, through redis://a.":     {Store: "redis://a", Members: 1},
		"Shared its limits with 1 other process, through redis://a.": {Store: "redis://a", Members: 2},
		"Shared its limits with 3 other processes, through redis://a; that was out of reach 2 times, for 12 s in all, when it went on within its share (gone).": {
			Store: "redis://a", Members: 4, Outages: 2, AloneSeconds: 12.4, Cause: "gone",
		},
	} {
		if got := words.Shared(f); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
