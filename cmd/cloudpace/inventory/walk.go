package inventory

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// A Page asks for the page a token stands for, "" for the first one, and gives
// its items and the token of the next, "" after the last.
type Page[T any] func(ctx context.Context, token string) (items []T, next string, err error)

// A Detail is one more read for each item of a listing.
type Detail[T any] struct {
	Name string // "launch_permissions"
	// Read asks and puts the answer into the asset. "Not configured" is an answer;
	// where there is nothing to ask it is [ErrNotNeeded]. On an error the asset must
	// be as it was.
	Read func(ctx context.Context, item T, a *Asset) error
}

// DetailWorkers bounds the details of one task in flight. The pace is the
// governor's; this only has to be enough to keep it busy.
const DetailWorkers = 16

// mostEmptyPages is how many pages in a row may have nothing on them but a token.
// Some services send many where they filter; a listing that goes on so has no end.
const mostEmptyPages = 1000

// Walk reads a listing to its end and emits an asset for every item, with the
// details, which are read side by side. Every task goes through it, so that the
// rules for listings hold for all of them: a page that arrived is kept whatever
// comes after it, a token that comes again ends the listing with
// [RepeatedTokenError], an item that is gone when its detail is asked for is
// counted and left out, and an item whose detail fails is emitted without it. A
// detail that the provider does not have at all is not asked for every item.
//
// It returns what ended the listing early, nil at its end.
func Walk[T any](ctx context.Context, out *Output, page Page[T], describe func(T) Asset, details ...Detail[T]) error {
	w := walk[T]{out: out, details: details, operations: make([]operation, len(details))}
	fan := newFan(DetailWorkers)
	err := contain(func() error {
		return walkPages(ctx, out, page, func(item T, left int) error {
			if !out.take() {
				return &CappedError{Limit: int(out.limit), Seen: int(out.limit) + left}
			}
			if len(details) == 0 {
				return out.Emit(describe(item))
			}
			return fan.Go(func() error { return w.one(ctx, item, describe(item)) })
		})
	})
	// The details under way are waited for also when the listing has ended early:
	// their items arrived.
	if failed := fan.Wait(); err == nil {
		err = failed
	}
	if failed := w.end(err == nil && ctx.Err() == nil); err == nil {
		err = failed
	}
	return err
}

// walk is a listing whose items have details.
type walk[T any] struct {
	out        *Output
	details    []Detail[T]
	operations []operation // of each detail

	mu   sync.Mutex
	held []lacking
}

// lacking is an asset without some of its details.
type lacking struct {
	asset Asset
	gaps  []gap
}

type gap struct {
	detail int
	err    error
}

// one reads the details of an item and emits it.
func (w *walk[T]) one(ctx context.Context, item T, a Asset) error {
	var gaps []gap
	news := false
	for i, d := range w.details {
		err := w.ask(ctx, i, func() error { return d.Read(ctx, item, &a) })
		switch {
		case errors.Is(err, ErrNotNeeded):
		case err == nil:
			news = w.operations[i].heard(w.out.task.Provider, nil) || news
		case Gone(w.out.task.Provider, err):
			w.out.count(func(r *Record) { r.Vanished++ })
			if w.operations[i].heard(w.out.task.Provider, nil) || news {
				return w.release(false)
			}
			return nil
		default:
			news = w.operations[i].heard(w.out.task.Provider, err) || news
			gaps = append(gaps, gap{i, fmt.Errorf("%s of %s: %w", d.Name, a.ID, err)})
		}
	}
	err := w.emit(lacking{a, gaps}, false)
	if news && err == nil {
		err = w.release(false)
	}
	return err
}

// ask reads one detail unless it is known to be in vain: the run is ending, or
// the provider does not have this operation at all, so that asking again for
// every other item would only cost calls.
func (w *walk[T]) ask(ctx context.Context, i int, read func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := w.operations[i].refused(); err != nil {
		return err
	}
	err := read()
	if !errors.Is(err, ErrNotNeeded) {
		w.out.count(func(r *Record) { r.Details++ })
	}
	return err
}

// emit writes an asset and says what it lacks. As long as nobody can tell why it
// lacks that, it is held back; of those there are never more than a few, since an
// answer or some more refusals settle it.
func (w *walk[T]) emit(l lacking, final bool) error {
	why := make([]Reason, len(l.gaps))
	for i, g := range l.gaps {
		var settled bool
		if why[i], settled = w.operations[g.detail].reason(w.out.task.Provider, g.err, final); !settled {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.held = append(w.held, l)
			return nil
		}
	}
	for i, g := range l.gaps {
		l.asset.lack(w.details[g.detail].Name, w.out.gap(why[i], g.err))
	}
	return w.out.Emit(l.asset)
}

// release emits what was held back and is settled by now.
func (w *walk[T]) release(final bool) error {
	w.mu.Lock()
	list := w.held
	w.held = nil
	w.mu.Unlock()
	var err error
	for _, l := range list {
		if failed := w.emit(l, final); err == nil {
			err = failed
		}
	}
	return err
}

// end settles what is still held back. Of a listing that was read to its end an
// operation that has answered for no item is one that the provider does not have.
func (w *walk[T]) end(complete bool) error {
	if complete {
		for _, l := range w.held {
			for _, g := range l.gaps {
				if _, settled := w.operations[g.detail].reason(w.out.task.Provider, g.err, false); !settled {
					w.operations[g.detail].none(g.err)
				}
			}
		}
	}
	return w.release(true)
}

// Each reads a listing to its end without a task, for what has to be known before
// there are any. The rules for pages are those of [Walk].
func Each[T any](ctx context.Context, page Page[T], do func(T)) error {
	nowhere := newOutput(Task{}, nil, new(Tally))
	return walkPages(ctx, nowhere, page, func(item T, _ int) error {
		do(item)
		return nil
	})
}

// walkPages follows a listing and calls each with every item, and how many of its
// page are left with it.
func walkPages[T any](ctx context.Context, out *Output, page Page[T], each func(item T, left int) error) error {
	seen := make(map[string]bool)
	empty := 0 // pages in a row
	for token := ""; ; {
		left := out.elsewhere()
		items, next, err := page(ctx, token)
		if err != nil {
			return err
		}
		out.page(len(items))
		if empty++; len(items) > 0 || out.elsewhere() > left { // what is left to other tasks was there, too
			empty = 0
		}
		if empty == mostEmptyPages {
			return &EmptyPagesError{Pages: empty}
		}
		for i, item := range items {
			if err := each(item, len(items)-i); err != nil {
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
