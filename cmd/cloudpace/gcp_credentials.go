package main

import (
	"errors"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory/gcp"
)

// gcpAbsent says that there seems to be nothing to log in to Google Cloud with, nil
// where there is something: a file that the environment names, or the one that gcloud
// writes. It looks only, and where the environment names a file that is not there, that
// is for the one who set it to know. A machine's service account shows nowhere: it takes
// -p gcp.
func gcpAbsent(l looks) error {
	if l.env("GOOGLE_APPLICATION_CREDENTIALS") != "" {
		return nil
	}
	if home, err := l.home(); err == nil {
		if _, err := l.read(gcp.CredentialsFile(l.env, home)); err == nil {
			return nil
		}
	}
	return errors.New(`no Google Cloud credentials. Looked for:
  - a file that GOOGLE_APPLICATION_CREDENTIALS names
  - the file that gcloud auth application-default login writes
Next: gcloud auth application-default login, or try the service account of this machine with -p gcp`)
}
