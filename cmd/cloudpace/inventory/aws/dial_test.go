package aws

import (
	"context"
	"errors"
	"net"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

// F09: hosts of a region that take no connection are tried a few times, then spared,
// and tried again later. Other regions, names that do not exist, and callers that
// leave change nothing.
func TestF09DeadRegion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dead, tried := true, 0
		timeout := &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ETIMEDOUT}
		d := newDialer(func(ctx context.Context, _, address string) (net.Conn, error) {
			tried++
			switch host, _, _ := net.SplitHostPort(address); {
			case host == "artifact.me-south-1.amazonaws.com":
				return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
			case dead && placeOf(host) == "me-south-1":
				select {
				case <-time.After(5 * time.Second):
					return nil, timeout
				case <-ctx.Done():
					return nil, ctx.Err()
				}
			}
			a, b := net.Pipe()
			_ = b.Close()
			return a, nil
		})
		dial := func(ctx context.Context, host string) error {
			c, err := d.DialContext(ctx, "tcp", host+":443")
			if err == nil {
				_ = c.Close()
			}
			return err
		}
		start := time.Now()
		for _, host := range []string{"ec2", "sqs", "artifact", "lambda", "rds", "ecs", "eks", "kms"} {
			err := dial(t.Context(), host+".me-south-1.amazonaws.com")
			if err == nil {
				t.Errorf("%s: connected", host)
			}
			if host != "artifact" && inventory.ReasonOf(Provider, err) != inventory.Unreachable {
				t.Errorf("%s: %s: %v", host, inventory.ReasonOf(Provider, err), err)
			}
		}
		if tried != 4 || time.Since(start) != 15*time.Second {
			t.Errorf("%d tries in %s, want 4 in 15s", tried, time.Since(start))
		}
		var spared *deadError
		if err := dial(t.Context(), "sns.me-south-1.amazonaws.com"); !errors.As(err, &spared) || spared.RetryableError() {
			t.Errorf("%v: the SDK would try again", err)
		}
		if err := dial(t.Context(), "ec2.us-east-1.amazonaws.com"); err != nil {
			t.Errorf("another region: %v", err)
		}
		time.Sleep(deadFor)
		dead = false
		for _, host := range []string{"ec2", "sqs"} {
			if err := dial(t.Context(), host+".me-south-1.amazonaws.com"); err != nil {
				t.Errorf("after a while: %v", err)
			}
		}
	})
}

// One dead host is spared by itself: its region's others are not.
func TestF09DeadHost(t *testing.T) {
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	tried := 0
	d := newDialer(func(_ context.Context, _, address string) (net.Conn, error) {
		if host, _, _ := net.SplitHostPort(address); host == "eks.us-east-1.amazonaws.com" {
			tried++
			return nil, refused
		}
		a, b := net.Pipe()
		_ = b.Close()
		return a, nil
	})
	for range 20 {
		if _, err := d.DialContext(t.Context(), "tcp", "eks.us-east-1.amazonaws.com:443"); err == nil {
			t.Error("connected")
		}
	}
	c, err := d.DialContext(t.Context(), "tcp", "ec2.us-east-1.amazonaws.com:443")
	if err != nil || tried != deadAfter {
		t.Fatalf("%v after %d tries", err, tried)
	}
	_ = c.Close()
}

func TestPlaceOf(t *testing.T) {
	for host, want := range map[string]string{
		"ec2.us-east-1.amazonaws.com":          "us-east-1",
		"bucket.s3.eu-central-1.amazonaws.com": "eu-central-1",
		"ec2.cn-north-1.amazonaws.com.cn":      "cn-north-1",
		"ec2.us-gov-west-1.amazonaws.com":      "us-gov-west-1",
		"ec2.eusc-de-east-1.amazonaws.eu":      "eusc-de-east-1",
		"iam.amazonaws.com":                    "iam.amazonaws.com",
		"127.0.0.1":                            "127.0.0.1",
	} {
		if got := placeOf(host); got != want {
			t.Errorf("%s: %s, want %s", host, got, want)
		}
	}
}

// TestLostNames: that a name is not found says that the service is not there as long as
// others are found. On a machine that has lost its network it says nothing.
func TestLostNames(t *testing.T) {
	missing := func(host string) error { return &net.DNSError{Err: "no such host", Name: host, IsNotFound: true} }
	offline := false
	d := newDialer(func(_ context.Context, _, address string) (net.Conn, error) {
		host, _, _ := net.SplitHostPort(address)
		if offline || host == "artifact.us-east-1.amazonaws.com" {
			return nil, missing(host)
		}
		a, b := net.Pipe()
		_ = b.Close()
		return a, nil
	})
	d.lookup = func(_ context.Context, host string) ([]string, error) {
		if offline {
			return nil, missing(host)
		}
		return []string{"127.0.0.1"}, nil
	}
	for _, c := range []struct {
		host    string
		offline bool
		want    inventory.Reason // none is connected
	}{
		{"artifact.us-east-1.amazonaws.com", false, inventory.ServiceNotInRegion}, // nobody was there before
		{"ec2.us-east-1.amazonaws.com", false, ""},
		{"artifact.us-east-1.amazonaws.com", false, inventory.ServiceNotInRegion},
		{"artifact.us-east-1.amazonaws.com", true, inventory.Unreachable},
		{"sqs.us-east-1.amazonaws.com", true, inventory.Unreachable},
		{"ec2.us-east-1.amazonaws.com", true, inventory.Unreachable},
	} {
		offline = c.offline
		conn, err := d.DialContext(t.Context(), "tcp", c.host+":443")
		if conn != nil {
			_ = conn.Close()
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || inventory.ReasonOf(Provider, err) != c.want) {
			t.Errorf("%s, offline %v: %v, want %s", c.host, c.offline, err, c.want)
		}
	}
	if _, err := d.DialContext(t.Context(), "tcp", "sns.us-east-1.amazonaws.com:443"); !is[*deadError](err) {
		t.Errorf("%v: the region is not let be", err)
	}
}

func is[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}
