package inventory

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/cloudpace/cloudpace/verdict"
)

// TestSilentAccount: an account in which no host is found is not one with nothing in
// it, and one in which every service is said to be missing is not known as a whole. In
// one that has answered, a service that a region does not have is no gap.
func TestSilentAccount(t *testing.T) {
	lost := &net.DNSError{Err: "no such host", Name: "x", IsNotFound: true}
	unknown := &verdict.ResponseError{Provider: "azure", StatusCode: 404, Code: "InvalidResourceType"}
	reads := func(provider, account string, err error) Task {
		return Task{Kind: Kind{Name: "x", Service: "s"}, Provider: provider, Account: account, Region: "r", Read: func(context.Context, *Output) error { return err }}
	}
	whole := Task{Kind: Kind{Name: "whole"}, Provider: "azure", Account: "a", Sums: true}
	for _, c := range []struct {
		name    string
		tasks   []Task
		outcome Outcome
		first   Record
		whole   Status
	}{
		{"no name is found", []Task{reads("aws", "a", lost), reads("aws", "a", lost)}, NothingRead, Record{Status: Failed, Reason: Unreachable}, ""},
		{"in one account of two", []Task{reads("aws", "a", lost), reads("aws", "b", nil)}, WithGaps, Record{Status: Failed, Reason: Unreachable}, ""},
		{"in one provider of two", []Task{reads("aws", "a", lost), reads("azure", "a", nil)}, WithGaps, Record{Status: Failed, Reason: Unreachable}, ""},
		{"others are denied", []Task{reads("aws", "a", lost), reads("aws", "a", errors.New("no")), reads("aws", "b", nil)}, WithGaps, Record{Status: Failed, Reason: Unreachable}, ""},
		{"no type is known", []Task{whole, reads("azure", "a", unknown)}, NothingRead, Record{Status: Failed, Reason: NotSupported}, Failed},
		{"no type is known in one of two", []Task{whole, reads("azure", "a", unknown), reads("azure", "b", nil)}, WithGaps, Record{Status: Failed, Reason: NotSupported}, Failed},
		{"a sum of nothing", []Task{whole}, NothingRead, Record{Status: Failed, Reason: NotSupported}, Failed},
		{"one type is not", []Task{reads("azure", "a", unknown), reads("azure", "a", nil), whole}, Complete, Record{Status: Skipped, Reason: ServiceNotInRegion}, Success},
		{"one name is not", []Task{reads("aws", "a", lost), reads("aws", "a", nil)}, Complete, Record{Status: Skipped, Reason: ServiceNotInRegion}, ""},
	} {
		sink := onDisk(new(disk))
		records, broken := Run(t.Context(), c.tasks, Options{Sink: sink})
		d := NewDocument(Summary{}, records, sink, broken, nil)
		if r := d.Coverage[0]; d.Summary.Outcome != c.outcome || r.Status != c.first.Status || r.Reason != c.first.Reason || r.Error == "" {
			t.Errorf("%s: %s, %+v", c.name, d.Summary.Outcome, r)
		}
		if sink.Written() != (c.outcome != NothingRead) {
			t.Errorf("%s: the assets of an earlier run were replaced: %v", c.name, sink.Written())
		}
		for _, r := range records {
			if r.Task == "whole" && r.Status != c.whole {
				t.Errorf("%s: %+v", c.name, r)
			}
		}
	}
}
