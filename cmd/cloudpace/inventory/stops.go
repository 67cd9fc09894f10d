package inventory

import (
	"fmt"
	"time"
)

// The errors below are the inventory's own: each has its reason.

// RepeatedTokenError says that a listing gave a token a second time, so that
// following it would go round in circles.
type RepeatedTokenError struct {
	Pages int // those that arrived
}

// Error tells how far the listing came.
func (e *RepeatedTokenError) Error() string {
	return fmt.Sprintf("the provider repeated a page token after %d page(s), so the listing cannot be followed to its end", e.Pages)
}

func (*RepeatedTokenError) reason() Reason { return Truncated }

// EmptyPagesError says that a listing gave nothing but empty pages for so long that
// it is not followed any further.
type EmptyPagesError struct{ Pages int }

// Error tells how many.
func (e *EmptyPagesError) Error() string {
	return fmt.Sprintf("%d pages, of which the last had little but a token on them: the listing has no end that could be reached", e.Pages)
}

func (*EmptyPagesError) reason() Reason { return Truncated }

// RepeatedAssetsError says that a listing gave the same again and again, under page
// tokens that were new each time.
type RepeatedAssetsError struct{ Assets int }

// Error tells how many.
func (e *RepeatedAssetsError) Error() string {
	return fmt.Sprintf("%d assets in a row had been listed before, so the listing goes round in circles", e.Assets)
}

func (*RepeatedAssetsError) reason() Reason { return Truncated }

// StoppedError says that a task did not come to its end because the run did.
type StoppedError struct{ Cause error }

// Error gives the cause.
func (e *StoppedError) Error() string { return "the run was stopped: " + e.Cause.Error() }

// Unwrap gives the cause.
func (e *StoppedError) Unwrap() error { return e.Cause }

func (*StoppedError) reason() Reason { return Truncated }

// CappedError says that a task has read as many assets as it may.
type CappedError struct {
	Limit int
	Seen  int // at least so many exist
}

// Error names both numbers.
func (e *CappedError) Error() string {
	return fmt.Sprintf("the limit of %d asset(s) a task was reached, of at least %d", e.Limit, e.Seen)
}

func (*CappedError) reason() Reason { return Capped }

// StalledError says that nothing came of a task for so long that it was ended.
type StalledError struct {
	After     time.Duration
	Throttled bool // the provider had asked for less
}

// Error tells how long.
func (e *StalledError) Error() string {
	return fmt.Sprintf("nothing came for %s, so the task was ended", e.After)
}

func (e *StalledError) reason() Reason {
	if e.Throttled {
		return Throttled
	}
	return Unreachable
}

// RegionDisabledError says that the account has not enabled a region, so that
// nothing of it can be read and nothing is in it that could not be before.
type RegionDisabledError struct {
	Region string
	Err    error // what the provider answered; nil when the account itself says so
}

// Error names the region.
func (e *RegionDisabledError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("the account has not enabled region %s", e.Region)
	}
	return fmt.Sprintf("region %s does not accept credentials that are accepted elsewhere, so the account has not enabled it: %s", e.Region, e.Err)
}

// Unwrap gives what the provider answered.
func (e *RegionDisabledError) Unwrap() error { return e.Err }

func (*RegionDisabledError) reason() Reason { return RegionDisabled }
