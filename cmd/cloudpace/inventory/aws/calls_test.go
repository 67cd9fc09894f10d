package aws

import (
	"context"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/aws/smithy-go/middleware"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/internal/fakeaws"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

// operationOf gives the operation of a question.
func operationOf(input any) string {
	return strings.TrimSuffix(reflect.TypeOf(input).Elem().Name(), "Input")
}

// sizeOf gives the size of the page that is asked for, 0 where none is.
func sizeOf(input any) int {
	v, ok := member(input, sizeMembers)
	if !ok || v.IsZero() {
		return 0
	}
	v = reflect.Indirect(v)
	if v.Kind() == reflect.String {
		n, _ := strconv.Atoi(v.String())
		return n
	}
	return int(v.Int())
}

// TestCallsFirst: a listing begins with the call, and asks for the page, that the table
// of calls says.
func TestCallsFirst(t *testing.T) {
	_, questions := everyRow(t, fakeaws.Empty)
	for _, k := range Kinds() {
		first := k.Calls
		if k.Calls.Under != nil {
			first = *k.Calls.Under
		}
		q := questions[k.Name].inputs[0]
		if got := operationOf(q); got != first.Operation {
			t.Errorf("%s begins with %s, not %s", k.Name, got, first.Operation)
		}
		if got := sizeOf(q); got != first.Page && got != 0 {
			t.Errorf("%s asks for %d on a page, not %d", k.Name, got, first.Page)
		}
		if got := sizeOf(q); got == 0 && first.Page > 0 && k.Name != "cloudformation_stacks" && k.Name != "sns_topics" {
			t.Errorf("%s asks for no size; whose are the %d?", k.Name, first.Page)
		}
	}
}

// demonstrated are the rows that the demo has something for, which holds the numbers of
// their calls as well.
var demonstrated = []string{"ec2_images", "lambda_functions", "iam_roles", "sqs_queues", "s3_buckets"}

// TestCalls: what is asked of each row is what the table of calls says, each of them at
// least once where there is something to ask about.
func TestCalls(t *testing.T) {
	asked := make(map[string][]string)
	for _, c := range slices.Concat(databaseServices, containerServices, networkServices, otherServices) {
		s := fakeaws.New(t)
		for op, a := range c.on {
			s.On(op, a)
		}
		a := open(t, s, "us-east-1")
		var mu sync.Mutex
		a.cfg.APIOptions = append(slices.Clone(a.cfg.APIOptions), func(stack *middleware.Stack) error {
			return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("recorder",
				func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
					mu.Lock()
					asked[c.task] = append(asked[c.task], operationOf(in.Parameters))
					mu.Unlock()
					return next.HandleInitialize(ctx, in)
				}), middleware.Before)
		})
		tasks := a.Tasks(func(k inventory.Kind) bool { return k.Name == c.task })
		if _, err := inventory.Run(t.Context(), tasks, inventory.Options{Sink: inventory.NewSink(t.TempDir())}); err != nil {
			t.Fatal(err)
		}
	}
	for _, k := range Kinds() {
		got := asked[k.Name]
		if len(got) == 0 {
			if (len(k.Calls.Each) > 0 || k.Calls.Under != nil) && !slices.Contains(demonstrated, k.Name) {
				t.Errorf("no test has something for %s", k.Name)
			}
			continue
		}
		want := []string{k.Calls.Operation}
		for _, a := range k.Calls.Each {
			want = append(want, a.Operation)
		}
		if u := k.Calls.Under; u != nil {
			want = append(want, u.Operation)
		}
		slices.Sort(got)
		slices.Sort(want)
		if got, want = slices.Compact(got), slices.Compact(want); !slices.Equal(got, want) {
			t.Errorf("%s asks %s, the table of calls has %s", k.Name, got, want)
		}
	}
}
