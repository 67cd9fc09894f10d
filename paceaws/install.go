package paceaws

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go/middleware"

	"github.com/cloudpace/cloudpace"
)

// Install puts every client made from cfg afterwards under a governor, with its
// paginators, its waiters and what is built on it, such as the transfer manager.
// Clients made before are not touched.
//
// Installing again with the same arguments changes nothing. With another account
// or governor it replaces what was installed, so a copy of a base config that
// assumes a role can be given its own account. Copies of a config share nothing
// that Install writes to.
//
// It sets cfg.APIOptions and cfg.Retryer, and cfg.RetryMaxAttempts where the
// config has neither a Retryer nor a number of attempts: aws.max_retries + 1. A
// Retryer that the config already has stays, wrapped, with its own limits.
//
// It returns an error, and leaves cfg as it was, when cfg is nil or the
// governor's aws.retry_mode or aws.max_retries cannot be used. Install must not
// run at the same time as anything else that uses the same cfg; the clients made
// from it are as safe for concurrent use as they were.
func Install(cfg *aws.Config, opts ...Option) error {
	if cfg == nil {
		return errors.New("cloudpace: paceaws: no aws.Config to install into (nil)")
	}
	s := newSettings(opts)
	conf := s.governor.Config()
	if err := check(conf.AWS); err != nil {
		return err
	}

	// What the config had before us. With an earlier installation in it, that is
	// what that one found.
	at, old := find(cfg.APIOptions)
	own := origin{retryer: cfg.Retryer, mode: cfg.RetryMode, maxAttempts: cfg.RetryMaxAttempts}
	ours, wrapped := ourRetryer(cfg.Retryer)
	if wrapped {
		own.retryer = ours.origin.retryer
	}
	for _, earlier := range []*installation{old, ours} {
		if earlier != nil && earlier.setAttempts != 0 && earlier.setAttempts == cfg.RetryMaxAttempts {
			own.maxAttempts = 0
		}
	}
	attempts := 0
	if own.retryer == nil && own.maxAttempts == 0 && enabled(conf) {
		attempts = conf.AWS.MaxRetries + 1
	}
	if old != nil && wrapped && old == ours && old.settings == s && old.setAttempts == attempts {
		return nil
	}

	in := &installation{settings: s, origin: own, setAttempts: attempts}
	// A new slice each time: copies of a config share the old one's memory.
	options := slices.Clone(cfg.APIOptions)
	if old != nil {
		options[at] = in.hook
	} else {
		options = append(options, in.hook)
	}
	cfg.APIOptions = options
	cfg.Retryer = in.newRetryer
	cfg.RetryMaxAttempts = own.maxAttempts
	if attempts != 0 {
		cfg.RetryMaxAttempts = attempts
	}
	if in.adaptive(conf) {
		warnAdaptive(s)
	}
	return nil
}

// installation is one Install: what its hooks and retryers share. It is not
// changed once it is in a config.
type installation struct {
	settings
	origin      origin
	setAttempts int // what cfg.RetryMaxAttempts was set to, 0: it was not
}

// origin is how a config wanted its calls retried before Install.
type origin struct {
	retryer     func() aws.Retryer
	mode        aws.RetryMode
	maxAttempts int
}

func check(c cloudpace.AWSConfig) error {
	if c.RetryMode != "" {
		if _, err := aws.ParseRetryMode(c.RetryMode); err != nil {
			return fmt.Errorf("cloudpace: aws.retry_mode: %q is neither standard nor adaptive", c.RetryMode)
		}
	}
	if c.MaxRetries < 0 {
		return fmt.Errorf("cloudpace: aws.max_retries: %d is below 0", c.MaxRetries)
	}
	return nil
}

// enabled tells whether calls are governed at all (S9.3).
func enabled(c cloudpace.Config) bool {
	return c.Enabled && c.Provider(provider).Enabled
}

// find looks for our option among a config's and gives the installation it
// belongs to. Functions cannot be compared, but a method's value has one entry
// point wherever it is made, so ours is known by that, and only ours is then
// asked for its receiver.
func find(options []func(*middleware.Stack) error) (int, *installation) {
	for i, option := range options {
		if option == nil || reflect.ValueOf(option).Pointer() != hookEntry {
			continue
		}
		stack := middleware.NewStack(askID, func() any { return nil })
		if option(stack) != nil {
			continue
		}
		if m, ok := stack.Initialize.Get(askID); ok {
			if a, ok := m.(*introduction); ok {
				return i, a.installation
			}
		}
	}
	return -1, nil
}

var hookEntry = reflect.ValueOf((&installation{}).hook).Pointer()

// askID is the name of a stack that asks which installation a hook belongs to.
const askID = "cloudpace:ask"

// introduction is what such a stack gets: a middleware that is never run.
type introduction struct {
	middleware.InitializeMiddleware
	installation *installation
}

func (*introduction) ID() string { return askID }

var _ middleware.InitializeMiddleware = (*introduction)(nil)

// ourRetryer tells which installation a config's Retryer belongs to. The factory
// itself cannot be compared; making one retryer and throwing it away does no
// harm, and clients do it all the time.
func ourRetryer(factory func() aws.Retryer) (*installation, bool) {
	if factory == nil || reflect.ValueOf(factory).Pointer() != factoryEntry {
		return nil, false
	}
	r, ok := factory().(*retryer)
	if !ok {
		return nil, false
	}
	return r.installation, true
}

var factoryEntry = reflect.ValueOf((&installation{}).newRetryer).Pointer()

// adaptive tells whether the SDK will pace a second time.
func (in *installation) adaptive(conf cloudpace.Config) bool {
	if in.origin.retryer != nil {
		_, ok := in.origin.retryer().(*retry.AdaptiveMode)
		return ok
	}
	return in.mode(conf.AWS) == aws.RetryModeAdaptive
}

// mode is the SDK's retry mode: adaptive when either side asked for it.
func (in *installation) mode(c cloudpace.AWSConfig) aws.RetryMode {
	if in.origin.mode == aws.RetryModeAdaptive || c.RetryMode == string(aws.RetryModeAdaptive) {
		return aws.RetryModeAdaptive
	}
	return aws.RetryModeStandard
}
