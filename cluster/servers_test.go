package cluster

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/pgtest"
)

// program builds the real program, once.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "lockstep-cluster-")
	if err != nil {
		return "", err
	}
	built = dir
	path := filepath.Join(dir, "lockstep")
	if out, err := exec.Command("go", "build", "-o", path, "../cmd/lockstep").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) { pgtest.Main(&cleaner{m}) }

// built is where the program is.
var built string

// cleaner removes the program after the tests.
type cleaner struct{ *testing.M }

func (c *cleaner) Run() int {
	code := c.M.Run()
	if built != "" {
		_ = os.RemoveAll(built)
	}
	return code
}

// server is one process.
type server struct {
	name    string
	cmd     *exec.Cmd
	url     string
	devices string
	api     *client.Client
	ended   chan struct{}
	log     lockedBuffer
}

// lockedBuffer is written by one goroutine and read by others.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// servers are several processes on one database.
type servers struct {
	t        *testing.T
	pg       *pgtest.Server
	database string
	args     []string
	http     *http.Client

	mu  sync.Mutex
	all []*server
}

// patience is how long a request may take: that of a server that is stopped takes for ever.
const patience = 3 * time.Second

func newServers(t *testing.T, n int, args ...string) *servers {
	t.Helper()
	s := &servers{t: t, pg: pgtest.Start(t), args: args, all: make([]*server, n)}
	s.database = s.pg.Database(t)
	s.http = &http.Client{Timeout: patience, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	for i := range n {
		s.up(i)
	}
	s.shared(n)
	return s
}

// up starts a process, at the place of one that ended.
func (s *servers) up(i int) *server {
	s.t.Helper()
	path, err := program()
	if err != nil {
		s.t.Fatal(err)
	}
	p := &server{name: fmt.Sprint("n", i), ended: make(chan struct{})}
	p.cmd = exec.Command(path, append([]string{
		"serve", "--north", "127.0.0.1:0", "--south", "127.0.0.1:0", "--store", s.database, "--node-name", p.name, "--addr-file", "north", "--south-addr-file", "south",
		"--outbound-allow", "127.0.0.1", "--log-level", "error",
	}, s.args...)...)
	p.cmd.Dir, p.cmd.Stderr = s.t.TempDir(), &p.log
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := start(p.cmd); err != nil {
		s.t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	_, err = lines.ReadString('\n') // it serves
	go func() {
		_, _ = io.Copy(io.Discard, lines)
		_ = p.cmd.Wait()
		close(p.ended)
	}()
	s.t.Cleanup(p.kill)
	if err != nil {
		<-p.ended
		s.t.Fatalf("%s did not begin to serve: %v\n%s", p.name, err, p.log.String())
	}
	p.url, p.devices = s.address(p, "north"), s.address(p, "south")
	if p.api, err = client.New(client.Options{URL: p.url, Attempts: 1, HTTP: s.http}); err != nil {
		s.t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[i] = p
	return p
}

// address reads where a side of a process is.
func (s *servers) address(p *server, side string) string {
	text, err := os.ReadFile(filepath.Join(p.cmd.Dir, side))
	if err != nil {
		s.t.Fatal(err)
	}
	return "http://" + strings.TrimSpace(string(text))
}

// start starts a process that ends with this one. The kernel sees to that when the thread
// ends that started it: that one is kept.
func start(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		started <- cmd.Start()
		select {}
	}()
	return <-started
}

// any is one of them, whether it lives or not.
func (s *servers) any() *server {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[rand.IntN(len(s.all))]
}

func (s *servers) at(i int) *server {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[i]
}

// kill ends a process at once, also one that is stopped.
func (p *server) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

func (p *server) signal(t *testing.T, sig syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(sig); err != nil {
		t.Errorf("%s: %v", p.name, err)
	}
}

// shared waits until so many share the work fairly.
func (s *servers) shared(n int) {
	s.t.Helper()
	s.eventually("the nodes share the work", func(ctx context.Context) bool {
		nodes, err := s.at(0).api.ListNodes(ctx)
		all, most := 0, 0
		for _, node := range nodes {
			all, most = all+node.Shards, max(most, node.Shards)
		}
		return err == nil && len(nodes) >= n && all == 64 && most <= (64+n-1)/n
	})
}

// eventually waits for something that may take long where machines are slow.
func (s *servers) eventually(what string, holds func(context.Context) bool) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for !holds(ctx) {
		select {
		case <-again.C:
		case <-ctx.Done():
			for i := range s.all {
				s.t.Logf("%s:\n%s", s.at(i).name, s.at(i).log.String())
			}
			s.t.Fatalf("never: %s", what)
		}
	}
}
