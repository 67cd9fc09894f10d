package aws

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/config"
)

// NoCredentialsError says that there is nothing to sign requests with. Its text
// names the sources that were tried and what to do next.
type NoCredentialsError struct {
	Profile string
	Err     error // of the source that came closest, if any
}

// Unwrap gives Err.
func (e *NoCredentialsError) Unwrap() error { return e.Err }

// Error names every source and what was found there.
func (e *NoCredentialsError) Error() string {
	var b strings.Builder
	b.WriteString("no AWS credentials. Tried:\n")
	for _, source := range e.sources() {
		fmt.Fprintf(&b, "  - %s\n", source)
	}
	if e.Err != nil {
		fmt.Fprintf(&b, "The last source said: %s\n", e.Err)
	}
	var missing config.SharedConfigProfileNotExistError
	switch {
	case errors.As(e.Err, &missing):
		fmt.Fprintf(&b, "Next: name a profile that exists (aws configure list-profiles), or make it: aws configure --profile %s", missing.Profile)
	case e.profile() != "":
		fmt.Fprintf(&b, "Next: renew the profile (aws sso login --profile %[1]s, or aws configure --profile %[1]s)", e.profile())
	default:
		b.WriteString("Next: set AWS_PROFILE or use --profile, set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or run: aws configure")
	}
	return b.String()
}

func (e *NoCredentialsError) profile() string { return cmp.Or(e.Profile, os.Getenv("AWS_PROFILE")) }

// sources words what the SDK's chain looks at, in its order.
func (e *NoCredentialsError) sources() []string {
	set := func(name string) string {
		if os.Getenv(name) == "" {
			return name + " is not set"
		}
		return name + " is set"
	}
	file := func(env, usual string) string {
		path := cmp.Or(os.Getenv(env), usual)
		if _, err := os.Stat(path); err != nil {
			return path + " is not there"
		}
		return path + " was read"
	}
	profile := fmt.Sprintf("profile %q: %s, %s", cmp.Or(e.profile(), "default"),
		file("AWS_SHARED_CREDENTIALS_FILE", config.DefaultSharedCredentialsFilename()),
		file("AWS_CONFIG_FILE", config.DefaultSharedConfigFilename()))
	var missing config.SharedConfigProfileNotExistError
	if errors.As(e.Err, &missing) {
		return []string{profile + ", and no such profile"} // a profile that was named is the only source
	}
	environment := "environment: " + set("AWS_ACCESS_KEY_ID") + ", " + set("AWS_SECRET_ACCESS_KEY")
	if e.Profile != "" {
		environment = "environment: not looked at, --profile comes first"
	}
	metadata := "instance metadata: no answer, or no role on this machine"
	if strings.EqualFold(os.Getenv("AWS_EC2_METADATA_DISABLED"), "true") {
		metadata = "instance metadata: AWS_EC2_METADATA_DISABLED is set"
	}
	return []string{
		environment,
		"web identity: " + set("AWS_WEB_IDENTITY_TOKEN_FILE"),
		profile,
		"container: " + set("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") + ", " + set("AWS_CONTAINER_CREDENTIALS_FULL_URI"),
		metadata,
	}
}
