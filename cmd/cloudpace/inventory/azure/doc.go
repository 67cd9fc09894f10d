// Package azure reads Azure subscriptions for the inventory.
//
// [Open] finds out who is reading and what: credentials and subscriptions. The
// [Tenant] it returns makes the tasks, one for each subscription and row of the
// table in table.go. To add a task, add a row; nothing else changes.
//
// Every call is governed through paceazure, and none writes: resource providers
// that a subscription has not registered are not registered on the way.
//
// # Rows
//
// A row is a list of one of the arm modules: in a subscription, in each of its
// resource groups where the API has no other, or under each item of another list.
// The modules send the requests and follow the pages; assets are made of what the
// service answered and not of the modules' types, which know the properties of their
// own day alone.
//
// # Everything else
//
// The task azure_resources lists all resources of a subscription, and so finds types
// that no other task lists; it has their tags and not their properties. Instead of it
// Resource Graph can be asked, which reads all subscriptions at once, with the
// properties, in a query for each thousand resources: these are the tasks of the
// family "graph". They read what the sweep reads, so a run has one or the other, the
// sweep where both are selected. Both leave out the types that another task of the
// same run lists, so that nothing is counted twice; how many they left out is the
// record's "elsewhere". Selecting "graph" alone reads everything that way.
//
// Graph tasks ask for all subscriptions at once and have one record, of account "*".
//
// # Whole subscriptions
//
// The task azure_full asks nothing. Its record says whether all tasks of its
// subscription read what they cover, and names those that did not.
//
// Azure leaves out of lists what the caller may not read. That is why every record
// covers what the caller's roles show, and why a subscription in which there seems to
// be nothing at all is a gap.
package azure
