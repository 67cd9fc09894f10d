// Package aws reads AWS accounts for the inventory.
//
// [Open] finds out who is reading and what: credentials, account, regions. The
// [Account] it returns makes the tasks, one for each row of the table in
// table.go, or for each row and region where the row is regional. To add a task,
// add a row; nothing else changes.
//
// Every call is governed through paceaws: those made before the account is known
// under account "*", all others under the account.
//
// # Rows
//
// What a row reads is made of what is particular to an API: a listing, or one
// that is nested in another; details, a call for each item; groups, where an API
// answers for many items at once. The client is made on the way, so that a new
// service needs no more than its import. Tests run over every row: an account
// with nothing in it, one that denies, one whose tokens repeat.
//
// # The sweep
//
// The task tagging_sweep asks the Resource Groups Tagging API for everything
// that has or had tags, which reaches types no other task lists. Its assets are
// told by their task, have tags but no properties, and a type read off the ARN:
// the resource type's name ("AWS::RDS::DBInstance") where it is known, else what
// the ARN says ("workspaces:directory"). So that nothing is counted twice, it
// leaves out the types that another task of the same run lists; how many it left
// out is the record's "elsewhere". What has no tags and no task of its own is not
// found, which is why the record says what it covers.
package aws
