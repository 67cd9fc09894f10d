package redisstore

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"
)

// Reason says what kind of trouble there is with Redis.
type Reason string

// The reasons of an [Error].
const (
	BadURL      Reason = "the URL cannot be used"
	Unreachable Reason = "it cannot be reached"
	Timeout     Reason = "no answer in time"
	Untrusted   Reason = "its TLS certificate is not trusted"
	Refused     Reason = "user name or password are wrong or missing"
	Forbidden   Reason = "the user may not do what is needed"
	NoDatabase  Reason = "there is no such database"
	TooOld      Reason = "it is too old: version 6.2 or later is needed"
	ReadOnly    Reason = "it is a replica, which can only be read"
	Full        Reason = "its memory is full"
	NotOurs     Reason = "a key is taken by something else"
	Other       Reason = "it failed"
)

// Error is trouble with Redis. It never holds a password.
type Error struct {
	Reason Reason
	Server string // where, as in a URL
	Key    string // with NotOurs: which
	Err    error  // what Redis or the network said; may be nil
}

// Error says where, what and why.
func (e *Error) Error() string {
	s := "redis"
	if e.Server != "" {
		s += " at " + e.Server
	}
	s += ": " + string(e.Reason)
	if e.Key != "" {
		s += fmt.Sprintf(": %q", e.Key)
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap gives what Redis or the network said.
func (e *Error) Unwrap() error { return e.Err }

// fault makes an Error of what the client reports. What the caller's own context says is
// left as it is.
func (s *Store) fault(ctx context.Context, key string, err error) error {
	e := &Error{Reason: reason(err), Server: s.server, Err: err}
	if errors.Is(err, context.Canceled) || e.Reason == Timeout {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		// A connection may be cut at the deadline before the context says so.
		if end, ok := ctx.Deadline(); ok && !time.Now().Before(end) {
			return context.DeadlineExceeded
		}
	}
	if e.Reason == NotOurs {
		e.Key = key
	}
	return e
}

// reason tells from the code at the beginning of an answer, or further on where an older
// server says first which script it was.
func reason(err error) Reason {
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	var verify *tls.CertificateVerificationError
	var network net.Error
	text := err.Error()
	has := func(codes ...string) bool {
		for _, code := range codes {
			if strings.Contains(text, code) {
				return true
			}
		}
		return false
	}
	switch {
	case errors.As(err, &unknown), errors.As(err, &host), errors.As(err, &invalid), errors.As(err, &verify):
		return Untrusted
	case has("WRONGTYPE", "FOREIGN"):
		return NotOurs
	case has("READONLY"):
		return ReadOnly
	case has("OOM "):
		return Full
	case has("NOPERM"):
		return Forbidden
	case has("WRONGPASS", "NOAUTH", "invalid password", "without any password configured"):
		return Refused
	case has("DB index is out of range", "invalid DB index", "SELECT is not allowed in cluster mode"):
		return NoDatabase
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return Timeout
	case errors.As(err, &network), has("EOF", "connection pool timeout", "connection refused", "all sentinels"):
		return Unreachable
	}
	return Other
}

// one tells whether an error is about one key alone.
func one(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Reason == NotOurs
}
