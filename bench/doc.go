// Package bench compares cloudpace with other libraries. It is a module of its own,
// so that they are nobody's dependency:
//
//	go test -run '^$' -bench . -benchmem ./bench
//	go test -timeout 60m -run '^TestMacro$' -v ./bench -macro.all
//
// The program in report runs them and writes docs/benchmarks.md.
package bench
