package redisstore_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if store := os.Getenv(processStore); store != "" {
		fmt.Fprintln(os.Stderr, "a process of the fleet ends:", process(store, os.Getenv(processCloud)))
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}
