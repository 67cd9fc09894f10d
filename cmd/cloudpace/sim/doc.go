// Package sim is a cloud that throttles: a server with the request quotas that a
// provider documents, the faults that its APIs are known for, a neighbour who
// uses part of a quota, and an estate that is computed from a seed. What speaks a
// provider's protocols is a [Front], in a package of its own.
//
//	front := aws.New()
//	profile := sim.Default(front)
//	profile.Estate = sim.EstateConfig{Accounts: sim.ExampleAccounts(3), Regions: []string{"us-east-1"}, Assets: 5000}
//	profile.Faults = []sim.Fault{{Kind: sim.Hang, Match: sim.Match{Service: sim.Patterns{"sqs"}}}}
//	server, err := sim.New(front, profile)
//	if err != nil {
//		return err
//	}
//	err = server.Serve(ctx, listener)
//
// A request is identified, counted, delayed, broken, throttled or answered, in
// this order: latency; faults of the connection; the quota; other faults, among
// them those that break the connection within an answer; the answer. Everything that is random is drawn from the profile's seed, so two
// servers with one profile treat the same requests alike.
package sim
