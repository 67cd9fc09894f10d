// Package gcp reads Google Cloud organizations, folders and projects for the inventory,
// through Cloud Asset Inventory.
//
// [Open] finds out who is reading and what: credentials, the project whose quota is
// used, and parents, which are those that were named, or else all projects that the
// credentials see. The [Estate] it returns makes the tasks, one for each parent and row
// of the table in table.go. Every call is governed through pacegcp, and none writes.
//
// # Rows
//
// gcp_list_assets lists all assets of a parent, of whatever type and depth, with their
// properties. gcp_iam_policies lists the IAM policies that are set there; each member of
// each binding is an [inventory.Edge]. Both ask for the state at one moment, the same for
// all parents and pages, so that a listing that takes half an hour does not show two
// halves of a change; a record has that moment as its read_time.
//
// # Another way
//
// Where one of these is refused, or has no quota left, the index that Cloud Asset
// Inventory searches takes its place: gcp_search_resources and gcp_search_iam_policies.
// They have quotas and permissions of their own. They know less: an asset has the
// attributes that can be searched for and not its properties, and it is as of now.
// The family "search" can be asked for alone.
//
// Policies are listed rather than searched although the quota is smaller: a page has
// 1,000 of them and not 500, they are of the same moment as the assets, and for most
// parents both listings take a minute of the quota of 100 pages a minute.
//
// # Accounts
//
// The account of records, assets and edges is the parent that was read,
// "organizations/123" or "projects/example-1", so that what is complete and what was
// found there can be put side by side. The project of an asset below a folder or an
// organization is the first of its "ancestors".
package gcp
