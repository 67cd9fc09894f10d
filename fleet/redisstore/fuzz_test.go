package redisstore

import (
	"strings"
	"testing"
	"unicode"

	"github.com/cloudpace/cloudpace/fleet"
)

// Whatever a URL is, it is read or refused, and its password is in neither name nor error.
func FuzzParse(f *testing.F) {
	for _, url := range []string{
		"redis://:hunter2@host/3", "rediss://a:hunter2@host:1", "unix://:hunter2@/x?db=2", "redis+cluster://a,b:2,[::1]:3",
		"redis+sentinel://a:hunter2@b,c/main?db=1&sentinel_password=hunter2", "redis://hunter2@", "redis://:hunter/2@host", "redis://:hunter?2@host",
		"redis://:hunter#2@host", "redis://a:1?hunter2@host",
	} {
		f.Add(url)
	}
	f.Fuzz(func(t *testing.T, url string) {
		target, err := parse(url)
		if err != nil {
			if strings.Contains(url, "hunter2") && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%q: %v", url, err)
			}
			return
		}
		password, _ := target.user.Password()
		secret := strings.ContainsFunc(password, unicode.IsLetter) && len(password) > 12
		if secret && strings.Contains(target.server, password) && strings.Count(url, password) == 1 {
			t.Errorf("%q is called %q", url, target.server)
		}
		if len(target.hosts) == 0 || target.db < 0 {
			t.Errorf("%q: %+v", url, target)
		}
	})
}

// Answers that no script of ours gives are errors.
func FuzzReplies(f *testing.F) {
	f.Add("3 -10 0 20 100 1 0 0 0", "cause", "x")
	f.Add("20 20 100 99.5 0 0 0", "", "a")
	f.Add("6", "member", "3")
	f.Add("id", "1000", `{"name":"a"}`)
	f.Add("1 1 1 NaN inf 1 1 1 1", "", "")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		for _, reply := range [][]string{nil, {a}, {a, b}, {a, b, c}} {
			if g, err := readGrant(reply); err == nil && (len(reply) != 2 || g.Every < 0 || g.Again < 0 || g.Paused < 0 || !(g.Rate > 0)) {
				t.Errorf("%q: %+v", reply, g)
			}
			var st fleet.Status
			_ = readBucket(&st, "x", reply)
			_ = readSlots(&st, "x", reply)
			_ = readMembers(&st, reply)
		}
	})
}
