package gcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	asset "cloud.google.com/go/asset/apiv1"
	"google.golang.org/api/cloudresourcemanager/v3"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

// Provider is what assets and records call it.
const Provider = "gcp"

// Options say what is read, and how.
type Options struct {
	// Parents are those to read: "organizations/123", "folders/123", "projects/example-1"
	// or the id of a project alone. Without any, all projects that the credentials see
	// are read.
	Parents []string
	// QuotaProject is the id of the project whose quota is used. Without it, it is the
	// one of the environment (GOOGLE_CLOUD_QUOTA_PROJECT) or of the credentials.
	QuotaProject string
	// Endpoint is the URL that all services are asked at, for emulators and proxies.
	// Over http it has to be on this machine, and no credentials are used.
	Endpoint string
	// Dial, when set, makes the connections instead of the network.
	Dial     func(ctx context.Context, network, address string) (net.Conn, error)
	Governor *cloudpace.Governor
}

// Check finds what is wrong with the options without asking anybody.
func (o Options) Check() error {
	if _, err := parseParents(o.Parents); err != nil {
		return err
	}
	if o.QuotaProject != "" {
		if _, err := parseParent("projects/" + strings.TrimPrefix(o.QuotaProject, "projects/")); err != nil {
			return fmt.Errorf("quota project %q is not the id of a project (gcloud projects list shows them)", o.QuotaProject)
		}
	}
	if o.Endpoint == "" {
		return nil
	}
	if err := inventory.CheckEndpoint(o.Endpoint); err != nil {
		return err
	}
	if u, err := url.Parse(o.Endpoint); err != nil || u.Path != "" && u.Path != "/" || u.RawQuery != "" {
		return errors.New("the endpoint has a path, and gRPC has none: give it as https://HOST:PORT")
	}
	return nil
}

// settled is how long the state that is asked for is past. Google collects changes with
// some delay, during which the same question may have two answers; and a clock that is
// a little fast must not ask for the future.
const settled = 5 * time.Minute

// Estate is what the credentials see: parents that can be read.
type Estate struct {
	Caller string // who reads; empty where the credentials do not say
	// QuotaProject is the id of the project whose quota is used, empty where that is
	// not known.
	QuotaProject string
	ReadTime     time.Time // the moment that is asked about

	parents  []Parent
	assets   *asset.Client
	search   *cloudresourcemanager.Service
	http     *http.Transport
	governor *cloudpace.Governor
	refused  atomic.Pointer[error] // what all parents would meet
}

// Open finds credentials, asks for a token, and which projects there are unless parents
// are named. It fails with [NoCredentialsError] where there are no credentials.
func Open(ctx context.Context, o Options) (*Estate, error) {
	if err := o.Check(); err != nil {
		return nil, fmt.Errorf("gcp: %w", err)
	}
	e := &Estate{ReadTime: time.Now().Add(-settled).UTC().Truncate(time.Second), http: transport(o), governor: cmp.Or(o.Governor, cloudpace.Default())}
	err := e.connect(ctx, o)
	if err == nil {
		e.parents, err = e.discover(ctx, o.Parents)
	}
	if err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}

// Close lets go of the connections that are kept, once the tasks are over.
func (e *Estate) Close() {
	if e.assets != nil {
		_ = e.assets.Close() // it says only that it was closed before
	}
	e.http.CloseIdleConnections()
}

// Parents lists those that were asked for, in that order, or found, by name.
func (e *Estate) Parents() []Parent { return slices.Clone(e.parents) }

// Accounts lists the parents as a run's summary has them.
func (e *Estate) Accounts() []inventory.Account {
	list := make([]inventory.Account, len(e.parents))
	for i, p := range e.parents {
		list[i] = inventory.Account{Provider: Provider, ID: p.Name, Caller: e.Caller}
	}
	return list
}

// Tasks makes the tasks of the kinds that are wanted, for every parent. The family
// "search" is taken only where what it stands for is not; beside that, its tasks are the
// other way.
func (e *Estate) Tasks(wanted func(inventory.Kind) bool) []inventory.Task {
	var tasks []inventory.Task
	for _, r := range selected(wanted) {
		for _, p := range e.parents {
			tasks = append(tasks, e.task(r, p))
		}
	}
	return tasks
}

func (e *Estate) task(r row, p Parent) inventory.Task {
	task := inventory.Task{Kind: r.Kind, Provider: Provider, Account: p.Name}
	task.Read = func(ctx context.Context, out *inventory.Output) error {
		if p.Err != nil {
			return p.Err // it is not asked at all
		}
		if err := e.refused.Load(); err != nil {
			return *err
		}
		return r.read(ctx, &site{e, p.Name}, out)
	}
	if r.otherwise != "" {
		other := e.task(named(r.otherwise), p)
		task.Otherwise = &other
	}
	return task
}

// site is what the rows of the table work with: a parent.
type site struct {
	*Estate
	parent string
}
