package azure

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/managementgroups/armmanagementgroups"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armsubscriptions"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

// readable are the states in which a subscription's things can be read.
var readable = []string{"Enabled", "Warned", "PastDue"}

// discover finds the subscriptions: all that the credentials see, those of a
// management group, or those that were named. One that is not there or not enabled
// stays in the list, with the reason.
func (t *Tenant) discover(ctx context.Context, o Options) ([]Subscription, error) {
	seen, err := t.seen(ctx)
	if err != nil {
		return nil, err
	}
	ids := o.Subscriptions
	switch {
	case o.ManagementGroup != "":
		if ids, err = t.descendants(ctx, o.ManagementGroup); err != nil {
			return nil, err
		}
		if len(ids) == 0 {
			return nil, fmt.Errorf("azure: management group %s has no subscriptions, or the caller's roles show none", o.ManagementGroup)
		}
	case len(ids) == 0:
		for id := range seen {
			ids = append(ids, id)
		}
		if len(ids) == 0 {
			return nil, errors.New("azure: these credentials see no subscription; give them a role, such as Reader, on one")
		}
	}
	var list []Subscription
	for _, id := range ids {
		id = strings.ToLower(id)
		s, ok := seen[id]
		switch {
		case !ok:
			s = Subscription{ID: id, Err: &inventory.UnknownAccountError{Account: id}}
		case s.State != "" && !slices.Contains(readable, s.State):
			s.Err = &inventory.AccountDisabledError{Account: id, State: s.State}
		}
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b Subscription) int { return strings.Compare(a.ID, b.ID) })
	return slices.CompactFunc(list, func(a, b Subscription) bool { return a.ID == b.ID }), nil
}

// seen lists the subscriptions that the credentials see, by id in lower case.
func (t *Tenant) seen(ctx context.Context) (map[string]Subscription, error) {
	client, err := armsubscriptions.NewClient(t.credential, t.options)
	if err != nil {
		return nil, fmt.Errorf("azure: %w", err)
	}
	found := make(map[string]Subscription)
	err = t.each(ctx, pagesOf[armsubscriptions.ClientListResponse]{client.NewListPager(nil)}, func(i item) {
		id, _ := i.rest["subscriptionId"].(string)
		name, _ := i.rest["displayName"].(string)
		state, _ := i.rest["state"].(string)
		found[strings.ToLower(id)] = Subscription{ID: strings.ToLower(id), Name: name, State: state}
	})
	if err != nil {
		return nil, asking(ctx, "which subscriptions there are", err)
	}
	return found, nil
}

// descendants lists the ids of the subscriptions in a management group and below.
func (t *Tenant) descendants(ctx context.Context, group string) (ids []string, err error) {
	client, err := armmanagementgroups.NewClient(t.credential, t.options)
	if err != nil {
		return nil, fmt.Errorf("azure: %w", err)
	}
	err = t.each(ctx, pagesOf[armmanagementgroups.ClientGetDescendantsResponse]{client.NewGetDescendantsPager(group, nil)}, func(i item) {
		if strings.HasSuffix(strings.ToLower(i.Type), "/subscriptions") {
			ids = append(ids, i.Name)
		}
	})
	if err != nil {
		return nil, asking(ctx, "what is in management group "+group, err)
	}
	return ids, nil
}

// each reads a list to its end; half a list of subscriptions would be a half map that
// nothing is said about.
func (t *Tenant) each(ctx context.Context, p pages, do func(item)) error {
	page := (&site{tenant: t}).page(func(*site) (pages, error) { return p, nil })
	seen := make(map[string]bool)
	for token := ""; ; {
		items, next, err := page(ctx, token)
		if err != nil {
			return err
		}
		for _, i := range items {
			do(i)
		}
		switch {
		case next == "":
			return nil
		case seen[next]:
			return &inventory.RepeatedTokenError{Pages: len(seen) + 1}
		}
		seen[next] = true
		token = next
	}
}

// asking words an error of the questions that come before a run.
func asking(ctx context.Context, what string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("azure: asking %s: %s: %w", what, inventory.ReasonOf(Provider, err), err)
}
