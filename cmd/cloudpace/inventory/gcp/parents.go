package gcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"google.golang.org/api/cloudresourcemanager/v3"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	"github.com/cloudpace/cloudpace/verdict"
)

// Parent is an organization, a folder or a project that was asked for or found.
type Parent struct {
	Name string // "organizations/123", "folders/123", "projects/example-1"
	// Err says why nothing of it is read, nil where it is. The records of its tasks
	// say the same.
	Err error
}

var (
	// A project of a company's own domain has that in its id: example.com:example-1.
	projectID  = regexp.MustCompile(`^([a-z0-9][a-z0-9.-]*:)?[a-z]([a-z0-9-]*[a-z0-9])?$`)
	parentName = regexp.MustCompile(`^(organizations|folders|projects)/[0-9]+$`)
)

// parseParent reads what people write for a parent. The id of a project may stand alone.
func parseParent(text string) (string, error) {
	name := text
	if !strings.Contains(name, "/") {
		name = "projects/" + name
	}
	id, project := strings.CutPrefix(name, "projects/")
	if project && projectID.MatchString(id) || text == name && parentName.MatchString(name) {
		return name, nil
	}
	return "", fmt.Errorf("parent %q is none of organizations/NUMBER, folders/NUMBER, projects/ID and projects/NUMBER (gcloud projects list shows projects)", text)
}

// parseParents reads a list of them, in which each is once.
func parseParents(list []string) (names []string, err error) {
	for _, text := range list {
		name, err := parseParent(text)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// discover gives the parents to read.
func (e *Estate) discover(ctx context.Context, named []string) (list []Parent, err error) {
	if len(named) == 0 {
		return e.projects(ctx)
	}
	names, err := parseParents(named)
	for _, name := range names {
		list = append(list, Parent{Name: name})
	}
	return list, err
}

// active is the state of a project that is not being deleted.
const active = "ACTIVE"

// projects finds all projects that the credentials see. Half a list would be half a map
// that nothing is said about.
func (e *Estate) projects(ctx context.Context) (list []Parent, err error) {
	page := func(ctx context.Context, token string) ([]*cloudresourcemanager.Project, string, error) {
		page, err := e.search.Projects.Search().PageToken(token).Context(ctx).Do()
		if err != nil {
			return nil, "", err
		}
		return page.Projects, page.NextPageToken, nil
	}
	if err := inventory.Each(ctx, page, func(p *cloudresourcemanager.Project) { list = append(list, found(p)) }); err != nil {
		return nil, asking(ctx, err)
	}
	slices.SortFunc(list, func(a, b Parent) int { return strings.Compare(a.Name, b.Name) })
	list = slices.CompactFunc(list, func(a, b Parent) bool { return a.Name == b.Name })
	if len(list) == 0 {
		return nil, errors.New("gcp: these credentials see no project; name what to read with --parent, or give them a role such as roles/browser")
	}
	return list, nil
}

// found makes a parent of a project. One that is being deleted is not read, and its
// records say so.
func found(p *cloudresourcemanager.Project) Parent {
	parent := Parent{Name: "projects/" + p.ProjectId}
	if p.ProjectId == "" {
		parent.Name = p.Name
	}
	if p.State != active {
		parent.Err = &inventory.AccountDisabledError{Account: parent.Name, State: cmp.Or(p.State, "STATE_UNSPECIFIED")}
	}
	return parent
}

// asking words an error of the question that comes before a run.
func asking(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	why, next := inventory.ReasonOf(Provider, err), "name what to read: --parent projects/ID"
	switch why {
	case inventory.APIDisabled:
		next += ", or enable the API: gcloud services enable cloudresourcemanager.googleapis.com" + ofProject(verdict.Examine(Provider, err).Consumer)
	case inventory.CredentialsExpired:
		return &CredentialsError{err}
	}
	return fmt.Errorf("gcp: asking which projects there are: %s: %w\nNext: %s", why, err, next)
}

// ofProject is the part of a command that says which project is meant, as long as it is
// one that can stand in a command.
func ofProject(consumer string) string {
	name, err := parseParent(consumer)
	if id, ok := strings.CutPrefix(name, "projects/"); ok && err == nil {
		return " --project " + id
	}
	return ""
}
