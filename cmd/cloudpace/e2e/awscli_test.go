//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// awsCLI lists with the AWS CLI, which follows pages by itself, what a JMESPath
// query picks from the answer.
func awsCLI(t *testing.T, endpoint, command, query string) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	args := append(strings.Fields(command), "--endpoint-url", endpoint, "--region", region, "--output", "json", "--query", query)
	cmd := exec.CommandContext(ctx, "aws", args...)
	cmd.Env = clean(t.TempDir(), credentials...)
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("aws %s: %v\n%s", command, err, exit.Stderr)
		}
		t.Fatalf("aws %s: %v", command, err)
	}
	var list []string
	if err := json.Unmarshal(out, &list); err != nil {
		t.Fatalf("aws %s: %v\n%s", command, err, out)
	}
	return list
}
