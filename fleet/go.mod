module github.com/cloudpace/cloudpace/fleet

go 1.26

require (
	github.com/cloudpace/cloudpace v0.0.0
	github.com/gofrs/flock v0.13.1
	go.uber.org/goleak v1.3.0
)

require golang.org/x/sys v0.47.0 // indirect

replace github.com/cloudpace/cloudpace => ../
