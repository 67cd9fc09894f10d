package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/cloudpace/cloudpace/verdict"
)

// record is one recorded response.
type record struct {
	ID         json.RawMessage `json:"id"`
	Provider   string          `json:"provider"`
	Service    string          `json:"service"`
	Method     string          `json:"method"`
	URL        string          `json:"url"`
	Status     int             `json:"status"`
	Headers    headers         `json:"headers"`
	Body       body            `json:"body"`
	GRPC       *rpcStatus      `json:"grpc"`
	Error      string          `json:"error"`
	Command    string          `json:"command"`
	ReceivedAt *time.Time      `json:"received_at"`

	url *url.URL // never nil once read
}

// rpcStatus is how a gRPC call ended.
type rpcStatus struct {
	Code     rpcCode         `json:"code"`
	Message  string          `json:"message"`
	Details  json.RawMessage `json:"details"`
	Trailers headers         `json:"trailers"`
}

// readRecord reads one line. With an error the record has at least the id, if
// that can be read.
func readRecord(line []byte, problem error) (*record, error) {
	rec := &record{url: &url.URL{}}
	if problem != nil {
		return rec, problem
	}
	if err := json.Unmarshal(line, rec); err != nil {
		var only struct {
			ID json.RawMessage `json:"id"`
		}
		_ = json.Unmarshal(line, &only)
		return &record{ID: only.ID}, jsonProblem(err)
	}
	rec.Provider = strings.ToLower(strings.TrimSpace(rec.Provider))
	rec.Method = strings.ToUpper(rec.Method)
	if rec.URL != "" {
		u, err := url.Parse(rec.URL)
		if err != nil {
			// The text of an url.Error repeats the URL, which may have secrets.
			var parse *url.Error
			if errors.As(err, &parse) {
				err = parse.Err
			}
			return rec, fmt.Errorf("url: %w", err)
		}
		rec.url = u
	}
	if rec.Status == 0 && rec.GRPC == nil && rec.Error == "" {
		return rec, errors.New("one of status, grpc and error is needed")
	}
	if rec.Status < 0 || rec.Status > 999 {
		return rec, fmt.Errorf("status: %d is none", rec.Status)
	}
	if rec.Provider == "" {
		rec.Provider = rec.guessProvider()
	}
	return rec, nil
}

// jsonProblem words what encoding/json finds for somebody who does not know this
// program's types.
func jsonProblem(err error) error {
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		if kind.Field == "" {
			return fmt.Errorf("a JSON %s where an object is expected", kind.Value)
		}
		return fmt.Errorf("%s: a JSON %s does not fit", kind.Field, kind.Value)
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("not JSON: %w", err)
	}
	return err
}

// failure is the record as the error that a client would have got; nil where
// nothing failed. Successes are errors too: something may be wrong in their body.
func (rec *record) failure() (error, error) {
	var cause error
	if rec.Error != "" {
		if cause = networkError(rec.Error); cause == nil {
			return nil, fmt.Errorf("error: %q is not known", rec.Error)
		}
		if rec.Status == 0 && rec.GRPC == nil {
			return cause, nil
		}
	}
	if rec.GRPC != nil {
		return rec.GRPC.failure(rec, cause)
	}
	return &verdict.ResponseError{
		Provider: rec.Provider, StatusCode: rec.Status, Header: rec.dated(http.Header(rec.Headers)), Body: rec.Body, Err: cause,
	}, nil
}

// dated gives headers a Date, since dates in hints are measured from the moment of
// the answer, which is not now.
func (rec *record) dated(h http.Header) http.Header {
	if rec.ReceivedAt == nil || h.Get("Date") != "" {
		return h
	}
	h = h.Clone()
	if h == nil {
		h = http.Header{}
	}
	h.Set("Date", rec.ReceivedAt.UTC().Format(http.TimeFormat))
	return h
}

func (s *rpcStatus) failure(rec *record, cause error) (error, error) {
	if s.Code.name == "" {
		return nil, errors.New("grpc: code is missing")
	}
	if s.Code.name == "OK" {
		return nil, nil
	}
	status := map[string]any{"code": s.Code.number, "message": s.Message}
	if len(s.Details) > 0 && !bytes.Equal(s.Details, []byte("null")) {
		status["details"] = s.Details
	}
	text, err := json.Marshal(status)
	if err != nil {
		return nil, fmt.Errorf("grpc: %w", err)
	}
	trailers := http.Header(s.Trailers)
	if len(trailers) > 0 {
		trailers = rec.dated(trailers)
	}
	return &verdict.ResponseError{
		Provider: rec.Provider, Code: s.Code.name, Message: s.Message, Header: trailers, Body: text, Err: cause,
	}, nil
}

// networkError makes the error that package net gives for a name.
func networkError(name string) error {
	read := func(err error) error {
		return &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", err)}
	}
	dial := func(err error) error {
		return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", err)}
	}
	switch strings.ToUpper(name) {
	case "ECONNRESET":
		return read(syscall.ECONNRESET)
	case "ECONNABORTED":
		return read(syscall.ECONNABORTED)
	case "EPIPE":
		return &net.OpError{Op: "write", Net: "tcp", Err: os.NewSyscallError("write", syscall.EPIPE)}
	case "ETIMEDOUT":
		return read(syscall.ETIMEDOUT)
	case "ESHUTDOWN":
		return read(syscall.ESHUTDOWN)
	case "ECONNREFUSED":
		return dial(syscall.ECONNREFUSED)
	case "EHOSTUNREACH":
		return dial(syscall.EHOSTUNREACH)
	case "ENETUNREACH":
		return dial(syscall.ENETUNREACH)
	case "EAFNOSUPPORT":
		return dial(syscall.EAFNOSUPPORT)
	case "EMFILE":
		return dial(syscall.EMFILE)
	case "EACCES":
		return dial(syscall.EACCES)
	case "EINVAL":
		return dial(syscall.EINVAL)
	case "EOF":
		return io.EOF
	case "UNEXPECTED_EOF":
		return io.ErrUnexpectedEOF
	case "TIMEOUT":
		return &net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded}
	case "TLS":
		return &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}
	case "DNS_NOT_FOUND":
		return &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", IsNotFound: true}}
	case "CANCELED":
		return context.Canceled
	}
	return nil
}
