package aws

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

// reader is what a row does in a site.
type reader func(context.Context, *site, *inventory.Output) error

// detail is one more call for each item of a listing.
type detail[T any] struct {
	name string
	read func(context.Context, *site, T, *inventory.Asset) error
}

// listing makes a reader of what is particular to one API: ask for a page, take
// it apart into items and the next token, describe an item. SDK paginators are
// not used: they either follow a repeated token for ever or end there as if all
// had been read.
func listing[O, T any](
	ask func(context.Context, *site, *string) (*O, error),
	take func(*O) ([]T, *string),
	describe func(*site, T) inventory.Asset,
	details ...detail[T],
) reader {
	return func(ctx context.Context, s *site, out *inventory.Output) error {
		return inventory.Walk(ctx, out, pages(s, ask, take), func(item T) inventory.Asset { return describe(s, item) }, bind(s, details)...)
	}
}

// under is an item of a listing that is asked for under each item P of another.
type under[P, T any] struct {
	parent P
	item   T
}

// nested makes a reader of a listing of that kind: first what a listing takes
// to find the parents, and what to call one; then the same for what is below.
func nested[OP, P, O, T any](
	askParents func(context.Context, *site, *string) (*OP, error),
	takeParents func(*OP) ([]P, *string),
	name func(P) string,
	ask func(context.Context, *site, P, *string) (*O, error),
	take func(*O) ([]T, *string),
	describe func(*site, under[P, T]) inventory.Asset,
	details ...detail[under[P, T]],
) reader {
	return func(ctx context.Context, s *site, out *inventory.Output) error {
		sub := func(parent P) inventory.Sub[under[P, T]] {
			page := pages(s, func(ctx context.Context, s *site, next *string) (*O, error) { return ask(ctx, s, parent, next) }, take)
			return inventory.Sub[under[P, T]]{Name: name(parent), Page: func(ctx context.Context, token string) ([]under[P, T], string, error) {
				items, next, err := page(ctx, token)
				list := make([]under[P, T], len(items))
				for i, item := range items {
					list[i] = under[P, T]{parent, item}
				}
				return list, next, err
			}}
		}
		return inventory.WalkUnder(ctx, out, pages(s, askParents, takeParents), sub,
			func(item under[P, T]) inventory.Asset { return describe(s, item) }, bind(s, details)...)
	}
}

func pages[O, T any](s *site, ask func(context.Context, *site, *string) (*O, error), take func(*O) ([]T, *string)) inventory.Page[T] {
	return func(ctx context.Context, token string) ([]T, string, error) {
		var from *string
		if token != "" {
			from = &token
		}
		answer, err := ask(ctx, s, from)
		if err != nil {
			return nil, "", err
		}
		items, next := take(answer)
		return items, aws.ToString(next), nil
	}
}

func bind[T any](s *site, details []detail[T]) []inventory.Detail[T] {
	bound := make([]inventory.Detail[T], len(details))
	for i, d := range details {
		bound[i] = inventory.Detail[T]{Name: d.name, Read: func(ctx context.Context, item T, a *inventory.Asset) error {
			return d.read(ctx, s, item, a)
		}}
	}
	return bound
}

// mostDetailPages is far more than any one thing has.
const mostDetailPages = 1000

// rest reads the pages of a detail that has several.
func rest[O, T any](ctx context.Context, s *site, ask func(context.Context, *site, *string) (*O, error), take func(*O) ([]T, *string)) ([]T, error) {
	page, seen := pages(s, ask, take), map[string]bool{}
	var all []T
	for token := ""; ; {
		items, next, err := page(ctx, token)
		if err != nil {
			return nil, err
		}
		all = append(all, items...)
		if next == "" {
			return all, nil
		}
		if len(seen) == mostDetailPages {
			return nil, &inventory.EmptyPagesError{Pages: len(seen)}
		}
		if seen[next] {
			return nil, &inventory.RepeatedTokenError{Pages: len(seen) + 1}
		}
		seen[next] = true
		token = next
	}
}

// more gives the marker of the next page of an API that says whether there is
// one. One that says so and names none must not pass for the end: what the marker
// then is, the API will refuse.
func more(truncated bool, marker *string) *string {
	switch {
	case !truncated:
		return nil
	case aws.ToString(marker) == "":
		return aws.String("(missing)")
	}
	return marker
}

// tagged makes a detail of a call that gives an item's tags.
func tagged[T any](ask func(context.Context, *site, T) (map[string]string, error)) detail[T] {
	return detail[T]{"tags", func(ctx context.Context, s *site, item T, a *inventory.Asset) error {
		tags, err := ask(ctx, s, item)
		if err != nil {
			return err
		}
		a.Tags = read(tags)
		return nil
	}}
}

// read makes tags that were read, and are none, an empty map: nil means unread.
func read(tags map[string]string) map[string]string {
	if tags == nil {
		return map[string]string{}
	}
	return tags
}

// tagsOf makes a map of a service's own list of tags; pair takes one apart.
func tagsOf[T any](list []T, pair func(T) (key, value *string)) map[string]string {
	tags := make(map[string]string, len(list))
	for _, t := range list {
		key, value := pair(t)
		tags[aws.ToString(key)] = aws.ToString(value)
	}
	return tags
}

// notKept stands where a value was that may be a secret: an inventory needs to
// know at most that there is one.
const notKept = "(not kept)"

// hidden keeps the keys of a map.
func hidden(values map[string]string) map[string]string {
	if values == nil {
		return nil
	}
	out := make(map[string]string, len(values))
	for key := range values {
		out[key] = notKept
	}
	return out
}

// hide replaces a value by a note that there was one.
func hide(value **string) {
	if *value != nil {
		*value = aws.String(notKept)
	}
}
