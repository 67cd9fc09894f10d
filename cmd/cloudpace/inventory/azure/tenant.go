package azure

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

// Provider is what assets and records call it.
const Provider = "azure"

// Options say which subscriptions are read, and how.
type Options struct {
	// Subscriptions are the ids of those to read. Without any, and without a
	// management group, all that the credentials see are read.
	Subscriptions []string
	// ManagementGroup is the name of one whose subscriptions are read, those of the
	// groups below it included.
	ManagementGroup string
	Cloud           string // "public" (also ""), "government" or "china"
	// Endpoint is the URL that Resource Manager is asked at, for emulators and
	// proxies. Over http it has to be on this machine, for a token goes with it.
	Endpoint string
	// Credential is what logs in. nil is the SDK's default chain: environment,
	// workload identity, managed identity, Azure CLI and others.
	Credential azcore.TokenCredential
	Governor   *cloudpace.Governor
	// ClientOptions, when set, are used as they are, with their cloud and transport.
	// They exclude Cloud and Endpoint.
	ClientOptions *arm.ClientOptions
}

var subscriptionID = regexp.MustCompile(`^(?i:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$`)

// Check finds what is wrong with the options without asking anybody.
func (o Options) Check() error {
	if len(o.Subscriptions) > 0 && o.ManagementGroup != "" {
		return errors.New("subscriptions and a management group exclude each other")
	}
	for _, id := range o.Subscriptions {
		if !subscriptionID.MatchString(id) {
			return fmt.Errorf("subscription %q is not an id like 00000000-0000-0000-0000-000000000001 (az account list shows them)", id)
		}
	}
	if strings.ContainsAny(o.ManagementGroup, "/?#% ") {
		return fmt.Errorf("management group %q is not a group's name (az account management-group list shows them)", o.ManagementGroup)
	}
	if _, ok := clouds[o.Cloud]; !ok {
		text := fmt.Sprintf("unknown cloud %q", o.Cloud)
		if near, ok := inventory.Nearest(o.Cloud, CloudNames()); ok {
			text += fmt.Sprintf(", did you mean %q?", near)
		}
		return fmt.Errorf("%s (there are: %s)", text, strings.Join(CloudNames(), ", "))
	}
	if o.ClientOptions != nil && (o.Cloud != "" || o.Endpoint != "") {
		return errors.New("a cloud or an endpoint goes with client options that are made, not with those that are given")
	}
	if o.Endpoint == "" {
		return nil
	}
	return inventory.CheckEndpoint(o.Endpoint)
}

// Plain tells whether Resource Manager is asked without TLS.
func (o Options) Plain() bool { return inventory.PlainEndpoint(o.Endpoint) }

// Tenant is what the credentials see: subscriptions that can be read.
type Tenant struct {
	ID     string // of the directory; empty where the token does not say
	Caller string // who reads, likewise

	subscriptions []Subscription
	credential    azcore.TokenCredential
	options       *arm.ClientOptions // governed
	http          *http.Client       // idle where the options were given
	direct        string             // the cloud's own address, where it is asked at another one
	governor      *cloudpace.Governor
}

// Subscription is one that was asked for or found.
type Subscription struct {
	ID, Name string
	State    string // "Enabled", "Warned", "Disabled" …; empty for one that is not there
	// Err says why nothing of it is read, nil where it is. The records of its tasks
	// say the same.
	Err error
}

// Open finds credentials, asks whose they are, and which subscriptions there are. It
// fails with [NoCredentialsError] before anything is sent where there are none.
func Open(ctx context.Context, o Options) (*Tenant, error) {
	if err := o.Check(); err != nil {
		return nil, fmt.Errorf("azure: %w", err)
	}
	t, err := connect(ctx, o)
	if err == nil {
		t.subscriptions, err = t.discover(ctx, o)
	}
	if err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// Close lets go of the connections that are kept, once the tasks are over.
func (t *Tenant) Close() { t.http.CloseIdleConnections() }

// Subscriptions lists those that were asked for or found, by id.
func (t *Tenant) Subscriptions() []Subscription { return slices.Clone(t.subscriptions) }

// Accounts lists the subscriptions as a run's summary has them.
func (t *Tenant) Accounts() []inventory.Account {
	list := make([]inventory.Account, len(t.subscriptions))
	for i, s := range t.subscriptions {
		list[i] = inventory.Account{Provider: Provider, ID: s.ID, Caller: t.Caller}
	}
	return list
}

// Everywhere is the account of tasks that read all subscriptions at once.
const Everywhere = "*"

// Tasks makes the tasks of the kinds that are wanted, in every subscription. The
// family "graph" is taken only where the sweep that it stands for is not.
func (t *Tenant) Tasks(wanted func(inventory.Kind) bool) []inventory.Task {
	rows := selected(wanted)
	listed := make(map[string]bool)
	for _, r := range rows {
		for _, typ := range r.Types {
			listed[strings.ToLower(typ)] = true
		}
	}
	var tasks []inventory.Task
	for _, r := range rows {
		if r.everywhere {
			tasks = append(tasks, t.task(r, Subscription{ID: Everywhere}, listed))
			continue
		}
		for _, s := range t.subscriptions {
			tasks = append(tasks, t.task(r, s, listed))
		}
	}
	return tasks
}

func (t *Tenant) task(r row, sub Subscription, listed map[string]bool) inventory.Task {
	task := inventory.Task{Kind: r.Kind, Provider: Provider, Account: sub.ID}
	if r.read == nil {
		task.Sums = true
		return task
	}
	task.Read = func(ctx context.Context, out *inventory.Output) error {
		if sub.Err != nil {
			return sub.Err // it is not asked at all
		}
		return r.read(ctx, &site{tenant: t, subscription: sub.ID, listed: listed}, out)
	}
	return task
}

// site is what the rows of the table work with: a subscription.
type site struct {
	tenant       *Tenant
	subscription string
	// listed has the types that tasks of this run list, in lower case, for the sweep.
	listed map[string]bool
}
