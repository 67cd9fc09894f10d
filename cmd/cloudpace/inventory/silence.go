package inventory

// silence mends the records of accounts in which no task got anything. That a service
// is not in a region is no gap, as long as others are there; where all of them seem to
// be missing, nobody has said that there is nothing. Either no name is found any more,
// on a machine that has lost its network, or what answers is not the provider.
func (r *run) silence() {
	r.mu.Lock()
	defer r.mu.Unlock()
	type account struct{ provider, id string }
	heard := make(map[account]bool)
	for _, o := range r.records {
		if o.Status == Success || o.Status == Partial {
			heard[account{o.Provider, o.Account}] = true
		}
	}
	for i := range r.records {
		o := &r.records[i]
		if o.Status != Skipped || o.Reason != ServiceNotInRegion || heard[account{o.Provider, o.Account}] {
			continue
		}
		o.Status, o.Reason = Failed, NotSupported
		if r.outputs[i].nameless {
			o.Reason = Unreachable
		}
		o.Error = "nothing of the account was read, so nobody knows that there is none of it: " + o.Error
	}
}
