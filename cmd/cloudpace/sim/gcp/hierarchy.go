package gcp

import (
	"slices"
	"strconv"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// Organization is the one that every project is in.
const Organization = "organizations/123456789012"

// NoProject is who is charged where no project can be.
const NoProject = "(none)"

var folders = []string{"folders/111122223333", "folders/444455556666"}

// Folders are right below the organization: every second project is in the second.
func Folders() []string { return slices.Clone(folders) }

// Number is a project's: "projects/" and it name the project as its id does.
func Number(e *sim.Estate, project string) string {
	const least = 900_000_000_000
	return strconv.FormatUint(least+e.Draw(sim.Place{Account: project}, projects, 0, "number")%(least/10), 10)
}

// world is an estate with its hierarchy.
type world struct {
	estate   *sim.Estate
	projects []string
	regions  []string
	byName   map[string]int // projects by "projects/" and their id or number
}

func newWorld(e *sim.Estate) *world {
	w := &world{estate: e, projects: e.Accounts(), regions: e.Regions(), byName: make(map[string]int)}
	for i, p := range w.projects {
		w.byName["projects/"+Number(e, p)] = i
	}
	for i, p := range w.projects {
		w.byName["projects/"+p] = i
	}
	return w
}

// consumer is a project as answers name it, by its number where that is known.
func (w *world) consumer(payer string) string {
	if i, ok := w.byName[payer]; ok {
		return "projects/" + Number(w.estate, w.projects[i])
	}
	return payer
}

// scope is a part of the hierarchy: some containers, and every so many of the
// projects.
type scope struct {
	containers     []string
	first, step, n int // projects from the first up to before n
}

// scope finds what a parent has below it, itself included.
func (w *world) scope(parent string) (scope, bool) {
	if parent == Organization {
		return scope{append([]string{Organization}, folders...), 0, 1, len(w.projects)}, true
	}
	if i := slices.Index(folders, parent); i >= 0 {
		return scope{folders[i : i+1], i, len(folders), len(w.projects)}, true
	}
	i, ok := w.byName[parent]
	return scope{nil, i, 1, i + 1}, ok
}

func folderOf(project int) string { return folders[project%len(folders)] }

// ancestors of a project, itself first.
func (w *world) ancestors(project int) []string {
	return []string{"projects/" + Number(w.estate, w.projects[project]), folderOf(project), Organization}
}
