package main

import (
	"os"
	"runtime/debug"
)

// memoryAim is what a map asks the garbage collector to keep to. What is alive is a
// page for each task under way and a record for each task, a hundred MiB for a
// million assets in 200 account-regions; the rest of what Go would take is room
// between two collections. The process as a whole stays below 300 MiB.
const memoryAim = 180 << 20

// boundMemory sets that aim, unless the user has set another.
func boundMemory() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryAim)
	}
}
