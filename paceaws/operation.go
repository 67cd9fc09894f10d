package paceaws

import (
	"context"
	"time"

	"github.com/aws/smithy-go/middleware"

	"github.com/cloudpace/cloudpace"
)

// operation is one API call on its way through the two hooks and the retryer.
// The SDK makes a stack of middlewares for every call, and the operation is
// made with it, so it needs no lookup and no lock: a call's hooks and its
// retryer run in one goroutine, one after the other.
type operation struct {
	*installation
	name  string // of the stack it was made for, the API's operation name
	scope cloudpace.Scope

	call   *cloudpace.Call // nil while, or because, the call is not governed
	inside bool            // a success may tell of a throttle
	off    bool            // not governed: the SDK is to retry as it would alone

	attempts int       // begun so far
	limit    int       // how many the SDK's loop counts to, 0 when not known
	failed   error     // what the last attempt came back with, nil while one is under way
	hint     time.Time // the end of the pause that the last answer asked for, zero without one
	mine     time.Time // the same where no pause of the scope sees to it

	end      error               // why cloudpace ended the loop, as the call's end is reported
	public   error               // the same as the caller gets it
	metadata middleware.Metadata // of the last attempt that was sent
}

// hook is the API option that Install adds. It runs once for every call, before
// the call begins. It never returns an error: that would fail the call.
func (in *installation) hook(stack *middleware.Stack) error {
	if stack.ID() == askID {
		_ = stack.Initialize.Add(&introduction{installation: in}, middleware.Before)
		return nil
	}
	if m, ok := stack.Finalize.Get(callHookID); ok {
		// Options of two configs met in one client. One of them governs the call:
		// the later, as with any other option.
		if earlier, ok := m.(*callHook); ok {
			earlier.installation = in
		}
		return nil
	}
	if _, ok := stack.Finalize.Get(retryID); !ok {
		in.unhooked(stack)
		return nil
	}
	op := &operation{installation: in, name: stack.ID()}
	// Neither can fail: what they are put next to was found.
	_ = stack.Finalize.Insert((*callHook)(op), retryID, middleware.Before)
	_ = stack.Finalize.Insert((*attemptHook)(op), retryID, middleware.After)
	// Right before the deserializer, whose input is kept. Without one, nothing is.
	_ = stack.Deserialize.Insert(bodyHook{}, deserializerID, middleware.After)
	return nil
}

// The SDK's names for its retry loop and for what reads an operation's answer.
const (
	retryID        = "Retry"
	deserializerID = "OperationDeserializer"
)

// unhooked says that a call passes ungoverned. Presigning is meant to: its stack
// has no retry loop because nothing is sent, and for that it has nothing that
// reads an answer either.
func (in *installation) unhooked(stack *middleware.Stack) {
	if _, ok := stack.Deserialize.Get(deserializerID); !ok {
		return
	}
	in.logger().Debug("aws call is not governed: its middleware stack has no retry loop to hook into",
		"operation", stack.ID())
}

type operationKey struct{}

// withOperation makes op known to the retryer, which gets nothing but a context.
// It is a stack value, which nested calls do not see.
func withOperation(ctx context.Context, op *operation) context.Context {
	return middleware.WithStackValue(ctx, operationKey{}, op)
}

// operationOf gives the operation that a retryer is asked for, nil when the call
// did not pass our hooks.
func operationOf(ctx context.Context) *operation {
	op, _ := middleware.GetStackValue(ctx, operationKey{}).(*operation)
	return op
}
