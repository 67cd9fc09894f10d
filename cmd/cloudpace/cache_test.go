package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/cloudpace/cloudpace/fleet/learned"
)

// Tests keep what they learn neither in the user's cache directory nor in each other's.

// nobodysCache is where a test would keep it that says nothing about it.
var nobodysCache string

// cacheVariable is what the cache directory of a user goes by.
func cacheVariable() string {
	switch runtime.GOOS {
	case "windows":
		return "LocalAppData"
	case "darwin":
		return "HOME"
	}
	return "XDG_CACHE_HOME"
}

// isolateCache takes the user's cache directory out of the tests' reach. What it gives
// cleans up, and finds a test that had none of its own.
func isolateCache() (end func() (code int), err error) {
	if nobodysCache, err = os.MkdirTemp("", "cloudpace-cache-"); err != nil {
		return nil, err
	}
	if err := os.Setenv(cacheVariable(), nobodysCache); err != nil {
		return nil, err
	}
	return func() (code int) {
		path, err := learned.DefaultPath()
		if err == nil {
			if _, err := os.Stat(path); err == nil {
				fmt.Fprintln(os.Stderr, "a test keeps what it learns in a directory that is not its own: see ownCache")
				code = 1
			}
			err = os.RemoveAll(nobodysCache)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
		return code
	}, nil
}

// ownCache gives the test a cache directory of its own, unless it has one, and tells
// which file is kept there.
func ownCache(t testing.TB) (path string) {
	t.Helper()
	if os.Getenv(cacheVariable()) == nobodysCache {
		t.Setenv(cacheVariable(), t.TempDir())
	}
	path, err := learned.DefaultPath()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// keepText puts a file there.
func keepText(t testing.TB, text string) (path string) {
	t.Helper()
	path = ownCache(t)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
