// Package bench compares cloudpace with other libraries. It is a module of its own,
// so that they are nobody's dependency. The figures are in docs/benchmarks.md:
//
//	go test -run '^$' -bench . -benchmem ./bench
package bench
