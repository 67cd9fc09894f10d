package learned_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// Several processes keep one file, and are killed without warning: at any moment it can
// be read, and what each of them wrote is in it.
func TestProcesses(t *testing.T) {
	path := file(t)
	const many = 4
	var running []*exec.Cmd
	for i := range many {
		c := exec.CommandContext(t.Context(), os.Args[0])
		c.Env = append(os.Environ(), writer+"="+path, fmt.Sprintf("%s_AS=p%d", writer, i))
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Process.Kill(); _ = c.Wait() }()
		if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || strings.TrimSpace(line) != "written" {
			t.Fatalf("process %d says %q, %v", i, line, err)
		}
		running = append(running, c)
	}
	for end := time.Now().Add(30 * time.Second); len(read(t, path).Scopes) < many*15 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	for _, c := range running {
		for range 10 {
			read(t, path)
			time.Sleep(time.Millisecond)
		}
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait()
	}
	found := map[string]int{}
	for _, e := range read(t, path).Scopes {
		name, _, _ := strings.Cut(strings.Split(e.Scope, "/")[1], "-")
		found[name]++
	}
	for i := range many {
		if n := found[fmt.Sprintf("p%d", i)]; n < 15 {
			t.Errorf("of process %d the file has %d entries of 20", i, n)
		}
	}
}
