package config_test

import (
	"fmt"

	"github.com/cloudpace/cloudpace/config"
)

func ExampleParse() {
	cfg, warnings, err := config.Parse([]byte(`
ratelimit:
  aws:
    max_rps: 8
    max_retry: 3
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, w := range warnings {
		fmt.Println("warning:", w)
	}
	aws := cfg.Provider("aws")
	fmt.Println(aws.MaxRPS, aws.Burst, aws.MaxRetries)
	// Output:
	// warning: line 5: ratelimit.aws.max_retry: unknown key, ignored; did you mean max_retries?
	// 8 16 8
}

func ExampleRead() {
	settings := config.Environ([]string{"CLOUDPACE_RATELIMIT__AWS__MAX_RPS=8"}) // os.Environ()
	settings = append(settings, config.Setting{Path: "ratelimit.aws.max_rps", Value: "0", Source: "--max-rps"})
	_, _, err := config.Read("", settings...)
	fmt.Println(err)
	// Output:
	// --max-rps: ratelimit.aws.max_rps is 0 (allowed: a number > 0)
}
