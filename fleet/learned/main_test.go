package learned_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/fleet/learned"
	"github.com/cloudpace/cloudpace/verdict"
)

// writer is what makes this program one of many that keep a file; see TestProcesses.
const writer = "CLOUDPACE_TEST_KEEPS"

func TestMain(m *testing.M) {
	if path := os.Getenv(writer); path != "" {
		keepUntilKilled(path, os.Getenv(writer+"_AS"))
		return
	}
	goleak.VerifyTestMain(m)
}

// keepUntilKilled lets calls be refused in scopes of its own, and says so when they are
// in the file.
func keepUntilKilled(path, name string) {
	g, err := cloudpace.New(cloudpace.DefaultConfig())
	if err != nil {
		panic(err)
	}
	learned.Keep(g, learned.Options{Path: path, Every: 5 * time.Millisecond, Warn: func(err error) { fmt.Println("warning:", err) }})
	for n := 0; ; n++ {
		s := cloudpace.Scope{Provider: "aws", Account: fmt.Sprintf("%s-%d", name, n%20), Service: "sqs"}
		c, err := g.Begin(context.Background(), s)
		if err != nil {
			panic(err)
		}
		c.End(&verdict.ResponseError{Provider: "aws", StatusCode: 400, Code: "ThrottlingException"})
		time.Sleep(2 * time.Millisecond)
		if n == 60 {
			fmt.Println("written")
		}
	}
}
