package main

import (
	"cmp"
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// cloud is a provider as map needs it: what it is called, what can be read there,
// and what opens it. Each is made for one command line, whose flags it holds.
type cloud struct {
	provider string // as in scopes and records: "azure"
	title    string // as people write it: "Azure"
	kinds    []inventory.Kind
	// selected gives those of them that a run reads of the ones that are wanted. nil:
	// all of these.
	selected func(wanted func(inventory.Kind) bool) []inventory.Kind

	flags func(*cobra.Command) // adds those that are this provider's own
	own   []string             // their names
	asked bool                 // by -p, or by one of its own flags
	// check finds what is wrong with its flags, without asking anybody.
	check func() error
	// absent says why there seem to be no credentials, nil where there are some. It
	// looks and asks nobody. nil: only opening it can tell.
	absent func() error
	// lacks tells whether an error of opening says that there are no credentials, and
	// refused whether it says that there are some, which are of no use.
	lacks, refused func(error) bool

	sources func(*cloudpace.Governor) []source
	demo    demonstration
}

// source is what one set of credentials opens.
type source struct {
	asking string // what is found out on the way
	open   func(context.Context) (opened, error)
}

// opened is what can be read there.
type opened struct {
	accounts []inventory.Account
	tasks    func(wanted func(inventory.Kind) bool) []inventory.Task
	close    func() // once the tasks are over; nil where nothing is kept open
}

// demonstration is a provider's part of the demo.
type demonstration struct {
	front   func() sim.Front
	haste   float64 // its speed by demoSpeed; 0 is 1
	profile func(speed float64) sim.Profile
	// what words what is simulated: "an organization of 3 accounts …".
	what func(*sim.Estate) string
	// patience bounds the waits that do not get shorter with the quotas.
	patience func(*cloudpace.Config)
	sources  func(*demo, *cloudpace.Governor) []source
}

// speed is how many times as fast as documented its quotas refill.
func (d demonstration) speed() float64 { return demoSpeed * cmp.Or(d.haste, 1) }

// clouds are those that can be mapped.
func clouds() []*cloud { return []*cloud{awsCloud(), azureCloud(), gcpCloud()} }

// addFlags gives the command the provider's flags, and remembers which these are.
func (c *cloud) addFlags(command *cobra.Command) {
	known := make(map[string]bool)
	for _, f := range collect(command.Flags().VisitAll) {
		known[f.Name] = true
	}
	c.flags(command)
	for _, f := range collect(command.Flags().VisitAll) {
		if !known[f.Name] {
			c.own = append(c.own, f.Name)
		}
	}
}

// named gives the first of its own flags that was given.
func (c *cloud) named(changed func(string) bool) (flag string, ok bool) {
	for _, name := range c.own {
		if changed(name) {
			return name, true
		}
	}
	return "", false
}

// providerNames lists what -p takes.
func providerNames(list []*cloud) (names []string) {
	for _, c := range list {
		names = append(names, c.provider)
	}
	return names
}

// kindsOf are the kinds of all of them.
func kindsOf(list []*cloud) (kinds []inventory.Kind) {
	for _, c := range list {
		kinds = append(kinds, c.kinds...)
	}
	return kinds
}

// is tells whether there is an error of a type in another.
func is[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}
