// Package macro runs whole pieces of work through cloudpace and through what else paces
// and repeats calls, against the modelled server of internal/scenario, in virtual time.
// What is compared is the others' real code: the SDKs' own clients and retryers send
// real requests to a transport that is the modelled server.
//
// A piece of work is a number of calls that all have to succeed. A call that its client
// gives up is counted and made again, as whoever needs the result would. The time that
// counts is that until the last success; gaps in which there is nothing to do are not
// counted.
//
// It runs only in a bubble of testing/synctest:
//
//	synctest.Test(t, func(t *testing.T) {
//		result, err := macro.Run(t.Context(), s, seed, contender)
//	})
package macro
