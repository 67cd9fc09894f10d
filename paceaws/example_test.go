package paceaws_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/smithy-go"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/paceaws"
)

// A config is governed once, and with it every client that is made from it.
func ExampleInstall() {
	cloud := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "<ListUsersResponse><ListUsersResult><Users/></ListUsersResult></ListUsersResponse>")
	}))
	defer cloud.Close()

	// Usually from config.LoadDefaultConfig.
	cfg := aws.Config{
		Region:       "eu-central-1",
		Credentials:  credentials.NewStaticCredentialsProvider("key", "secret", ""),
		BaseEndpoint: aws.String(cloud.URL),
	}
	governor, err := cloudpace.New(cloudpace.DefaultConfig())
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := paceaws.Install(&cfg, paceaws.Account("111122223333"), paceaws.WithGovernor(governor)); err != nil {
		fmt.Println(err)
		return
	}

	_, err = iam.NewFromConfig(cfg).ListUsers(context.Background(), &iam.ListUsersInput{})
	fmt.Println(err)
	for _, scope := range governor.Summary(nil).Scopes {
		fmt.Println(scope.Scope, scope.Calls)
	}
	http.DefaultClient.CloseIdleConnections()
	// Output:
	// <nil>
	// aws/111122223333/aws-global/iam 1
}

// A base config is governed as account "*". The copy that assumes a role gets the
// account whose calls it makes.
func ExampleAccount() {
	var base aws.Config // from config.LoadDefaultConfig
	if err := paceaws.Install(&base); err != nil {
		fmt.Println(err)
	}
	member := base.Copy()
	// member.Credentials = the assumed role's
	if err := paceaws.Install(&member, paceaws.Account("444455556666")); err != nil {
		fmt.Println(err)
	}
	fmt.Println(len(base.APIOptions), len(member.APIOptions))
	// Output: 1 1
}

// Handlers that know the SDK's errors see a throttle; those that know cloudpace's
// see which circuit is open and for how long.
func ExampleInstall_errors() {
	handle := func(err error) string {
		var open *cloudpace.CircuitOpenError
		if errors.As(err, &open) {
			return "come back in " + open.RetryAfter.String()
		}
		var api smithy.APIError
		if errors.As(err, &api) && api.ErrorCode() == "Throttling" {
			return "slow down"
		}
		return "something else"
	}
	fmt.Println(handle(&smithy.GenericAPIError{Code: "Throttling", Message: "Rate exceeded"}))
	// Output: slow down
}
