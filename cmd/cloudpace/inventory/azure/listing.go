package azure

import (
	"context"
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

// reader is what a row does in a subscription.
type reader func(context.Context, *site, *inventory.Output) error

// pages are those of a list, as a module follows them. What it makes of them is not
// looked at: the answer itself is, see [asked].
type pages interface {
	next(context.Context) error
	more() bool
}

type pagesOf[R any] struct{ *runtime.Pager[R] }

func (p pagesOf[R]) next(ctx context.Context) error { _, err := p.NextPage(ctx); return err }
func (p pagesOf[R]) more() bool                     { return p.More() }

// source begins a list in a subscription.
type source func(*site) (pages, error)

// maker is how modules make a client of a subscription.
type maker[C any] func(subscription string, cred azcore.TokenCredential, options *arm.ClientOptions) (*C, error)

func (m maker[C]) in(s *site) (*C, error) {
	return m(s.subscription, s.tenant.credential, s.tenant.options)
}

// all is a list of a whole subscription: what makes the client, and its method.
func all[C, O, R any](create maker[C], list func(*C, *O) *runtime.Pager[R], options ...*O) source {
	return func(s *site) (pages, error) {
		c, err := create.in(s)
		if err != nil {
			return nil, err
		}
		return pagesOf[R]{list(c, chosen(options))}, nil
	}
}

// chosen is nil where no options were given, which modules take for none.
func chosen[O any](options []*O) *O {
	if len(options) == 0 {
		return nil
	}
	return options[0]
}

// taker makes of an item those that are listed: itself, its parts, or nothing.
type taker func(*inventory.Output, item) []item

// list reads a list, and lists what take, if given, makes of its items.
func list(from source, take ...taker) reader {
	return func(ctx context.Context, s *site, out *inventory.Output) error {
		page := s.page(from)
		return inventory.Walk(ctx, out, func(ctx context.Context, token string) ([]item, string, error) {
			items, next, err := page(ctx, token)
			for _, t := range take {
				var found []item
				for _, i := range items {
					found = append(found, t(out, i)...)
				}
				items = found
			}
			return items, next, err
		}, s.asset)
	}
}

// page follows a list. A module's pager ends at its first error and at the last page
// that the module knows of, and it goes where the link leads; where the service says
// that there is more, that is read too (C19), and at the address that is asked.
func (s *site) page(from source) inventory.Page[item] {
	var p pages
	return func(ctx context.Context, token string) ([]item, string, error) {
		if token == "" {
			var err error
			if p, err = from(s); err != nil {
				return nil, "", err
			}
		} else {
			link, err := s.tenant.leads(token)
			if err != nil {
				return nil, "", err
			}
			if link != token || !p.more() {
				p = s.tenant.follow(link)
			}
		}
		return asked(ctx, p)
	}
}

// under is a list that is asked for under each item of another one, by the item's
// resource group and name.
func under[C, O, R any](parents source, create maker[C], list func(c *C, group, name string, options *O) *runtime.Pager[R]) reader {
	return beneath(parents, func(s *site, parent item) (pages, error) {
		c, err := create.in(s)
		if err != nil {
			return nil, err
		}
		id, err := arm.ParseResourceID(parent.ID)
		if err != nil || id.ResourceGroupName == "" {
			return nil, fmt.Errorf("protocol: %q is not the id of something in a resource group", parent.ID)
		}
		return pagesOf[R]{list(c, id.ResourceGroupName, id.Name, nil)}, nil
	})
}

// inGroups is a list that the API has for resource groups alone: one call for each.
func inGroups[C, O, R any](create maker[C], list func(c *C, group string, options *O) *runtime.Pager[R]) reader {
	return beneath(resourceGroups, func(s *site, group item) (pages, error) {
		c, err := create.in(s)
		if err != nil {
			return nil, err
		}
		if group.Name == "" {
			return nil, errors.New("protocol: a resource group without a name")
		}
		return pagesOf[R]{list(c, group.Name, nil)}, nil
	})
}

// beneath reads the lists under the items of another one.
func beneath(parents source, child func(*site, item) (pages, error)) reader {
	return func(ctx context.Context, s *site, out *inventory.Output) error {
		return inventory.WalkUnder(ctx, out, s.page(parents), func(parent item) inventory.Sub[item] {
			page := s.page(func(s *site) (pages, error) { return child(s, parent) })
			return inventory.Sub[item]{Name: "what is under " + parent.ID, Page: func(ctx context.Context, token string) ([]item, string, error) {
				items, next, err := page(ctx, token)
				for i := range items {
					// What has no place of its own is where its parent is.
					items[i].inherit(parent)
				}
				return items, next, err
			}}
		}, s.asset)
	}
}
