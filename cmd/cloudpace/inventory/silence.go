package inventory

// silence mends the records of accounts in which no task got anything. That a host's
// name does not exist is no gap as long as others are found; where none is, it is
// rather the machine that has lost its network, and nobody has said that there is
// nothing.
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
		if r.outputs[i].nameless && o.Status == Skipped && !heard[account{o.Provider, o.Account}] {
			o.Status, o.Reason = Failed, Unreachable
			o.Error = "no host of the account was found: " + o.Error
		}
	}
}
