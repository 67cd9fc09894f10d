package inventory

import (
	"context"
	"fmt"
	"sync/atomic"
)

// A Page asks for the page a token stands for, "" for the first one, and gives
// its items and the token of the next, "" after the last.
type Page[T any] func(ctx context.Context, token string) (items []T, next string, err error)

// A Detail is one more read for each item of a listing.
type Detail[T any] struct {
	Name string // "launch_permissions"
	// Read asks and puts the answer into the asset. "Not configured" is an answer.
	// On an error the asset must be as it was.
	Read func(ctx context.Context, item T, a *Asset) error
}

// RepeatedTokenError says that a listing gave a token a second time, so that
// following it would go round in circles.
type RepeatedTokenError struct {
	Pages int // those that arrived
}

// Error tells how far the listing came.
func (e *RepeatedTokenError) Error() string {
	return fmt.Sprintf("the provider repeated a page token after %d page(s), so the listing cannot be followed to its end", e.Pages)
}

// detailWorkers bounds the details of one task in flight. The pace is the
// governor's; this only has to be enough to keep it busy.
const detailWorkers = 16

// Walk reads a listing to its end and emits an asset for every item, with the
// details, which are read side by side. Every task goes through it, so that the
// rules for listings hold for all of them: a page that arrived is kept whatever
// comes after it, a token that comes again ends the listing with
// [RepeatedTokenError], an item that is gone when its detail is asked for is
// counted and left out, and an item whose detail fails is emitted without it.
//
// It returns what ended the listing early, nil at its end.
func Walk[T any](ctx context.Context, out *Output, page Page[T], describe func(T) Asset, details ...Detail[T]) error {
	stopped := make([]atomic.Pointer[error], len(details))
	fan := newFan(detailWorkers)
	one := func(item T) error {
		a := describe(item)
		for i, d := range details {
			err := out.detail(ctx, &stopped[i], func() error { return d.Read(ctx, item, &a) })
			if err == nil {
				continue
			}
			if Gone(out.task.Provider, err) {
				out.count(func(r *Record) { r.Vanished++ })
				return nil
			}
			why := out.Gap(fmt.Errorf("%s of %s: %w", d.Name, a.ID, err))
			if why == NotSupported {
				stopped[i].CompareAndSwap(nil, &err)
			}
			a.lack(d.Name, why)
		}
		return out.Emit(a)
	}
	err := walkPages(ctx, out, page, func(item T) error {
		if len(details) == 0 {
			return one(item)
		}
		return fan.Go(func() error { return one(item) })
	})
	// The details under way are waited for also when the listing has ended early:
	// their items arrived.
	if failed := fan.Wait(); err == nil {
		err = failed
	}
	return err
}

// detail reads one detail unless it is known to be in vain: the run is ending,
// or the provider does not have this operation at all, so that asking again for
// every other item would only cost calls.
func (o *Output) detail(ctx context.Context, stopped *atomic.Pointer[error], read func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := stopped.Load(); err != nil {
		return *err
	}
	o.count(func(r *Record) { r.Details++ })
	return read()
}

func walkPages[T any](ctx context.Context, out *Output, page Page[T], each func(T) error) error {
	seen := make(map[string]bool)
	for token := ""; ; {
		items, next, err := page(ctx, token)
		if err != nil {
			return err
		}
		out.count(func(r *Record) { r.Pages++ })
		for _, item := range items {
			if err := each(item); err != nil {
				return err
			}
		}
		if next == "" {
			return nil
		}
		if seen[next] {
			return &RepeatedTokenError{Pages: len(seen) + 1}
		}
		seen[next] = true
		token = next
	}
}
