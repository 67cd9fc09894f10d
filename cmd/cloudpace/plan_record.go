package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/plan"
)

// lastRun is what a directory that map wrote says of its run.
type lastRun struct {
	inventory.Document
	kinds map[string]inventory.Kind // by task
}

// readRun reads run.json.
func readRun(dir string, list []*cloud) (*lastRun, error) {
	file := filepath.Join(dir, inventory.RunFile)
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("--from: %w (allowed: a directory that cloudpace map wrote)", err)
	}
	r := &lastRun{kinds: make(map[string]inventory.Kind)}
	if err := json.Unmarshal(text, &r.Document); err != nil {
		return nil, fmt.Errorf("--from: %s is no run of cloudpace map: %w", file, err)
	}
	if len(r.Coverage) == 0 {
		return nil, fmt.Errorf("--from: %s has no coverage (allowed: what cloudpace map wrote)", file)
	}
	var faults []error
	for i, c := range r.Coverage {
		for _, n := range []struct {
			key   string
			count int
		}{{"assets", c.Assets}, {"calls", c.Calls}, {"duplicates", c.Duplicates}, {"edges", c.Edges}, {"elsewhere", c.Elsewhere}, {"pages", c.Pages}, {"vanished", c.Vanished}} {
			if n.count < 0 || n.count > mostItems {
				faults = append(faults, fmt.Errorf("--from: %s: coverage[%d].%s is %d (allowed: 0 to %d)", file, i, n.key, n.count, mostItems))
			}
		}
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	for _, k := range kindsOf(list) {
		r.kinds[k.Name] = k
	}
	return r, nil
}

// tasks are those of the run again, as many calls each as there were. unread counts those
// that could not be read then, or not to their end; unknown those that no table has.
func (r *lastRun) tasks(limits *planLimits, providers []string, wanted func(inventory.Kind) bool) (list []plan.Task, unread, unknown int) {
	type at struct{ provider, account, region, task string }
	found := make(map[at]inventory.Record, len(r.Coverage))
	for _, c := range r.Coverage {
		found[at{c.Provider, c.Account, c.Region, c.Task}] = c
	}
	for _, c := range r.Coverage {
		k, ok := r.kinds[c.Task]
		switch {
		case !slices.Contains(providers, c.Provider):
			continue
		case !ok:
			unknown++
			continue
		case !wanted(k) || k.Calls.Nothing:
			continue
		case c.Gap():
			unread++
		}
		task := plan.Task{Provider: c.Provider, Account: c.Account, Region: c.Region, Service: k.Service, Payer: payer(c.Provider)}
		if calls := max(c.Calls, c.Pages); calls > 0 {
			parents := found[at{c.Provider, c.Account, c.Region, k.Calls.Of}]
			task.Work = recorded(limits.listing(c.Provider, k, c.Assets+c.Edges+c.Elsewhere+c.Vanished+c.Duplicates), c, parents)
		}
		list = append(list, task)
	}
	return list, unread, unknown
}

// recorded makes a listing take as many calls as there were: pages as they were counted,
// and the rest for the details.
func recorded(l *plan.Listing, c inventory.Record, parents inventory.Record) *plan.Listing {
	calls, pages := max(c.Calls, c.Pages), c.Pages
	if len(l.Each) == 0 || pages == 0 {
		pages = calls // also those that failed
	}
	details := calls - pages
	l.Pages, l.Asked = pages, -1
	if u := l.Under; u != nil {
		u.Items, u.Pages = parents.Assets, max(1, parents.Pages)
		if u.Items == 0 || u.Pages+u.Items > pages { // nothing is known of them but the pages
			u.Pages = 1
			u.Items = pages - 1
		}
		l.Pages = pages - u.Pages
		if u.Items == 0 {
			l.Items = 0 // there was nothing to ask under
		}
	}
	if details > 0 && l.Items == 0 {
		l.Items = details
	}
	if usual := asked(l); details > 0 && usual > 0 {
		l.Asked = float64(details) / float64(usual)
	}
	return l
}

// asked counts the calls about items that a listing takes as a rule.
func asked(l *plan.Listing) (n int) {
	for _, a := range l.Each {
		n += l.Batches(a)
	}
	return n
}

// latency is how long an answer took, in tasks that asked for pages alone and in services
// that nobody waited for. A quarter of them were quicker: what else is in the time of a
// task, connections that are made and a busy machine, only adds to it. False where there
// are none.
func (r *lastRun) latency() (time.Duration, bool) {
	waited := make(map[string]bool)
	for _, s := range r.Throttling.Scopes {
		waited[s.Scope] = s.Waits > 0 || s.Throttled > 0 || s.TransientErrors > 0
	}
	var all []float64
	for _, c := range r.Coverage {
		scope, err := cloudpace.ParseScope(c.Scope)
		if err == nil && c.Status == inventory.Success && c.Details == 0 && c.Calls > 0 && c.Calls == c.Pages && !waited[scope.String()] {
			all = append(all, c.Seconds/float64(c.Calls))
		}
	}
	if len(all) == 0 {
		return 0, false
	}
	slices.Sort(all)
	usual := min(max(leastLatency.Seconds(), all[len(all)/4]), mostLatency.Seconds())
	return time.Duration(math.Round(usual*1000)) * time.Millisecond, true
}
