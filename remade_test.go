package cloudpace_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/verdict"
)

// handedOn is what a call ended with; the caller gets an error of its own.
type handedOn struct {
	error
	id string
}

func (e *handedOn) RemadeAs(err error) bool {
	own, ok := err.(*verdict.ResponseError) //nolint:errorlint // each error of a chain is asked about in turn
	return ok && own.Message == e.id
}

// S5.4 where an SDK makes its error anew, after the call is over.
func TestS5_4RemadeErrorsAreKnownAgain(t *testing.T) {
	for _, tc := range []struct {
		id   string
		want int // runs of the outer function
	}{{"mine", 1}, {"another's", 3}} {
		bubble(t, func(t *testing.T, _ func() time.Duration) {
			g := governor(t, nil)
			runs := 0
			err := cloudpace.Do(t.Context(), scope, func(ctx context.Context) error {
				runs++
				inner, err := g.Begin(ctx, scope)
				if err != nil {
					return err
				}
				inner.End(&handedOn{unavailable(), "mine"})
				return fmt.Errorf("failed: %w", &verdict.ResponseError{Provider: "aws", StatusCode: 500, Message: tc.id})
			}, cloudpace.WithGovernor(g), cloudpace.WithMaxRetries(2))
			if err == nil || runs != tc.want {
				t.Errorf("%s: %d runs, %v", tc.id, runs, err)
			}
		})
	}
}
