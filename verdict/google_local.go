package verdict

import "strings"

// This file reads the statuses that gRPC's client library makes itself, without an
// answer of the server. It puts what it met into the text alone, so words are all there
// is to go by (google.golang.org/grpc: rpc_util, clientconn, internal/transport,
// balancer/pickfirst).

// googleUnavailable: sent by the server it asks for less; made by the client
// library because no connection stands, it does not (S13.4).
func googleUnavailable(ev *evidence) (Kind, string, bool) {
	text := ev.words()
	if ev.status != 0 || !ev.local && (len(ev.header) > 0 || !localStatusText(text)) {
		return Throttled, "sent by the server", true
	}
	// Where only the words say so, they may be those of a server that has met this
	// behind itself, and which has done a part of its work.
	sure := ev.local
	ev.local = true
	kind, why, unconnected := connecting(text)
	ev.net.neverMade = ev.net.neverMade || sure && unconnected
	return kind, join("made locally, without an answer", why), true
}

// googleInternal: a request that cannot be encoded is never sent, and is no better the
// next time.
func googleInternal(ev *evidence) (Kind, string, bool) {
	if ev.status == 0 && (ev.local || len(ev.header) == 0) {
		text := ev.words()
		for _, p := range []string{
			"grpc: error while marshaling", "grpc: error while compressing", "grpc: Compressor is not installed", "no codec registered for",
		} {
			if strings.Contains(text, p) {
				ev.local = true
				return Fatal, "the request cannot be encoded", true
			}
		}
	}
	return Transient, "", true
}

// connecting tells what kept a connection from being made, and whether that is what
// happened. A name that does not exist and a certificate that does not fit stay so, as
// over REST.
func connecting(text string) (kind Kind, why string, unconnected bool) {
	_, handshake, shook := strings.Cut(text, "authentication handshake failed: ")
	switch {
	case shook && (strings.Contains(handshake, "x509: ") || strings.Contains(handshake, "failed to verify certificate")):
		return Fatal, "TLS verification failed", true
	case shook && strings.Contains(handshake, "tls: "):
		return Fatal, "TLS handshake failed", true
	case strings.Contains(text, "produced zero addresses"), strings.Contains(text, "no such host"):
		return Fatal, "unknown host", true
	}
	for _, p := range []string{
		"rror while dialing", "name resolver error", "last connection error:", "last resolver error:",
		"error reading server preface", "failed to write client preface", "connection closed before server preface",
	} {
		if strings.Contains(text, p) {
			return Transient, "", true
		}
	}
	return Transient, "", shook
}

// localStatusText knows the words that the transport puts into an UNAVAILABLE of its
// own, for records that have nothing but the text.
func localStatusText(message string) bool {
	for _, p := range []string{
		"transport is closing", "the connection is draining", "connection error: desc",
		"error reading from server", "closing transport due to", "name resolver error",
		"last connection error:", "while dialing", "connection closed before server preface",
	} {
		if strings.Contains(message, p) {
			return true
		}
	}
	return false
}
