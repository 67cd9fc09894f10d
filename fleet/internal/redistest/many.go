package redistest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Watched is a master with replicas, and the sentinels that watch them.
type Watched struct {
	Servers   []*Server // the first is the master at the beginning
	Sentinels []*Server
}

// Sentinel starts a master, two replicas and three sentinels.
func Sentinel(t testing.TB) *Watched {
	t.Helper()
	w := &Watched{}
	master := Start(t)
	w.Servers = []*Server{master}
	for range 2 {
		w.Servers = append(w.Servers, Start(t, "--replicaof", fmt.Sprintf("127.0.0.1 %d", master.Port)))
	}
	for range 3 {
		s := prepare(t)
		conf := filepath.Join(s.Dir, "sentinel.conf")
		text := fmt.Sprintf(`port %d
bind 127.0.0.1
sentinel monitor main 127.0.0.1 %d 2
sentinel down-after-milliseconds main 1000
sentinel failover-timeout main 5000
`, s.Port, master.Port)
		if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s.args = []string{conf, "--sentinel"}
		s.Run(t)
		w.Sentinels = append(w.Sentinels, s)
	}
	Eventually(t, "the sentinels know each other and the replicas", func() error {
		for _, s := range w.Sentinels {
			about := s.Info(t, "master0")
			if !strings.Contains(about, "status=ok") || !strings.Contains(about, "slaves=2,sentinels=3") {
				return errors.New(about)
			}
		}
		if n := master.Info(t, "connected_slaves"); n != "2" {
			return fmt.Errorf("%s replicas", n)
		}
		for _, s := range w.Servers[1:] {
			if up := s.Info(t, "master_link_status"); up != "up" {
				return errors.New(up)
			}
		}
		return nil
	})
	return w
}

// URL is where the sentinels are.
func (w *Watched) URL() string {
	var hosts []string
	for _, s := range w.Sentinels {
		hosts = append(hosts, s.Addr)
	}
	return "redis+sentinel://" + strings.Join(hosts, ",") + "/main"
}

// FailOver makes another server the master, and waits until it is and no other.
func (w *Watched) FailOver(t testing.TB) {
	t.Helper()
	before := w.master(t)
	Eventually(t, "the failover begins", func() error {
		c := w.Sentinels[0].client()
		defer c.Close()
		return c.Do(t.Context(), "sentinel", "failover", "main").Err()
	})
	Eventually(t, "there is another master", func() error {
		if now := w.master(t); now == before {
			return fmt.Errorf("it is still %s", now)
		}
		masters := 0
		for _, s := range w.Servers {
			if s.Info(t, "role") == "master" {
				masters++
			}
		}
		if masters != 1 {
			return fmt.Errorf("there are %d", masters)
		}
		return nil
	})
}

func (w *Watched) master(t testing.TB) string {
	t.Helper()
	return fmt.Sprint(w.Sentinels[0].Do(t, "sentinel", "get-master-addr-by-name", "main"))
}

// Nodes are a cluster.
type Nodes []*Server

// Cluster starts three masters that share all slots.
func Cluster(t testing.TB) Nodes {
	t.Helper()
	var nodes Nodes
	for range 3 {
		nodes = append(nodes, Start(t, "--cluster-enabled", "yes", "--cluster-node-timeout", "2000"))
	}
	for i, n := range nodes {
		n.Do(t, "cluster", "set-config-epoch", i+1)
		n.Do(t, "cluster", "addslotsrange", i*16384/3, (i+1)*16384/3-1)
		if i > 0 {
			nodes[0].Do(t, "cluster", "meet", "127.0.0.1", n.Port)
		}
	}
	for _, n := range nodes {
		Eventually(t, "the cluster is one", func() error {
			text, _ := n.Do(t, "cluster", "info").(string)
			slots, _ := n.Do(t, "cluster", "slots").([]any)
			if !strings.Contains(text, "cluster_state:ok") || !strings.Contains(text, "cluster_known_nodes:3") || len(slots) != 3 {
				return fmt.Errorf("%s%v", text, slots)
			}
			return nil
		})
	}
	return nodes
}

// URL is where the nodes are.
func (n Nodes) URL() string {
	var hosts []string
	for _, s := range n {
		hosts = append(hosts, s.Addr)
	}
	return "redis+cluster://" + strings.Join(hosts, ",")
}

// Move moves a slot to the next node, without what it holds where that is to stay.
func (n Nodes) Move(t testing.TB, key string) {
	t.Helper()
	slot := n[0].Do(t, "cluster", "keyslot", key)
	from := n[n.owner(t, slot.(int64))]
	to := n[(n.owner(t, slot.(int64))+1)%len(n)]
	fromID, toID := from.Do(t, "cluster", "myid"), to.Do(t, "cluster", "myid")
	to.Do(t, "cluster", "setslot", slot, "importing", fromID)
	from.Do(t, "cluster", "setslot", slot, "migrating", toID)
	for {
		keys, _ := from.Do(t, "cluster", "getkeysinslot", slot, 100).([]any)
		if len(keys) == 0 {
			break
		}
		for _, k := range keys {
			from.Do(t, "migrate", "127.0.0.1", to.Port, k, 0, 5000)
		}
	}
	for _, s := range []*Server{to, from} {
		s.Do(t, "cluster", "setslot", slot, "node", toID)
	}
}

// owner gives the index of the node that has a slot.
func (n Nodes) owner(t testing.TB, slot int64) int {
	t.Helper()
	ranges, _ := n[0].Do(t, "cluster", "slots").([]any)
	for _, r := range ranges {
		row := r.([]any)
		if row[0].(int64) <= slot && slot <= row[1].(int64) {
			port := row[2].([]any)[1].(int64)
			for i, s := range n {
				if int64(s.Port) == port {
					return i
				}
			}
		}
	}
	t.Fatalf("nobody has slot %d", slot)
	return 0
}
