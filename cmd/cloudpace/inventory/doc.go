// Package inventory reads what exists in cloud accounts and says what it could
// not read.
//
// A provider's package makes [Task]s: one for each account, region and row of
// its table. [Run] carries them out side by side and keeps them apart: nothing
// one of them does stops another. A task reports through its [Output]: assets
// go straight to the [Sink], which writes them as JSON Lines, and whatever is
// not read becomes part of the task's [Record]. A run ends as a [Document], in
// which every task has exactly one record, so that "not read" never looks like
// "empty".
//
//	sink := inventory.NewSink(dir)
//	result, err := inventory.Run(ctx, tasks, inventory.Options{Sink: sink})
//
// The package knows no SDK. What the providers' errors mean for a record is one
// table, in reasons.go.
package inventory
