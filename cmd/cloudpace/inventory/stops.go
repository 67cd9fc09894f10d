package inventory

import (
	"errors"
	"fmt"
	"time"

	"github.com/cloudpace/cloudpace/verdict"
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

// AccountDisabledError says that an account, or subscription, is not enabled, so that
// it was not asked.
type AccountDisabledError struct {
	Account string
	State   string // as the provider calls it
}

// Error names the account and its state.
func (e *AccountDisabledError) Error() string {
	return fmt.Sprintf("%s is not enabled: the provider says %q of it", e.Account, e.State)
}

func (*AccountDisabledError) reason() Reason { return APIDisabled }

// UnknownAccountError says that an account that was asked for is none of those that
// the credentials see.
type UnknownAccountError struct{ Account string }

// Error names the account.
func (e *UnknownAccountError) Error() string {
	return fmt.Sprintf("%s does not exist, or the credentials may not see it", e.Account)
}

func (*UnknownAccountError) reason() Reason { return AccessDenied }

// UnseenError says that there seems to be nothing where the provider leaves out of
// lists what the caller may not read: that is unknown, and not empty.
type UnseenError struct{ What string }

// Error says of what there is nothing.
func (e *UnseenError) Error() string {
	return fmt.Sprintf("no %s: there may be none, or the caller's roles do not show them", e.What)
}

func (*UnseenError) reason() Reason { return AccessDenied }

// TruncatedError says that the provider ended an answer before its end.
type TruncatedError struct{ Err error }

// Error gives what is missing, as far as it is known.
func (e *TruncatedError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *TruncatedError) Unwrap() error { return e.Err }

func (*TruncatedError) reason() Reason { return Truncated }

// RenewedError says that a quota is used up, and when it is renewed.
type RenewedError struct {
	At  time.Time
	Err error // what the provider answered
}

// Error gives the answer and the time.
func (e *RenewedError) Error() string {
	return fmt.Sprintf("%s (renewed at %s)", e.Err, e.At.UTC().Format(time.RFC3339))
}

// Unwrap gives what the provider answered.
func (e *RenewedError) Unwrap() error { return e.Err }

func (*RenewedError) reason() Reason { return QuotaExhausted }

// EitherWayError says that another way to the same would meet this, too; see [Task].
type EitherWayError struct{ Err error }

// Error gives the cause.
func (e *EitherWayError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *EitherWayError) Unwrap() error { return e.Err }

// eitherWay tells what another way would meet, too: who has no token has none for that.
func eitherWay(err error) bool {
	var login *LoginError
	var same *EitherWayError
	return errors.As(err, &login) || errors.As(err, &same)
}

// LoginError says that no token was to be had for a call.
type LoginError struct {
	Err error
	Why Reason // where Err does not show it
}

// Error gives what the source of tokens said.
func (e *LoginError) Error() string { return "login: " + e.Err.Error() }

// Unwrap gives the cause.
func (e *LoginError) Unwrap() error { return e.Err }

// reason: a login that could not be asked, or asks for less, says nothing about the
// credentials.
func (e *LoginError) reason() Reason {
	if e.Why != "" {
		return e.Why
	}
	switch r := verdict.Examine("", e.Err); {
	case r.Kind == verdict.Throttled:
		return Throttled
	case r.Kind == verdict.Transient || r.Network:
		return Unreachable
	case byPolicy(e.Err):
		return DeniedByPolicy
	}
	return CredentialsExpired
}

// nobody tells whether a failure means that there was nobody to ask.
func nobody(why Reason, err error) bool {
	var disabled *AccountDisabledError
	return why == RegionDisabled || why == ServiceNotInRegion || errors.As(err, &disabled)
}
