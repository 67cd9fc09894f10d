package pacegcp_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	asset "cloud.google.com/go/asset/apiv1"
	"google.golang.org/api/option"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/pacegcp"
)

// counted is what the governor made of one call that did not succeed.
func wantCounted(t *testing.T, what string, g *cloudpace.Governor, scope string, want bool) {
	t.Helper()
	n := numbers(t, g, scope)
	if is := n.TransientErrors > 0; is != want || (len(g.Summary(nil).Breakers) > 0) != want || slots(g, parent) != 0 {
		t.Errorf("%s: counted %v, want %v: %+v, %+v", what, is, want, n.Totals, g.Summary(nil).Breakers)
	}
}

func opensAtOnce(p *cloudpace.Provider) { unpaced(p); p.BreakerThreshold = 1 }

// S13.6, E15: an attempt that hangs counts against the service although gax ends it at
// about the time when it is cut; a caller's own shorter deadline does not.
func TestS13_6_AHangUnderGaxsDeadlineCounts(t *testing.T) {
	for _, c := range []struct {
		deadline time.Duration // 0: gax's own
		want     bool
	}{{0, true}, {60 * time.Second, true}, {56 * time.Second, true}, {54 * time.Second, false}, {5 * time.Second, false}} {
		within := func(t *testing.T) context.Context {
			if c.deadline == 0 {
				return t.Context()
			}
			ctx, cancel := context.WithTimeout(t.Context(), c.deadline)
			t.Cleanup(cancel)
			return ctx
		}
		bubble(t, func(t *testing.T) {
			g := governor(t, opensAtOnce)
			f := script(reply{hang: true})
			err := getFeed(within(t), inMemory(t, f).governed(t, g))
			if !errors.Is(err, context.DeadlineExceeded) && status.Code(err) != codes.DeadlineExceeded || len(f.arrivals()) != 1 {
				t.Errorf("%v: %v after %d requests", c.deadline, err, len(f.arrivals()))
			}
			wantCounted(t, "gRPC "+c.deadline.String(), g, listScope, c.want)
		})
		bubble(t, func(t *testing.T) {
			g := governor(t, opensAtOnce)
			w := answers(0, "")
			client, err := asset.NewRESTClient(t.Context(), option.WithHTTPClient(&http.Client{Transport: pacegcp.NewTransport(w, pacegcp.WithGovernor(g))}))
			if err != nil {
				t.Fatal(err)
			}
			if err := getFeed(within(t), client); !errors.Is(err, context.DeadlineExceeded) || len(w.times()) != 1 {
				t.Errorf("%v: %v after %d requests", c.deadline, err, len(w.times()))
			}
			wantCounted(t, "REST "+c.deadline.String(), g, listScope, c.want)
		})
		if c.deadline == 0 {
			continue // gax sets a listing none
		}
		bubble(t, func(t *testing.T) {
			g := governor(t, opensAtOnce)
			f := script(reply{hang: true})
			if _, err := list(within(t), inMemory(t, f).client(t), g); err == nil || len(f.arrivals()) != 1 {
				t.Errorf("%v: %v after %d requests", c.deadline, err, len(f.arrivals()))
			}
			wantCounted(t, "a listing "+c.deadline.String(), g, listScope, c.want)
		})
	}
}

// What comes in the last second is the caller's all the same.
func TestS13_6_AnAnswerInTheLastSecond(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, unpaced, func(p *cloudpace.Provider) { p.MaxBackoff = time.Millisecond })
		for given, want := range map[codes.Code]codes.Code{
			codes.OK: codes.OK, codes.NotFound: codes.NotFound, codes.Unavailable: codes.FailedPrecondition,
		} {
			f := script(reply{after: 59500 * time.Millisecond, err: status.Error(given, "late")})
			err := getFeed(t.Context(), inMemory(t, f).governed(t, g))
			if status.Code(err) != want || len(f.arrivals()) != 1 {
				t.Errorf("%v: %v after %d requests", given, err, len(f.arrivals()))
			}
		}
	})
}

// A listing tells the server no deadline that its caller did not set.
func TestS13_6_TheServerIsToldTheCallersDeadlineOnly(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, unpaced)
		f := script(page("", "1"))
		c := inMemory(t, f).client(t)
		if _, err := list(t.Context(), c, g); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		if _, err := list(ctx, c, g); err != nil {
			t.Fatal(err)
		}
		var told []time.Duration
		for _, a := range f.arrivals() {
			told = append(told, a.remaining.Round(time.Second))
		}
		if !slices.Equal(told, []time.Duration{0, 30 * time.Second}) {
			t.Errorf("told %v", told)
		}
	})
}

// E15: the server keeps the caller's deadline too, and may say so a little earlier. That
// is the caller's own end; a DEADLINE_EXCEEDED long before is the service's.
func TestE15_TheServerKeepsTheCallersDeadline(t *testing.T) {
	expires := func(after time.Duration) reply {
		return reply{after: after, err: status.Error(codes.DeadlineExceeded, "deadline exceeded")}
	}
	for _, c := range []struct {
		after time.Duration
		want  bool // it counts
	}{{990 * time.Millisecond, false}, {920 * time.Millisecond, false}, {500 * time.Millisecond, true}} {
		for name, call := range map[string]func(context.Context, *testing.T, *endpoint, *cloudpace.Governor) error{
			"a call": func(ctx context.Context, t *testing.T, e *endpoint, g *cloudpace.Governor) error {
				return getFeed(ctx, e.governed(t, g))
			},
			"a write": func(ctx context.Context, t *testing.T, e *endpoint, g *cloudpace.Governor) error {
				return createFeed(ctx, e.governed(t, g))
			},
			"a listing": func(ctx context.Context, t *testing.T, e *endpoint, g *cloudpace.Governor) error {
				_, err := list(ctx, e.client(t), g)
				return err
			},
			"a stream": func(ctx context.Context, t *testing.T, e *endpoint, g *cloudpace.Governor) error {
				s, err := open(ctx, connect(t, e, g), &tailDesc, tailMethod)
				if err == nil {
					_, err = drain(s)
				}
				return err
			},
			"a call within a Do": func(ctx context.Context, t *testing.T, e *endpoint, g *cloudpace.Governor) error {
				c := e.governed(t, g)
				scope := cloudpace.Scope{Provider: "gcp", Account: parent, Service: "cloudasset"}
				return cloudpace.Do(ctx, scope, func(ctx context.Context) error { return getFeed(ctx, c) }, cloudpace.WithGovernor(g))
			},
		} {
			bubble(t, func(t *testing.T) {
				g := governor(t, opensAtOnce, func(p *cloudpace.Provider) { p.MaxRetries = 0 })
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				err := call(ctx, t, inMemory(t, script(expires(c.after))), g)
				if err == nil {
					t.Errorf("%s: no error", name)
				}
				scope := listScope
				if name == "a stream" {
					scope = tailScope
				}
				wantCounted(t, name+" after "+c.after.String(), g, scope, c.want)
			})
		}
	}
}
