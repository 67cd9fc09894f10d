package inventory

import (
	"context"
	"errors"
	"fmt"
)

// A Sub is a listing that is asked for under an item of another one: the
// services of a cluster.
type Sub[T any] struct {
	Name string // of the item, for errors: "services of production"
	Page Page[T]
}

// ListingWorkers bounds the listings under way below one task's items. Each has
// a page in memory and details of its own.
const ListingWorkers = 8

// WalkUnder reads the listing that sub gives for each item of parents, with all
// that [Walk] promises for every one of them: they are read side by side, one
// that ends early is a gap and stops no other, and one whose parent is gone by
// then is counted and left out. The parents themselves are not emitted.
//
// It returns what ended the listing of the parents early, nil at its end.
func WalkUnder[P, T any](ctx context.Context, out *Output, parents Page[P], sub func(P) Sub[T], describe func(T) Asset, details ...Detail[T]) error {
	var asked operation
	fan := newFan(ListingWorkers)
	one := func(parent P) error {
		under := sub(parent)
		err := ctx.Err()
		if err == nil {
			if err = asked.refused(); err == nil {
				err = Walk(ctx, out, under.Page, describe, details...)
				asked.heard(out.task.Provider, err)
			}
		}
		var capped *CappedError
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil, errors.As(err, &capped): // also when the assets cannot be written any more
			return err
		case Gone(out.task.Provider, err):
			out.count(func(r *Record) { r.Vanished++ })
			return nil
		}
		out.Gap(fmt.Errorf("%s: %w", under.Name, err))
		return nil
	}
	err := contain(func() error {
		return walkPages(ctx, out, parents, func(parent P, _ int) error {
			return fan.Go(func() error { return one(parent) })
		})
	})
	if failed := fan.Wait(); err == nil {
		err = failed
	}
	return err
}
