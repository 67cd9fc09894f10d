package pacers

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/alibaba/sentinel-golang/api"
	"github.com/alibaba/sentinel-golang/core/flow"
	"github.com/alibaba/sentinel-golang/logging"

	"github.com/cloudpace/cloudpace/bench/macro"
	"github.com/cloudpace/cloudpace/internal/scenario"
)

// resources numbers sentinel's resources: its rules are global, and each run needs its
// own.
var resources atomic.Int64

// Sentinel is a flow rule of sentinel-golang that has calls wait in a queue, which knows
// no burst, in a loop that repeats. Sentinel is not initialized, which is what would
// write log files to the home directory; its rules do not need it. It reads time.Now
// and sleeps with time.Sleep, and so runs in virtual time.
func Sentinel(s scenario.Scenario, server *macro.Server) (macro.Client, error) {
	logging.ResetGlobalLoggerLevel(logging.ErrorLevel)
	resource := fmt.Sprintf("scenario-%d", resources.Add(1))
	if _, err := flow.LoadRulesOfResource(resource, []*flow.Rule{{
		Resource:               resource,
		TokenCalculateStrategy: flow.Direct,
		ControlBehavior:        flow.Throttling,
		Threshold:              s.Client.Rate,
		StatIntervalInMs:       1000,
		MaxQueueingTimeMs:      3_600_000,
	}}); err != nil {
		return nil, err
	}
	return repeating(func(context.Context) error {
		entry, blocked := api.Entry(resource)
		if blocked != nil {
			return blocked
		}
		defer entry.Exit()
		err := answer(server)
		api.TraceError(entry, err)
		return err
	}), nil
}
