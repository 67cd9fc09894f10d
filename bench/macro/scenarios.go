package macro

import "github.com/cloudpace/cloudpace/internal/scenario"

// Scenarios are the ten that a controller is judged by.
func Scenarios() []scenario.Scenario {
	quota := scenario.Server{Burst: 100, Refill: 20}
	hinting := quota
	hinting.RetryAfterS = 1
	costly := quota
	costly.ThrottleCost, costly.Floor = 0.5, -20
	right, high := scenario.Client{Rate: 20, Burst: 100}, scenario.Client{Rate: 100, Burst: 100}

	all := []scenario.Scenario{
		{ID: "A", Name: "right ceiling", Server: quota, Client: right, IdealS: 195},
		{ID: "B", Name: "a neighbour takes half", Server: quota, NeighbourRPS: 10, Client: right, IdealS: 390},
		{ID: "C", Name: "client thinks 100, server gives 20", Server: quota, Client: high, IdealS: 195},
		{ID: "D", Name: "client thinks 20, server gives 100", Server: scenario.Server{Burst: 100, Refill: 100}, Client: right, IdealS: 39},
		{ID: "E", Name: "as C, Retry-After 1 s", Server: hinting, Client: high, IdealS: 195},
		{ID: "F", Name: "as B, Retry-After 1 s", Server: hinting, NeighbourRPS: 10, Client: right, IdealS: 390},
		{ID: "G", Name: "neighbour from 60 s to 120 s", Server: quota, NeighbourRPS: 10, NeighbourFromS: 60, NeighbourToS: 120, Client: right, IdealS: 225},
		{ID: "H", Name: "bursts of 200, 10 s idle between", Server: quota, Client: right, BurstCalls: 200, GapS: 10, IdealS: 100},
		{ID: "I", Name: "as H, client thinks 100", Server: quota, Client: high, BurstCalls: 200, GapS: 10, IdealS: 100},
		{ID: "K", Name: "as C, a throttled attempt costs half a token", Server: costly, Client: high, IdealS: 195},
	}
	for i := range all {
		all[i].Calls, all[i].Workers = 4000, 40
	}
	return all
}
