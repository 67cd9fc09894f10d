//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"
)

// moto is a running moto_server.
type moto struct {
	endpoint string
	command  *exec.Cmd
	logFile  string
	ended    chan struct{}
}

var runningOn = regexp.MustCompile(`Running on (http://127\.0\.0\.1:\d+)`)

// startMoto starts moto_server on a port that the system chose, and waits until
// it answers.
func startMoto(ctx context.Context, dir string) (*moto, error) {
	m := &moto{logFile: filepath.Join(dir, "moto.log"), ended: make(chan struct{})}
	log, err := os.Create(m.logFile)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	m.command = exec.CommandContext(ctx, "moto_server", "-H", "127.0.0.1", "-p", "0")
	m.command.Env = clean(dir,
		"PYTHONUNBUFFERED=1",
		"MOTO_EC2_LOAD_DEFAULT_AMIS=false", // the account has only what the seed makes
	)
	m.command.Stdout, m.command.Stderr = log, log
	if err := m.command.Start(); err != nil {
		return nil, fmt.Errorf("starting moto_server: %w", err)
	}
	go func() {
		defer close(m.ended)
		m.command.Wait()
	}()

	deadline := time.NewTimer(time.Minute)
	defer deadline.Stop()
	for {
		if found := runningOn.FindStringSubmatch(m.log()); found != nil {
			m.endpoint = found[1]
			if answers(ctx, m.endpoint+"/moto-api/") {
				return m, nil
			}
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-m.ended:
			return nil, fmt.Errorf("moto_server ended at once:\n%s", m.log())
		case <-deadline.C:
			m.stop()
			return nil, fmt.Errorf("moto_server does not answer after a minute:\n%s", m.log())
		}
	}
}

func answers(ctx context.Context, url string) bool {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// stop ends moto_server and waits until it is gone.
func (m *moto) stop() {
	m.command.Process.Kill()
	<-m.ended
}

func (m *moto) log() string {
	text, err := os.ReadFile(m.logFile)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
