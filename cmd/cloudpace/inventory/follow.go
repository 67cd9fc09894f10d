package inventory

import (
	"context"
	"iter"
)

// Follow reads a listing whose pages are followed elsewhere, and counted by [Arrived]:
// each is called with every item as it comes. It returns what ended the listing early,
// nil at its end.
func Follow[T any](ctx context.Context, out *Output, items iter.Seq2[T, error], each func(T) error) error {
	for item, err := range items {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err() // a page in memory is no reason to go on
		case !out.take():
			return &CappedError{Limit: int(out.limit), Seen: int(out.limit) + 1}
		}
		if err := each(item); err != nil {
			return err
		}
	}
	return nil
}
