// Package databricks lets a simulated cloud speak as a Databricks workspace with
// SQL warehouses does: Thrift (TCLIService, binary protocol, strict and old) over
// HTTP, and the Statement Execution API. Statements are not understood. Each takes
// the polls that [sim.Warehouse] says, has rows that are made up, and is counted:
// the counts tell whether something ran twice.
//
//	front := databricks.New()
//	profile := sim.Default(front)
//	profile.Faults = []sim.Fault{{Kind: sim.Reset, At: new(0), Match: sim.Match{Operation: sim.Patterns{"ExecuteStatement"}}}}
//	server, err := sim.New(front, profile)
//	…
//	front.Executions()["INSERT INTO t VALUES (1)"] // how often it ran
//
// A text that contains raise_error( fails, as that function makes it.
package databricks
