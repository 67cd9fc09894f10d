package aws

import (
	"context"
	"errors"
	"sync"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

// grouped is an item of a listing and its part of a call that answers for many:
// the tags of 20 load balancers. The first that needs an answer asks for all of
// its batch.
type grouped[T, D any] struct {
	item  T
	key   string
	batch *batch[D]
}

// found gives what the batch's answer says of the item, inventory.ErrGone when
// it says nothing.
func (g grouped[T, D]) found(ctx context.Context, s *site) (D, error) {
	return g.batch.answer(ctx, s, g.key)
}

// asker asks for many items by their keys, and gives what it was told of each.
type asker[D any] func(ctx context.Context, s *site, keys []string) (map[string]D, error)

// groups makes the take of a listing whose items are asked about size at a time.
func groups[O, T, D any](size int, take func(*O) ([]T, *string), key func(T) string, ask asker[D]) func(*O) ([]grouped[T, D], *string) {
	return func(o *O) ([]grouped[T, D], *string) {
		items, next := take(o)
		batches := make([]*batch[D], (len(items)+size-1)/size)
		for i := range batches {
			batches[i] = &batch[D]{ask: ask}
		}
		list := make([]grouped[T, D], len(items))
		for i, item := range items {
			// Neighbours, which are worked on side by side, wait for different batches.
			b := batches[i%len(batches)]
			list[i] = grouped[T, D]{item, key(item), b}
			b.keys = append(b.keys, list[i].key)
		}
		return list, next
	}
}

type batch[D any] struct {
	ask  asker[D]
	keys []string

	mu    sync.Mutex
	asked bool
	found map[string]D
	err   error
	each  map[string]error // where they had to be asked one by one
}

func (b *batch[D]) answer(ctx context.Context, s *site, key string) (D, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.asked {
		b.found, b.err = b.ask(ctx, s, b.keys)
		if b.err != nil && len(b.keys) > 1 && inventory.Gone(Provider, b.err) {
			b.oneByOne(ctx, s)
		}
		b.asked = true
	}
	if err := b.each[key]; err != nil {
		return *new(D), err
	}
	if b.err != nil {
		return *new(D), b.err
	}
	d, ok := b.found[key]
	if !ok {
		return d, inventory.ErrGone
	}
	return d, nil
}

// oneByOne is for services that refuse a question about many because one of them
// is gone: the others are not.
func (b *batch[D]) oneByOne(ctx context.Context, s *site) {
	b.found, b.err, b.each = make(map[string]D), nil, make(map[string]error)
	for _, key := range b.keys {
		found, err := b.ask(ctx, s, []string{key})
		if err != nil {
			b.each[key] = err
			continue
		}
		if d, ok := found[key]; ok {
			b.found[key] = d
		}
	}
}

// batchTags makes the detail that takes tags from a batch.
func batchTags[T any]() detail[grouped[T, map[string]string]] { return tagged(batched[T]) }

// batched gives an item's tags from its batch. What the answer leaves out has
// none: a thing that is gone is an error of its own.
func batched[T any](ctx context.Context, s *site, g grouped[T, map[string]string]) (map[string]string, error) {
	tags, err := g.found(ctx, s)
	if errors.Is(err, inventory.ErrGone) {
		return nil, nil
	}
	return tags, err
}
