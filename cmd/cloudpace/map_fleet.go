package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/words"
	"github.com/cloudpace/cloudpace/fleet"
	"github.com/cloudpace/cloudpace/fleet/redisstore"
)

// fleetVariable names the store where no flag does, so that a password need not be in a
// command line.
const fleetVariable = "CLOUDPACE_FLEET"

// fleetUsage is of --fleet.
var fleetUsage = "share the limits with other processes through the Redis or Valkey at `URL` (default: " + fleetVariable + ")"

// openFleet opens the store that a flag or the environment names.
func openFleet(ctx context.Context, flag string) (*redisstore.Store, error) {
	store, err := redisstore.Open(ctx, cmp.Or(flag, os.Getenv(fleetVariable)), redisstore.Options{})
	var no *redisstore.Error
	switch {
	case err == nil:
		return store, nil
	case ctx.Err() != nil:
		return nil, &exitError{exitInterrupted, errors.New("interrupted before anything was read")}
	case errors.As(err, &no) && no.Reason == redisstore.BadURL:
		return nil, usage("--fleet: %w", err)
	}
	return nil, broken(fmt.Errorf("--fleet: %w", err))
}

// share lets the governor share its limits, unless nobody asked for that. What it gives
// is to be called when the last call is over, and tells how that went.
func share(ctx context.Context, g *cloudpace.Governor, flag string, show *progress) (leave func() *inventory.Fleet, err error) {
	if cmp.Or(flag, os.Getenv(fleetVariable)) == "" {
		return func() *inventory.Fleet { return nil }, nil
	}
	show.say("asking who shares the limits")
	store, err := openFleet(ctx, flag)
	if err != nil {
		return nil, err
	}
	m, err := fleet.Join(ctx, g, store, fleet.Options{Logger: slog.New(notes{show: show})})
	if err != nil {
		return nil, errors.Join(broken(err), store.Close())
	}
	var record *inventory.Fleet
	return func() *inventory.Fleet {
		if record == nil {
			record = fleetRecord(m.State(), store)
			m.Close()
			_ = store.Close() // all is told, and what is not ends by itself
		}
		return record
	}, nil
}

func fleetRecord(s fleet.State, store fmt.Stringer) *inventory.Fleet {
	return &inventory.Fleet{
		Store: store.String(), Members: s.Members, Exchanges: s.Exchanges, Tokens: s.Tokens,
		Outages: s.Outages, AloneSeconds: s.AloneSeconds, Cause: words.Short(s.Cause),
	}
}

// notes prints log events among the notes of a progress.
type notes struct {
	show *progress
	with []slog.Attr
}

var _ slog.Handler = notes{}

// Enabled takes what is worth a line.
func (n notes) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelInfo }

// Handle prints an event on one line.
func (n notes) Handle(_ context.Context, r slog.Record) error {
	var details []string
	add := func(a slog.Attr) bool {
		v := a.Value.Resolve()
		switch {
		case v.Kind() == slog.KindFloat64 && strings.HasSuffix(a.Key, "_seconds"):
			details = append(details, fmt.Sprintf("%s %s", strings.ReplaceAll(strings.TrimSuffix(a.Key, "_seconds"), "_", " "), time.Duration(v.Float64()*float64(time.Second)).Round(time.Second)))
		case v.Kind() == slog.KindFloat64:
			details = append(details, fmt.Sprintf("%s %.2g", a.Key, v.Float64()))
		default:
			details = append(details, a.Key+" "+words.Short(v.String()))
		}
		return true
	}
	for _, a := range n.with {
		add(a)
	}
	r.Attrs(add)
	text := r.Message
	if len(details) > 0 {
		text += " (" + strings.Join(details, ", ") + ")"
	}
	if r.Level >= slog.LevelWarn {
		text = warning(text)
	}
	n.show.note([]string{text})
	return nil
}

// WithAttrs keeps attributes for all events.
func (n notes) WithAttrs(list []slog.Attr) slog.Handler {
	n.with = append(n.with[:len(n.with):len(n.with)], list...)
	return n
}

// WithGroup keeps no groups: nobody here makes any.
func (n notes) WithGroup(string) slog.Handler { return n }
