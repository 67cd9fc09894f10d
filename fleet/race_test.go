//go:build race

package fleet_test

// raced tells that the race detector makes everything ten times as slow.
const raced = true
