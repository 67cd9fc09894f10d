package pacegcp

import (
	"context"
	"fmt"
	"hash/maphash"
	"iter"
	"time"

	"github.com/googleapis/gax-go/v2"

	"github.com/cloudpace/cloudpace"
)

// pages is what a listing is made of.
type pages[T any] struct {
	operation string // the RPC
	account   string // what is read
	token     string // of the page to begin with

	// fetch sends one page request, once.
	fetch func(ctx context.Context, token string, opts ...gax.CallOption) (items []*T, next string, err error)
	// detached tells that the client drops the context it is given.
	detached bool
}

// mostBarren is how many pages without items are read for the sake of their tokens. An
// empty page is no end (D13), but a service that gives nothing else has none.
const mostBarren = 100

// all gives the items of all pages: one breaker check, one slot, and for each page
// request a token and a counted call (S13.1).
func (p *pages[T]) all(ctx context.Context, opts []Option) iter.Seq2[*T, error] {
	w := newWiring(opts)
	return func(yield func(*T, error) bool) {
		l := &listing[T]{pages: p, wiring: w, token: p.token}
		more, err := l.run(ctx, yield)
		if err != nil && more {
			yield(nil, early(l.token, err))
		}
	}
}

// listing is one reading of all pages.
type listing[T any] struct {
	*pages[T]
	*wiring
	repeater
	token string // of the page that is asked for, to go on from

	seed   maphash.Seed
	seen   map[uint64]struct{} // tokens that were asked for
	barren int                 // pages in a row that had a token and no items
}

// run yields the items. more is false when the caller wants nothing further.
func (l *listing[T]) run(ctx context.Context, yield func(*T, error) bool) (more bool, err error) {
	l.scope = cloudpace.Scope{Provider: provider, Account: l.account, Service: "cloudasset", Operation: l.operation}
	quotaProject := l.quotaProject
	if named := namedIn(ctx); named != "" {
		quotaProject = named
	}
	l.settings = l.governor.Provider(provider)
	l.begin(ctx, time.Now())
	call, err := l.governor.Begin(ctx, l.scope, cloudpace.HoldSlot(), cloudpace.AskCircuitOnce(),
		cloudpace.FreeTransientRetries(), cloudpace.Until(l.deadline), charged(l.scope, quotaProject))
	if err != nil {
		return true, err
	}
	defer call.Drop()
	l.call = call
	l.seed, l.seen = maphash.MakeSeed(), map[uint64]struct{}{}
	for {
		items, next, end := l.page(ctx)
		if end != nil {
			call.End(end.end)
			return true, end.give
		}
		for _, item := range items {
			if !yield(item, nil) {
				call.End(nil)
				return false, nil
			}
		}
		if next == "" {
			call.End(nil)
			return true, nil
		}
		if err := l.follow(next, len(items)); err != nil {
			call.End(nil) // the service answered all that it was asked
			return true, err
		}
		l.begin(ctx, time.Now())
		call.Until(l.deadline)
		if err := call.Next(ctx); err != nil {
			call.End(err)
			return true, err
		}
	}
}

// follow goes on to the next page, unless that leads nowhere.
func (l *listing[T]) follow(next string, items int) error {
	l.seen[maphash.String(l.seed, l.token)] = struct{}{}
	l.token = next
	if _, again := l.seen[maphash.String(l.seed, next)]; again {
		l.token = ""
		return fmt.Errorf("pacegcp: %s: the service gave the same page token twice: %w", l.scope, ErrNoEnd)
	}
	if items > 0 {
		l.barren = 0
		return nil
	}
	if l.barren++; l.barren == mostBarren {
		return fmt.Errorf("pacegcp: %s: %d pages in a row had a token and no items: %w", l.scope, mostBarren, ErrNoEnd)
	}
	return nil
}

// page asks for one page until it arrives, or until it is not to be asked for again.
func (l *listing[T]) page(ctx context.Context) (items []*T, next string, end *stop) {
	if !l.call.Governed() {
		items, next, err := l.fetch(l.call.Context(), l.token)
		if err != nil {
			return nil, "", &stop{err, err}
		}
		return items, next, nil
	}
	for {
		items, next, err := l.attempt()
		if err == nil {
			l.call.Succeeded()
			return items, next, nil
		}
		if end := l.again(ctx, err, true, nil); end != nil {
			bar(l.call, err)
			return nil, "", end
		}
	}
}

// attempt sends one page request: once, whatever the client's own retries are, and cut
// where it hangs.
func (l *listing[T]) attempt() (items []*T, next string, err error) {
	got := &received{}
	ctx, cancel := context.WithCancelCause(l.call.Context())
	defer cancel(nil)
	if long := patience(ctx); long > 0 {
		defer time.AfterFunc(long, func() { cancel(errHung) }).Stop()
	}
	leave := &admission{governor: l.governor, operation: l.operation}
	ctx = leave.within(ctx)
	if l.detached {
		defer leave.carry(&ctx)()
	}
	l.sent = time.Now()
	token := l.token // a fetch that is left behind must not look at the next one
	fetch := func() ([]*T, string, error) { return l.pages.fetch(ctx, token, once{got}) }
	if l.detached {
		items, next, err = abandon(ctx, fetch)
	} else {
		items, next, err = fetch()
	}
	switch {
	case err == nil:
		return items, next, nil
	case context.Cause(ctx) == errHung: //nolint:errorlint // it is this very value
		return nil, "", hung()
	}
	return nil, "", got.failure(err)
}

// once is the gax.CallOption of an attempt: gax neither repeats it nor sets it a
// deadline, of which the server would be told, and gRPC tells what came back beside an
// error.
type once struct{ got *received }

var _ gax.CallOption = once{}

// Resolve adds to the options of the client, and does not replace them.
func (o once) Resolve(s *gax.CallSettings) {
	s.Retry = nil
	gax.WithTimeout(0).Resolve(s)
	s.GRPC = append(s.GRPC[:len(s.GRPC):len(s.GRPC)], o.got.options()...)
}

// abandon leaves a fetch behind that does not heed its context, as those of the SDK's
// REST clients: it ends by itself, whenever its connection does.
func abandon[T any](ctx context.Context, fetch func() ([]*T, string, error)) ([]*T, string, error) {
	type page struct {
		items []*T
		next  string
		err   error
	}
	arrived := make(chan page, 1)
	go func() {
		items, next, err := fetch()
		arrived <- page{items, next, err}
	}()
	select {
	case p := <-arrived:
		return p.items, p.next, p.err
	case <-ctx.Done():
		return nil, "", ctx.Err()
	}
}
