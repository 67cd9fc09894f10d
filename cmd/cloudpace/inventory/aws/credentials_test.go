package aws

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/internal/fakeaws"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

// profile makes a configuration file with one profile, "audit", and takes other
// credentials out of the environment.
func profile(t *testing.T, lines ...string) {
	t.Helper()
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} {
		if err := os.Unsetenv(name); err != nil {
			t.Fatal(err)
		}
	}
	text := "[profile audit]\n" + strings.Join(lines, "\n") + "\n"
	if err := os.WriteFile(os.Getenv("AWS_CONFIG_FILE"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestCredentialsErrors: what is wrong with a source that was found, and the
// command that mends it, each cause with its own.
func TestCredentialsErrors(t *testing.T) {
	role := []string{"region = us-east-1", "role_arn = arn:aws:iam::111122223333:role/Audit", "source_profile = audit", "aws_access_key_id = a", "aws_secret_access_key = s"}
	sso := []string{"sso_session = corp", "sso_account_id = 111122223333", "sso_role_name = Audit", "[sso-session corp]", "sso_region = us-east-1", "sso_start_url = https://example.com"}
	for _, c := range []struct {
		name    string
		profile []string
		env     string // set to value
		value   string
		says    []string
	}{
		{"MFA", append(role, "mfa_serial = arn:aws:iam::111122223333:mfa/me"), "", "", []string{"mfa_serial", "aws configure export-credentials --profile audit --format env"}},
		{"not logged in", sso, "", "", []string{"aws sso login --profile audit"}},
		{"not logged in, the other way", []string{"login_session = me"}, "", "", []string{"aws login --profile audit"}},
		{"process fails", []string{"credential_process = exit 3"}, "", "", []string{"exit status 3", "run the profile's credential_process"}},
		{"process prints no key", []string{`credential_process = echo '{"Version":1}'`}, "", "", []string{"missing AccessKeyId", "run the profile's credential_process"}},
		{"role denied", role, "", "", []string{"AccessDenied", "have the role trust"}},
		{"token file missing", []string{"role_arn = arn:aws:iam::111122223333:role/Audit", "web_identity_token_file = /nowhere"}, "", "", []string{"/nowhere", "token file can be read"}},
		{"nobody there", []string{"region = us-east-1"}, "AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://127.0.0.1:1/", []string{"refused", "reaches that host"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := fakeaws.New(t)
			s.On("sts.AssumeRole", fakeaws.Fail(http.StatusForbidden, "AccessDenied"))
			profile(t, c.profile...)
			t.Setenv("HOME", t.TempDir()) // where tokens of log-ins are
			t.Setenv("AWS_MAX_ATTEMPTS", "1")
			t.Setenv("AWS_ENDPOINT_URL_STS", s.URL)
			if c.env != "" {
				t.Setenv(c.env, c.value)
			}
			_, err := Open(t.Context(), Options{Profile: "audit", Endpoint: s.URL, Governor: governor(t)})
			var failed *CredentialsError
			if !errors.As(err, &failed) {
				t.Fatalf("got %v", err)
			}
			for _, want := range append(c.says, `profile "audit"`, "Next: ") {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error does not say %q:\n%s", want, err)
				}
			}
			if strings.Contains(err.Error(), "no AWS credentials") || strings.Contains(err.Error(), "TokenProvider") {
				t.Errorf("the error misleads:\n%s", err)
			}
		})
	}
}

// TestProcessOutputHidden: what a credential_process prints has keys in it, and
// is shown nowhere: neither at the start nor in a record, when it is run again in
// the middle of a run.
func TestProcessOutputHidden(t *testing.T) {
	const good = `{"Version":1,"AccessKeyId":"AKIAHIDDEN","SecretAccessKey":"hunter2","SessionToken":"hunter3","Expiration":"2020-01-01T00:00:00Z"}`
	hidden := func(t *testing.T, text string) {
		t.Helper()
		if !strings.Contains(text, `credential_process of profile "audit" did not print JSON`) {
			t.Errorf("the cause is not said: %s", text)
		}
		for _, secret := range []string{"hunter", "AKIAHIDDEN"} {
			if strings.Contains(text, secret) {
				t.Errorf("%q is shown: %s", secret, text)
			}
		}
	}
	for name, bad := range map[string]string{
		"a line too many": "Refreshing...\n" + good,
		"a wrong type":    `{"Version":1,"SecretAccessKey":"hunter2","AccessKeyId":7}`,
		"a wrong time":    strings.Replace(good, "2020-01-01", "hunter2", 1),
	} {
		t.Run(name, func(t *testing.T) {
			s := fakeaws.New(t)
			dir := t.TempDir()
			for file, text := range map[string]string{"good": good, "bad": bad, "n": "1",
				"run": `cd ` + dir + `; n=$(cat n); echo $((n+1)) >n; if [ $n -le $1 ]; then cat good; else cat bad; fi`} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			profile(t, "credential_process = sh "+dir+"/run 0")
			_, err := Open(t.Context(), Options{Profile: "audit", Endpoint: s.URL, Governor: governor(t)})
			if err == nil {
				t.Fatal("no error")
			}
			hidden(t, err.Error())

			// Credentials that have expired are asked for again with every call: at the
			// start, for the caller and the regions, and then by the task.
			if err := os.WriteFile(filepath.Join(dir, "n"), []byte("1"), 0o600); err != nil {
				t.Fatal(err)
			}
			profile(t, "credential_process = sh "+dir+"/run 3")
			a, err := Open(t.Context(), Options{Profile: "audit", Endpoint: s.URL, Regions: []string{"us-east-1"}, Governor: governor(t)})
			if err != nil {
				t.Fatal(err)
			}
			tasks := a.Tasks(func(k inventory.Kind) bool { return k.Name == "sqs_queues" })
			records, err := inventory.Run(t.Context(), tasks, inventory.Options{Sink: inventory.NewSink(t.TempDir())})
			if err != nil || records[0].Reason != inventory.CredentialsExpired {
				t.Fatalf("record %+v (%v), want credentials_expired", records[0], err)
			}
			hidden(t, records[0].Error)
		})
	}
}

// TestStartRegion: the partition of what is to be read decides where the account
// is asked about itself.
func TestStartRegion(t *testing.T) {
	china, public := "arn:aws-cn:iam::111122223333:role/Audit", "arn:aws:iam::111122223333:role/Audit"
	for _, c := range []struct {
		configured, role string
		regions          []string
		want             string
	}{
		{"", "", nil, "us-east-1"},
		{"eu-west-1", "", []string{"all"}, "eu-west-1"},
		{"xx-new-1", "", nil, "xx-new-1"},
		{"eu-west-1", "", []string{"us-west-2"}, "eu-west-1"},
		{"eu-west-1", "", []string{"cn-northwest-1"}, "cn-northwest-1"},
		{"", "", []string{"eu-south-1", "us-west-2"}, "us-west-2"}, // the first may not be enabled
		{"", "", []string{"eu-south-1"}, "us-east-1"},
		{"", china, nil, "cn-north-1"},
		{"eu-west-1", china, []string{"all"}, "cn-north-1"},
		{"cn-northwest-1", china, nil, "cn-northwest-1"},
		{"", china, []string{"cn-northwest-1"}, "cn-northwest-1"},
		{"eu-west-1", public, nil, "eu-west-1"},
		{"xx-new-1", public, nil, "xx-new-1"},
	} {
		if got := startRegion(c.configured, Options{RoleARN: c.role, Regions: c.regions}); got != c.want {
			t.Errorf("configured %q, role %q, regions %v: %s, want %s", c.configured, c.role, c.regions, got, c.want)
		}
	}
}
