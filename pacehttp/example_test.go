package pacehttp_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/pacehttp"
)

func ExampleNewTransport() {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked == 1 {
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		fmt.Fprintln(w, "hello")
	}))
	defer server.Close()

	governor, err := cloudpace.New(cloudpace.DefaultConfig())
	if err != nil {
		fmt.Println(err)
		return
	}
	base := http.DefaultTransport.(*http.Transport).Clone()
	defer base.CloseIdleConnections()
	client := &http.Client{Transport: pacehttp.NewTransport(base, func(*http.Request) cloudpace.Scope {
		return cloudpace.Scope{Provider: "github", Account: "my-app", Service: "rest"}
	}, pacehttp.WithGovernor(governor))}

	resp, err := client.Get(server.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	fmt.Printf("%s after %d requests: %s", resp.Status, asked, text)
	fmt.Println(governor.Summary(nil).Messages)
	// Output:
	// 200 OK after 2 requests: hello
	// [github/my-app/*/rest: throttled 1x, slowed to 10.0 rps, 1 retry]
}
