package pacegcp

import (
	"sync"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/verdict"
)

// bar closes the quota that a listing's failure says is used up for the day: no
// further request is sent on it before it is renewed.
func bar(call *cloudpace.Call, failed error) {
	if verdict.Examine(provider, failed).Daily {
		call.Bar(renewal(time.Now()), failed)
	}
}

// pacific is where Google's days end: quotas per day are renewed at midnight Pacific
// Time (cloud.google.com, "Rate quotas").
var pacific = sync.OnceValue(func() *time.Location {
	if loc, err := time.LoadLocation("America/Los_Angeles"); err == nil {
		return loc
	}
	// A system without time zones. Winter's is the later of the two midnights.
	return time.FixedZone("PST", -8*60*60)
})

// renewal is the next midnight there.
func renewal(now time.Time) time.Time {
	year, month, day := now.In(pacific()).Date()
	return time.Date(year, month, day+1, 0, 0, 0, 0, pacific())
}
