package paceaws

import (
	"sync"
	"weak"

	"github.com/cloudpace/cloudpace"
)

// warned has the governors whose users were told about adaptive mode: one line
// for a run, however many accounts its configs are made for. It holds no
// governor alive.
var warned struct {
	sync.Mutex
	by map[weak.Pointer[cloudpace.Governor]]bool
}

// warnAdaptive says once per governor that the SDK's adaptive mode is on.
func warnAdaptive(s settings) {
	warned.Lock()
	defer warned.Unlock()
	p := weak.Make(s.governor)
	if warned.by[p] {
		return
	}
	if warned.by == nil {
		warned.by = make(map[weak.Pointer[cloudpace.Governor]]bool)
	}
	for other := range warned.by {
		if other.Value() == nil {
			delete(warned.by, other)
		}
	}
	warned.by[p] = true
	s.logger().Warn("aws retry mode is adaptive: the SDK paces calls a second time, per client, besides the governor",
		"setting", "aws.retry_mode", "better", "standard")
}
