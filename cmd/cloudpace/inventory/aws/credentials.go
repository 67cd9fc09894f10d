package aws

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/processcreds"
	"github.com/aws/smithy-go"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	"github.com/cloudpace/cloudpace/verdict"
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
		fmt.Fprintf(&b, "The last source said: %s\n", verdict.Describe(e.Err))
	}
	var missing config.SharedConfigProfileNotExistError
	switch {
	case errors.As(e.Err, &missing):
		fmt.Fprintf(&b, "Next: name a profile that exists (aws configure list-profiles), or make it: aws configure --profile %s", missing.Profile)
	case e.profile() != "":
		fmt.Fprintf(&b, "Next: give the profile credentials: aws configure --profile %[1]s, or aws configure sso --profile %[1]s", e.profile())
	default:
		b.WriteString("Next: set AWS_PROFILE or use --profile, set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or run: aws configure")
	}
	return b.String()
}

func (e *NoCredentialsError) profile() string { return cmp.Or(e.Profile, os.Getenv("AWS_PROFILE")) }

// CredentialsError says that a source of credentials was found and gave none. Its
// text says why, and what to do about that.
type CredentialsError struct {
	Profile string
	Sources []aws.CredentialSource // that were asked, one through the other
	Err     error
}

// Unwrap gives Err.
func (e *CredentialsError) Unwrap() error { return e.Err }

// Error tells the cause and what to do about it.
func (e *CredentialsError) Error() string {
	what, next := e.advice()
	return fmt.Sprintf("the AWS credentials of profile %q cannot be had: %s\nNext: %s", profileName(e.Profile), what, next)
}

// advice words the cause, and what helps against it.
func (e *CredentialsError) advice() (what, next string) {
	profile := profileName(e.Profile)
	what = verdict.Describe(e.Err)
	var mfa config.AssumeRoleTokenProviderNotSetError
	if errors.As(e.Err, &mfa) {
		return "it asks for an MFA code (mfa_serial), and cloudpace does not ask for one", fmt.Sprintf(
			`get temporary credentials first, then run this without the profile: eval "$(aws configure export-credentials --profile %s --format env)"`, profile)
	}
	var process *processcreds.ProviderError
	var output *processOutputError
	var api smithy.APIError
	reason := inventory.ReasonOf(Provider, e.Err)
	asked := func(list ...aws.CredentialSource) bool {
		return slices.ContainsFunc(list, func(s aws.CredentialSource) bool { return slices.Contains(e.Sources, s) })
	}
	switch {
	case errors.As(e.Err, &output), errors.As(e.Err, &process):
		next = "run the profile's credential_process by itself; it has to end well and to print nothing but JSON with Version, AccessKeyId and SecretAccessKey"
	case reason == inventory.Unreachable:
		next = "see whether this machine reaches that host, and whether HTTPS_PROXY is right"
	case reason == inventory.Throttled:
		next = "try again in a minute"
	case reason == inventory.AccessDenied && asked(aws.CredentialSourceSTSAssumeRole, aws.CredentialSourceProfileSTSWebIDToken, aws.CredentialSourceEnvVarsSTSWebIDToken):
		next = "have the role trust who asks for it, or name another role"
	case asked(aws.CredentialSourceSSO, aws.CredentialSourceSSOLegacy):
		next = "log in: aws sso login --profile " + profile
	case asked(aws.CredentialSourceLogin):
		next = "log in: aws login --profile " + profile
	case asked(aws.CredentialSourceProfileSTSWebIDToken, aws.CredentialSourceEnvVarsSTSWebIDToken):
		next = "see whether the web identity token file can be read and its token is still good"
	case errors.As(e.Err, &api):
		next = "renew the credentials that the role is assumed with: aws configure --profile NAME, for the source_profile of " + profile
	default:
		next = "see what the AWS CLI says of it: aws sts get-caller-identity --profile " + profile
	}
	return what, next
}

func profileName(named string) string { return cmp.Or(named, os.Getenv("AWS_PROFILE"), "default") }

// discreet asks a source of credentials and keeps what it printed to itself: the
// SDK's error about the output of a credential_process has that output in it, and
// so the keys. It stays in front of the source for the refreshes during a run.
type discreet struct {
	aws.CredentialsProvider
	profile string
}

// Retrieve asks the source.
func (d discreet) Retrieve(ctx context.Context) (aws.Credentials, error) {
	c, err := d.CredentialsProvider.Retrieve(ctx)
	var process *processcreds.ProviderError
	if errors.As(err, &process) && !harmless(process.Err) {
		err = &processOutputError{profileName(d.profile)}
	}
	return c, err
}

// ProviderSources tells the SDK, for its user agent, what the source is.
func (d discreet) ProviderSources() []aws.CredentialSource {
	if s, ok := d.CredentialsProvider.(aws.CredentialProviderSource); ok {
		return s.ProviderSources()
	}
	return nil
}

// lastResort tells whether nothing was configured, so that the SDK asked the
// machine it runs on.
func (d discreet) lastResort() bool {
	return slices.Equal(d.ProviderSources(), []aws.CredentialSource{aws.CredentialSourceIMDS})
}

// harmless tells the errors about a credential_process that are known to have
// nothing of its output in them.
func harmless(err error) bool {
	var exit *exec.ExitError
	var start *exec.Error
	if errors.As(err, &exit) || errors.As(err, &start) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return true
	}
	switch err.Error() {
	case "wrong version in process output (not 1)", "missing AccessKeyId in process output", "missing SecretAccessKey in process output",
		"failed to prepare command: command must not be empty":
		return true
	}
	return false
}

// processOutputError stands for an error that repeats what a program printed.
type processOutputError struct{ profile string }

// Error says what was wrong without showing it.
func (e *processOutputError) Error() string {
	return fmt.Sprintf("the credential_process of profile %q did not print JSON that the AWS SDK reads (what it printed is not shown)", e.profile)
}

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
