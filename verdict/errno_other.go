//go:build !unix && !windows

package verdict

// errnoCause knows no errnos here (Plan 9, js, WASI); the frames that package net
// puts around them are read all the same.
func errnoCause(error) (cause, bool) { return cause{}, false }
