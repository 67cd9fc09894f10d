package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
)

// looks is how credentials are looked for.
type looks struct {
	env     func(string) string
	read    func(string) ([]byte, error)
	home    func() (string, error)
	program func(string) (string, error)
}

var osLooks = looks{os.Getenv, os.ReadFile, os.UserHomeDir, exec.LookPath}

// azureAbsent says that there seems to be nothing to log in to Azure with, nil where
// there is something: in the environment, or a login of the Azure CLI's or the
// Developer CLI's. It looks only. Whether what is there is good shows when it is used,
// and a virtual machine's managed identity shows nowhere: it takes -p azure.
func azureAbsent(l looks) error {
	if l.azureEnvironment() || l.azureCLI() || l.azureDeveloperCLI() {
		return nil
	}
	return errors.New(`no Azure credentials. Looked for:
  - the environment: AZURE_TENANT_ID and AZURE_CLIENT_ID, with AZURE_CLIENT_SECRET, AZURE_CLIENT_CERTIFICATE_PATH, AZURE_FEDERATED_TOKEN_FILE or a user's name and password
  - a managed identity, as the environment tells of it
  - a login of the Azure CLI or the Azure Developer CLI
Next: az login, or try all that the Azure SDK knows with -p azure`)
}

// azureEnvironment finds what the SDK takes from the environment: a service
// principal, a user, a workload's identity, or the managed identity of a service that
// announces it.
func (l looks) azureEnvironment() bool {
	if l.env("IDENTITY_ENDPOINT") != "" || l.env("MSI_ENDPOINT") != "" {
		return true
	}
	if l.env("AZURE_TENANT_ID") == "" || l.env("AZURE_CLIENT_ID") == "" {
		return false
	}
	return cmp.Or(l.env("AZURE_CLIENT_SECRET"), l.env("AZURE_CLIENT_CERTIFICATE_PATH"), l.env("AZURE_FEDERATED_TOKEN_FILE")) != "" ||
		l.env("AZURE_USERNAME") != "" && l.env("AZURE_PASSWORD") != ""
}

// azureCLI tells whether somebody is logged in with az: then it has a list of
// subscriptions.
func (l looks) azureCLI() bool {
	if _, err := l.program("az"); err != nil {
		return false
	}
	dir := l.env("AZURE_CONFIG_DIR")
	if dir == "" {
		home, err := l.home()
		if err != nil {
			return false
		}
		dir = filepath.Join(home, ".azure")
	}
	text, err := l.read(filepath.Join(dir, "azureProfile.json"))
	if err != nil {
		return false
	}
	var profile struct {
		Subscriptions []json.RawMessage `json:"subscriptions"`
	}
	// The CLI writes the file with a byte order mark.
	return json.Unmarshal(trimMark(text), &profile) == nil && len(profile.Subscriptions) > 0
}

func trimMark(text []byte) []byte {
	if len(text) >= 3 && string(text[:3]) == "\xef\xbb\xbf" {
		return text[3:]
	}
	return text
}

// azureDeveloperCLI tells the same of azd.
func (l looks) azureDeveloperCLI() bool {
	if _, err := l.program("azd"); err != nil {
		return false
	}
	dir := l.env("AZD_CONFIG_DIR")
	if dir == "" {
		home, err := l.home()
		if err != nil {
			return false
		}
		dir = filepath.Join(home, ".azd")
	}
	_, err := l.read(filepath.Join(dir, "auth.json"))
	return err == nil
}
