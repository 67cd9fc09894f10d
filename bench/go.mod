module github.com/cloudpace/cloudpace/bench

go 1.26.0

require (
	github.com/cloudpace/cloudpace v0.0.0
	github.com/hashicorp/go-retryablehttp v0.7.8
)

require github.com/hashicorp/go-cleanhttp v0.5.2 // indirect

replace github.com/cloudpace/cloudpace => ../
