package httpbody

import (
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Patience is how long the body of an answer that is an error may take after its
// headers, for those who have to know its kind: ten seconds for at most 64 KiB. No
// provider documents a figure; an error is written at once, and what comes later comes
// from a server or a proxy that has died on the way.
const Patience = 10 * time.Second

// errStalled is what reading comes to where a body did not come.
var errStalled error = stalled{}

type stalled struct{}

func (stalled) Error() string {
	return "the body of the answer did not come within " + Patience.String()
}

// Timeout makes it a time-out to those who ask.
func (stalled) Timeout() bool { return true }

// PeekWithin is [Peek] for a body that may never end: after [Patience] it is closed and
// left behind, and reads as broken off with a time-out after what did arrive. A
// transport's bodies end when they are closed; of any other the read may stay behind for
// as long as the request's context lasts.
func PeekWithin(resp *http.Response, limit int) (head []byte, whole bool, err error) {
	if resp.Body == nil || resp.Body == http.NoBody {
		return nil, true, nil
	}
	body, got, done := resp.Body, &arrived{}, make(chan error, 1)
	go func() {
		_, err := io.Copy(got, io.LimitReader(body, int64(limit)+1))
		done <- err
	}()
	timer := time.NewTimer(Patience)
	defer timer.Stop()
	select {
	case err := <-done:
		return putBack(resp, got.bytes(), limit, err)
	case <-timer.C:
	}
	go func() { _ = body.Close() }() // it may wait for the read
	resp.Body = http.NoBody          // and is not ours to touch
	return putBack(resp, got.bytes(), limit, errStalled)
}

// arrived is what has been read so far.
type arrived struct {
	mu sync.Mutex
	b  []byte
}

func (a *arrived) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.b = append(a.b, p...)
	return len(p), nil
}

func (a *arrived) bytes() []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clip(a.b)
}
