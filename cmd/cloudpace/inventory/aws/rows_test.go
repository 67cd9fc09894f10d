package aws

import (
	"context"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/smithy-go/middleware"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/internal/fakeaws"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

// asked is what a row sent.
type asked struct {
	inputs []any // one for each call
	scopes []string
}

type rowKey struct{}

// everyRow runs all rows in us-east-1 against a server that gives the same
// answer to all of them, and gives each one's record and questions.
func everyRow(t *testing.T, answer fakeaws.Answer) (map[string]inventory.Record, map[string]*asked) {
	t.Helper()
	s := fakeaws.New(t)
	s.Otherwise(answer)
	a := open(t, s, "us-east-1")
	g := governor(t)
	var mu sync.Mutex
	questions := make(map[string]*asked)
	a.cfg.APIOptions = append(slices.Clone(a.cfg.APIOptions), func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("recorder",
			func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
				mu.Lock()
				q := questions[ctx.Value(rowKey{}).(string)]
				q.inputs = append(q.inputs, in.Parameters)
				mu.Unlock()
				return next.HandleInitialize(ctx, in)
			}), middleware.Before)
	})
	tasks := a.Tasks(func(inventory.Kind) bool { return true })
	for i, task := range tasks {
		q := &asked{}
		questions[task.Name] = q
		tasks[i].Read = func(ctx context.Context, out *inventory.Output) error {
			ctx, stats := cloudpace.WithStats(context.WithValue(ctx, rowKey{}, task.Name))
			err := task.Read(ctx, out)
			for _, scope := range g.Summary(stats).Scopes {
				q.scopes = append(q.scopes, scope.Scope)
			}
			return err
		}
	}
	list, err := inventory.Run(t.Context(), tasks, inventory.Options{Sink: inventory.NewSink(t.TempDir())})
	if err != nil {
		t.Fatal(err)
	}
	records := make(map[string]inventory.Record)
	for _, r := range list {
		records[r.Task] = r
	}
	return records, questions
}

// These are the members of questions by which APIs take a page's token, and its
// size.
var (
	tokenMembers = []string{"NextToken", "Marker", "Position", "ContinuationToken", "PaginationToken", "ExclusiveStartTableName", "StartRecordName"}
	sizeMembers  = []string{"MaxResults", "MaxRecords", "MaxItems", "PageSize", "Limit", "MaxBuckets", "ResourcesPerPage"}
)

// member gives the first of the members that a question can have.
func member(input any, names []string) (reflect.Value, bool) {
	v := reflect.ValueOf(input).Elem()
	for _, name := range names {
		if f := v.FieldByName(name); f.IsValid() {
			return f, true
		}
	}
	return reflect.Value{}, false
}

// TestEveryRowEmpty: an account with nothing in it is read completely, with one
// question in a protocol that emulators and proxies read, counted under the
// service the row names. An API that takes a page's size is given one: some have
// no pages without, or end after the first, and EC2's quota for such calls is
// lower.
func TestEveryRowEmpty(t *testing.T) {
	records, questions := everyRow(t, fakeaws.Empty)
	if len(records) != len(table) {
		t.Errorf("%d records for %d rows", len(records), len(table))
	}
	for _, k := range Kinds() {
		r, q := records[k.Name], questions[k.Name]
		if r.Status != inventory.Success || r.Assets != 0 || r.Pages != 1 || len(q.inputs) != 1 {
			t.Errorf("%s asked %d times: %+v", k.Name, len(q.inputs), r)
			continue
		}
		if size, ok := member(q.inputs[0], sizeMembers); ok && size.IsZero() {
			t.Errorf("%s does not say how large a page of %T is to be", k.Name, q.inputs[0])
		}
		if len(q.scopes) != 1 || !strings.HasSuffix(q.scopes[0], "/"+k.Service) {
			t.Errorf("%s is of service %s; its calls were counted under %s", k.Name, k.Service, q.scopes)
		}
		if global := strings.Contains(q.scopes[0], "/aws-global/"); global && !k.Global {
			t.Errorf("%s would ask a global service in every region", k.Name)
		}
	}
}

// TestEveryRowDenied: what may not be asked is never shown as empty.
func TestEveryRowDenied(t *testing.T) {
	records, _ := everyRow(t, fakeaws.Fail(403, "AccessDenied"))
	for _, k := range Kinds() {
		if r := records[k.Name]; r.Status != inventory.Failed || r.Reason != inventory.AccessDenied || r.Assets != 0 || r.Error == "" {
			t.Errorf("%s: %+v, want FAILED access_denied", k.Name, r)
		}
	}
}

// TestEveryRowUnsupported: an emulator that does not have an API gives an honest
// record, not an empty one.
func TestEveryRowUnsupported(t *testing.T) {
	records, _ := everyRow(t, fakeaws.Fail(501, "NotImplemented"))
	for _, k := range Kinds() {
		if r := records[k.Name]; r.Status != inventory.Failed || r.Reason != inventory.NotSupported {
			t.Errorf("%s: %+v, want FAILED not_supported", k.Name, r)
		}
	}
}

// TestEveryRowRepeatedToken: a row of an API that has pages follows them, and
// ends when a token comes again; that end is not taken for one of the listing.
func TestEveryRowRepeatedToken(t *testing.T) {
	records, questions := everyRow(t, fakeaws.Again)
	var unpaged []string
	for _, k := range Kinds() {
		r, q := records[k.Name], questions[k.Name]
		if len(q.inputs) == 0 {
			t.Errorf("%s asked nothing: %+v", k.Name, r)
			continue
		}
		if _, pages := member(q.inputs[0], tokenMembers); !pages {
			unpaged = append(unpaged, k.Name)
			// To some this answer has nothing in it of what they promise.
			if r.Status != inventory.Success && r.Reason != inventory.Protocol || len(q.inputs) != 1 {
				t.Errorf("%s asked %d times without pages: %+v", k.Name, len(q.inputs), r)
			}
			continue
		}
		if r.Status != inventory.Partial || r.Reason != inventory.Truncated || r.Pages != 2 || len(q.inputs) != 2 {
			t.Errorf("%s asked %d times: %+v, want PARTIAL truncated after 2 pages", k.Name, len(q.inputs), r)
			continue
		}
		if token, _ := member(q.inputs[1], tokenMembers); token.IsZero() {
			t.Errorf("%s does not hand on the token: %+v", k.Name, q.inputs[1])
		}
	}
	t.Logf("without pages: %s", unpaged)
}

// TestDocumented: docs/map.md has every row, with its family and types.
func TestDocumented(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/map.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := make(map[string]string)
	for line := range strings.Lines(string(text)) {
		if name, rest, ok := strings.Cut(strings.TrimPrefix(line, "| `"), "` |"); ok && strings.HasPrefix(line, "| `") {
			lines[name] = rest
		}
	}
	for _, k := range Kinds() {
		line, ok := lines[k.Name]
		if !ok {
			t.Errorf("docs/map.md has no row for %s", k.Name)
			continue
		}
		want := append([]string{" " + k.Family + " |"}, k.Types...)
		if k.Global {
			want = append(want, "once per account")
		}
		for _, w := range append(want, k.Covers) {
			if k.Name != "tagging_sweep" && !strings.Contains(line, w) {
				t.Errorf("docs/map.md says of %s %q, without %q", k.Name, strings.TrimSpace(line), w)
			}
		}
	}
	for _, family := range inventory.Families(Kinds()) {
		if !strings.Contains(string(text), fmt.Sprintf("`%s`", family)) {
			t.Errorf("docs/map.md does not have the family %s", family)
		}
	}
}

// TestTypesOfARNs: the sweep knows what the rows list, by the ARNs, so that
// nothing is there twice.
func TestTypesOfARNs(t *testing.T) {
	known := make(map[string]bool)
	for typ := range maps.Values(typeByARN) {
		known[typ] = true
	}
	for _, k := range Kinds() {
		for _, typ := range k.Types {
			switch typ {
			case "AWS::CloudWatch::CompositeAlarm", "AWS::CloudWatch::LogAlarm": // as any alarm's
			case "AWS::Route53::RecordSet": // has none
			default:
				if !known[typ] {
					t.Errorf("%s lists %s, which no ARN is known for: the sweep would list it again", k.Name, typ)
				}
			}
		}
	}
}
