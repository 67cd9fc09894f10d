//go:build race

package scenario

// raced tells that the race detector makes everything ten times as slow.
const raced = true
