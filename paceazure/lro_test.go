package paceazure_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armresources/v3"

	"github.com/cloudpace/cloudpace/paceazure"
)

const resourcesScope = "azure/" + subscription + "/*/resources"

// C19, S11.1: a pager of an arm module follows every link, and each page is a
// governed request; a page that is throttled is asked for again and not lost.
func TestC19PagersAreGoverned(t *testing.T) {
	const pages = 5
	page, throttled := 0, false
	f := newFake(nil)
	options := f.loopback(t)
	f.handle = func(int, arrival) answer {
		if page == 2 && !throttled {
			throttled = true
			return retryAfter(429, "0")
		}
		page++
		next := ""
		if page < pages {
			next = fmt.Sprintf(`,"nextLink":"%s/subscriptions/%s/resourcegroups?%%24skiptoken=%d"`,
				options.Cloud.Services["resourceManager"].Endpoint, subscription, page)
		}
		return answer{status: 200, body: fmt.Sprintf(`{"value":[{"name":"group-%d"}]%s}`, page, next)}
	}
	g := governor(t, nil)
	client, err := armresources.NewResourceGroupsClient(subscription, login{}, paceazure.ClientOptions(options, paceazure.WithGovernor(g)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for pager := client.NewListPager(nil); pager.More(); {
		p, err := pager.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, group := range p.Value {
			names = append(names, *group.Name)
		}
	}
	if got := strings.Join(names, " "); got != "group-1 group-2 group-3 group-4 group-5" {
		t.Errorf("read %s", got)
	}
	if n := scopeStats(t, g, resourcesScope); n.Calls != pages+1 || n.Throttled != 1 || n.Retries != 1 {
		t.Errorf("%+v", n)
	}
	clean(t, g)
}

// A13: the polls of a long-running operation are governed requests. A 202 that says
// when to ask again is no throttle and pauses nobody, and the intervals are azcore's.
func TestA13PollersAreGoverned(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(nil)
		const operation = "http://arm.example.com/subscriptions/" + subscription + "/operationresults/1"
		f.handle = func(n int, _ arrival) answer {
			switch n {
			case 1:
				return say(202, "", "Location", operation, "Retry-After", "10")
			case 2:
				return say(202, "", "Location", operation)
			case 3:
				return say(202, "", "Location", operation, "Retry-After", "0")
			case 4:
				return code(503, "ServerBusy", "Retry-After", "7")
			}
			return say(200, "")
		}
		g := governor(t, nil)
		client, err := armresources.NewResourceGroupsClient(subscription, login{}, paceazure.ClientOptions(f.inProcess(), paceazure.WithGovernor(g)))
		if err != nil {
			t.Fatal(err)
		}
		poller, err := client.BeginDelete(t.Context(), "group", nil)
		if err != nil {
			t.Fatal(err)
		}
		if p := leaf(t, g, resourcesScope); p.PausedSeconds != 0 || p.RPS != p.MaxRPS {
			t.Errorf("after a 202: %+v", p)
		}
		if _, err := poller.PollUntilDone(t.Context(), &runtime.PollUntilDoneOptions{Frequency: 5 * time.Second}); err != nil {
			t.Fatal(err)
		}
		at := f.at()
		for i, want := range []time.Duration{0, 10 * time.Second, 15 * time.Second, 20 * time.Second, 27 * time.Second} {
			if at[i] < want || at[i] > want+200*time.Millisecond {
				t.Errorf("request %d came at %v, want %v", i+1, at[i], want)
			}
		}
		if n := scopeStats(t, g, resourcesScope); n.Calls != 5 || n.Throttled != 1 || n.Retries != 1 {
			t.Errorf("%+v", n)
		}
		clean(t, g)
	})
}
