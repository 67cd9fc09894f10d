package main

import (
	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/words"
	"github.com/cloudpace/cloudpace/fleet/learned"
)

// remember gives the governor what earlier runs learned, and keeps what it learns until
// the end, which is to be called when the last call is over, and ends the progress too:
// what hinders the keeping is a warning among the rest that it says.
func remember(g *cloudpace.Governor, fresh bool, show *progress) (end func()) {
	k := learned.Keep(g, learned.Options{
		Fresh: fresh,
		Warn:  func(err error) { show.note([]string{warning(unlearned(err))}) },
	})
	return func() {
		k.Close()
		show.stop()
	}
}

// unlearned words what keeps a run from remembering.
func unlearned(err error) string { return "what earlier runs learned: " + words.Short(err.Error()) }
