package azure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
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
	err = t.each(ctx, pagesOf[armsubscriptions.ClientListResponse]{client.NewListPager(nil)}, func(i item) error {
		id, _ := i.rest["subscriptionId"].(string)
		name, _ := i.rest["displayName"].(string)
		state, _ := i.rest["state"].(string)
		id, err := subscriptionOf(i, id)
		found[id] = Subscription{ID: id, Name: name, State: state}
		return err
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
	err = t.each(ctx, pagesOf[armmanagementgroups.ClientGetDescendantsResponse]{client.NewGetDescendantsPager(group, nil)}, func(i item) error {
		if !strings.HasSuffix(strings.ToLower(i.Type), "/subscriptions") {
			return nil // a group
		}
		id, err := subscriptionOf(i, i.Name)
		ids = append(ids, id)
		return err
	})
	if err != nil {
		return nil, asking(ctx, "what is in management group "+group, err)
	}
	return ids, nil
}

// subscriptionOf gives the id of a subscription in lower case: as it is told, or the
// end of the path where it is not. Without one there would be nobody to ask.
func subscriptionOf(i item, told string) (string, error) {
	id := strings.ToLower(cmp.Or(told, i.ID[strings.LastIndexByte(i.ID, '/')+1:]))
	if !subscriptionID.MatchString(id) {
		return "", fmt.Errorf("protocol: %q is not a subscription's id", id)
	}
	return id, nil
}

// askRetries bounds how often a question that comes before a run is repeated where
// nobody answers. Whoever starts one wants to hear of that soon; an answer that asks
// for patience gets as much as in a run.
const askRetries = 2

// each reads a list to its end; half a list of subscriptions would be a half map that
// nothing is said about. What comes again does not count, so that a list that goes
// round in circles has empty pages, and ends at some time.
func (t *Tenant) each(ctx context.Context, p pages, do func(item) error) (failed error) {
	retry, unanswered := t.options.Retry, 0
	governed := retry.ShouldRetry
	retry.ShouldRetry = func(response *http.Response, err error) bool {
		if response == nil {
			if unanswered++; unanswered > askRetries {
				return false
			}
		}
		return governed(response, err)
	}
	page := (&site{tenant: t}).page(func(*site) (pages, error) { return p, nil })
	seen := make(map[string]bool)
	err := inventory.Each(policy.WithRetryOptions(ctx, retry), func(ctx context.Context, token string) (news []item, next string, err error) {
		items, next, err := page(ctx, token)
		for _, i := range items {
			if !seen[i.ID] {
				seen[i.ID] = true
				news = append(news, i)
			}
		}
		return news, next, err
	}, func(i item) {
		if failed == nil {
			failed = do(i)
		}
	})
	return cmp.Or(err, failed)
}

// asking words an error of the questions that come before a run.
func asking(ctx context.Context, what string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("azure: asking %s: %s: %w", what, inventory.ReasonOf(Provider, err), err)
}
