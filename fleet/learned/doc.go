// Package learned keeps what a governor has learned from one run to the next: rates
// that throttles have lowered, spent tokens, pauses, open circuits, used-up quotas and
// retry budgets. A run that starts where another was refused a minute ago then does not
// begin at full speed.
//
//	keeper := learned.Keep(governor, learned.Options{})
//	defer keeper.Close()
//
// It is a file in the user's cache directory, read once and aged (see
// [cloudpace.Governor.Restore]), and written every few seconds and at the end. A process
// that is killed loses at most that much.
//
// Several processes may keep the same file. A write takes a lock, joins what is there
// with what this process knows, of each bucket the later throttle and the later end of a
// pause counting, and replaces the file as a whole, so that nobody ever reads a part of
// one. Entries of which time
// has left nothing are dropped.
//
// The file is a help and never a condition: where it cannot be read or written the
// governor works as it does without, and one warning says so. It holds scopes, numbers
// and the texts of errors with secrets removed, and only its owner may read it.
package learned
