package paceazure

import "github.com/cloudpace/cloudpace"

// Option changes what [ClientOptions], [NewGraph] and [GraphFrom] do. Options are
// applied in order, later ones win.
type Option func(*settings)

type settings struct{ governor *cloudpace.Governor }

// WithGovernor makes g govern the calls. Without it, or with nil, that is
// [cloudpace.Default].
func WithGovernor(g *cloudpace.Governor) Option {
	return func(s *settings) { s.governor = g }
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
