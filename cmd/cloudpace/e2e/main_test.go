//go:build e2e

// Package e2e runs the built command against a real moto_server, an
// implementation of the AWS APIs that nobody of this project wrote, and compares
// what it maps with what the AWS CLI lists. It opens the report in a headless
// Chromium.
//
// It needs moto_server, python3 with boto3, the AWS CLI, gcloud, redis-server and Chromium, and says
// which one is missing. Everything stays on loopback:
//
//	go test -tags e2e ./cmd/cloudpace/e2e
package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

const (
	region  = "us-east-1"
	account = "123456789012" // moto's
)

// The parts that all tests share; none of them changes the seeded account.
var (
	binary   string         // the built command
	browser  string         // a Chromium
	endpoint string         // of moto_server
	seeded   map[string]int // type -> how many the seed made
)

func TestMain(m *testing.M) {
	flag.Parse()
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	for program, use := range map[string]string{
		"redis-server": "processes share their limits through it (apt-get install redis-server)",
		"moto_server":  "it is the AWS that is mapped (pip install 'moto[server]')",
		"python3":      "it seeds moto_server through boto3",
		"aws":          "it lists what is there, to compare with (pip install awscli)",
		"gcloud":       "it lists what is there in the simulated Google Cloud (the Google Cloud CLI)",
	} {
		if _, err := exec.LookPath(program); err != nil {
			return 0, fmt.Errorf("%s is not installed: %s", program, use)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 14*time.Minute)
	defer cancel()
	if browser, err = chromium(); err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "cloudpace-e2e-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()

	binary = filepath.Join(dir, "cloudpace")
	// With the race detector, as everything else under test: a race in the command
	// ends it with exit code 66.
	build := exec.CommandContext(ctx, "go", "build", "-race", "-o", binary, "github.com/cloudpace/cloudpace/cmd/cloudpace")
	if out, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("building the command: %w\n%s", err, out)
	}

	moto, err := startMoto(ctx, dir)
	if err != nil {
		return 0, err
	}
	defer moto.stop()
	endpoint = moto.endpoint

	seed := exec.CommandContext(ctx, "python3", filepath.Join("testdata", "seed.py"), endpoint)
	seed.Env = clean(dir, "PYTHONDONTWRITEBYTECODE=1")
	seed.Stderr = os.Stderr
	out, err := seed.Output()
	if err != nil {
		return 0, fmt.Errorf("seeding moto_server: %w\n%s", err, moto.log())
	}
	if err := json.Unmarshal(out, &seeded); err != nil {
		return 0, fmt.Errorf("what the seed printed: %w", err)
	}
	return m.Run(), nil
}

// clean is an environment without any trace of the user's own credentials,
// configuration or proxies, and without a way to an instance's metadata.
func clean(home string, more ...string) []string {
	env := []string{
		"HOME=" + home,
		"PATH=" + os.Getenv("PATH"),
		"TMPDIR=" + os.TempDir(),
		"AWS_CONFIG_FILE=" + filepath.Join(home, "no-config"),
		"AWS_SHARED_CREDENTIALS_FILE=" + filepath.Join(home, "no-credentials"),
		"AWS_EC2_METADATA_DISABLED=true",
		"NO_PROXY=127.0.0.1",
	}
	// pyenv finds its versions by these.
	for _, name := range []string{"PYENV_ROOT", "PYENV_VERSION"} {
		if v := os.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return append(env, more...)
}
