package editdistance

import "testing"

func TestOf(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"ec2", "ec2", 0},
		{"netwrok", "network", 1}, {"us-esat-1", "us-east-1", 1},
		{"max_rsp", "max_rps", 1}, {"brust", "burst", 1}, {"kitten", "sitting", 3},
	} {
		if got := Of(c.a, c.b); got != c.want {
			t.Errorf("%q to %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
