package paceaws

import (
	"log/slog"

	"github.com/cloudpace/cloudpace"
)

// Option changes what [Install] does. Options are applied in order, later ones
// win.
type Option func(*settings)

// settings are the arguments of Install. Two installations with equal settings
// are the same one.
type settings struct {
	governor *cloudpace.Governor
	account  string
	log      *slog.Logger
}

// Account names the account whose calls the config makes, by its id of twelve
// digits. Without it, or with "" or "*", the calls belong to account "*": use
// that for a base config whose account is not known yet, and install again with
// the account on every copy that assumes a role.
func Account(id string) Option {
	return func(s *settings) {
		if id == "*" {
			id = ""
		}
		s.account = id
	}
}

// WithGovernor makes g govern the calls. Without it, or with nil, that is
// [cloudpace.Default].
func WithGovernor(g *cloudpace.Governor) Option {
	return func(s *settings) { s.governor = g }
}

// WithLogger sets where the wiring's own messages go: one warning about the
// SDK's adaptive retry mode, and at debug level calls that could not be hooked.
// Without it, or with nil, that is [slog.Default] at the time of the message.
func WithLogger(log *slog.Logger) Option {
	return func(s *settings) { s.log = log }
}

func newSettings(opts []Option) settings {
	var s settings
	for _, opt := range opts {
		if opt != nil {
			opt(&s)
		}
	}
	if s.governor == nil {
		s.governor = cloudpace.Default()
	}
	return s
}

func (s settings) logger() *slog.Logger {
	if s.log != nil {
		return s.log
	}
	return slog.Default()
}
