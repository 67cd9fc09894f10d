package inventory

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
)

// CheckEndpoint finds what is wrong with the URL of an emulator or a proxy that a token
// is sent to. Over http it has to be on this machine.
func CheckEndpoint(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return errors.New("the endpoint is not a URL like http://localhost:4599")
	case u.User != nil:
		return errors.New("the endpoint has a user or a password in it, which would go nowhere")
	case u.Scheme == "http" && !local(u.Hostname()):
		return fmt.Errorf("endpoint %s: a token would go there unencrypted; over http only this machine is asked", u.Redacted())
	}
	return nil
}

// PlainEndpoint tells whether what is there is asked without TLS: an emulator.
func PlainEndpoint(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Scheme == "http"
}

// local tells whether a host is this machine.
func local(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
