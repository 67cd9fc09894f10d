// Package plan tells how long a run takes before there is one. It begins its tasks in the
// order in which a run does, as many side by side, and lets each of their calls pass the
// governor's own buckets and slots, in a time of its own: nothing is sent and nobody
// waits.
//
// What it knows of the provider is the limits: these it takes for granted, so that
// nothing is throttled, and every answer takes the same time.
package plan
