module github.com/cloudpace/cloudpace

go 1.26

require (
	go.uber.org/goleak v1.3.0
	go.yaml.in/yaml/v4 v4.0.0
	pgregory.net/rapid v1.3.0
)
