package pacegcp

import (
	"errors"
	"strings"
	"time"

	"github.com/googleapis/gax-go/v2/apierror"

	"github.com/cloudpace/cloudpace/verdict"
)

// ListingError says that a listing ended before everything was read. The items before
// it are good (S13.3).
type ListingError struct {
	// PageToken is of the page that did not arrive: a request that has it goes on from
	// there, in another process too, as long as the service knows it (three days for
	// ListAssets). Where no page arrived it is the one that the request had, empty for
	// a listing from the beginning; and it is empty where the service gave a token
	// twice, so that there is nothing to go on from.
	PageToken string
	// RenewedAt is when the quota per day is renewed whose end was the listing's; zero
	// where that was another.
	RenewedAt time.Time
	Err       error
}

// ErrNoEnd is in the error of a listing that would lead round in circles, or nowhere:
// the service gave a page token twice, or page after page without an item.
var ErrNoEnd = errors.New("the listing has no end that could be reached")

// early says that a listing ended with err, before the page of a token.
func early(token string, err error) *ListingError {
	e := &ListingError{PageToken: token, Err: err}
	if verdict.Examine(provider, err).Daily {
		e.RenewedAt = renewal(time.Now())
	}
	return e
}

// Error words Err, and what to do where Google's answer tells it.
func (e *ListingError) Error() string {
	text := "pacegcp: listing ended early"
	if e.Err != nil {
		text = strings.TrimSpace(e.Err.Error())
	}
	if advice := adviceOn(e.Err); advice != "" {
		text += "\n" + advice
	}
	return text
}

// Unwrap gives Err: the provider's error, or cloudpace's with the provider's inside.
func (e *ListingError) Unwrap() error { return e.Err }

// adviceOn tells how the two mistakes of a set-up are mended that Google's details
// name. The project is often another than the one that is read: that of the client.
func adviceOn(err error) string {
	var api *apierror.APIError
	if !errors.As(err, &api) {
		return ""
	}
	project := strings.TrimPrefix(word(api.Metadata()["consumer"]), "projects/")
	switch api.Reason() {
	case "SERVICE_DISABLED":
		if service := word(api.Metadata()["service"]); service != "" && project != "" {
			return "the API is disabled in the project whose quota is used; enable it: gcloud services enable " + service + " --project " + project
		}
	case "USER_PROJECT_DENIED":
		if project != "" {
			return "the caller may not use the quota of project " + project + ": it needs serviceusage.services.use there (roles/serviceusage.serviceUsageConsumer)"
		}
	}
	return ""
}

// word lets only names through that can stand in a command as they are.
func word(s string) string {
	for _, r := range s {
		if !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_.:/", r)) {
			return ""
		}
	}
	return strings.TrimLeft(s, "-")
}
