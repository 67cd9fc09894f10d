package inventory

import (
	"slices"
	"testing"
)

func TestSpread(t *testing.T) {
	var tasks []Task
	for _, service := range []string{"ec2", "ec2", "ec2", "sqs"} {
		for _, region := range []string{"r1", "r2"} {
			tasks = append(tasks, Task{Kind: Kind{Service: service}, Region: region})
		}
	}
	// First one of each service and region, then the second ones, then the third.
	if got, want := Spread(tasks, Task.place), []int{0, 1, 6, 7, 2, 3, 4, 5}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
}

func TestNearest(t *testing.T) {
	known := []string{"compute", "network", "storage", "us-east-1", "us-west-1", "eu-west-1"}
	for name, want := range map[string]string{
		"compte": "compute", "netwrok": "network", "us-esat-1": "us-east-1", "eu-wets-1": "eu-west-1", "storag": "storage", "bananas": "", "": "",
	} {
		if got, ok := Nearest(name, known); got != want || ok != (want != "") {
			t.Errorf("Nearest(%q) = %q, %v, want %q", name, got, ok, want)
		}
	}
}
