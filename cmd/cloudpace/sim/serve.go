package sim

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"
)

const (
	// A request's head is small and comes at once, once it begins. But net/http counts
	// from the connection's beginning, and clients dial ahead: a connection that is
	// closed because it waited for its first request is a fault that nobody ordered.
	headTimeout = 10 * time.Minute
	// What is not answered then is cut off when the server ends.
	shutdownTimeout = 3 * time.Second
)

// Serve answers on a listener until ctx ends; then requests under way are
// finished, those that hang are ended, and it returns nil. The listener is
// closed in any case.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: headTimeout,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		s.Close()
		return errors.Join(err, server.Close())
	case <-ctx.Done():
	}
	s.Close()
	enough, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	err := server.Shutdown(enough)
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close()
	}
	s.http2.Wait()
	if serving := <-failed; err == nil && !errors.Is(serving, http.ErrServerClosed) {
		err = serving
	}
	return err
}
