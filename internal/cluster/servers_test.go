package cluster

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/nodetest"
	"github.com/lockstep-workflows/lockstep/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(nodetest.Tests(m)) }

// servers are several processes on one database.
type servers struct {
	t        *testing.T
	pg       *pgtest.Server
	database string
	args     []string
	http     *http.Client

	mu     sync.Mutex
	all    []*nodetest.Node
	harmed map[int]bool // somebody is at it
}

// patience is how long a request may take: that of a server that is stopped takes for ever.
const patience = 3 * time.Second

func newServers(t *testing.T, n int, args ...string) *servers {
	t.Helper()
	s := &servers{t: t, pg: pgtest.Start(t), args: args, all: make([]*nodetest.Node, n), harmed: map[int]bool{}}
	s.database = s.pg.Database(t)
	s.http = &http.Client{Timeout: patience, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	for i := range n {
		s.up(i)
	}
	s.shared(n)
	return s
}

// up starts a process, at the place of one that ended.
func (s *servers) up(i int) {
	s.t.Helper()
	path, err := nodetest.Program()
	if err != nil {
		s.t.Fatal(err)
	}
	n, err := nodetest.Start(nodetest.Config{
		Program: path, Dir: s.t.TempDir(), Name: fmt.Sprint("n", i), Store: s.database, HTTP: s.http, Args: append([]string{"--outbound-allow", "127.0.0.1"}, s.args...),
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(n.Kill)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[i] = n
}

// any is one of them, whether it lives or not.
func (s *servers) any() *nodetest.Node {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[rand.IntN(len(s.all))]
}

func (s *servers) at(i int) *nodetest.Node {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[i]
}

// pick chooses one that nobody else harms until it is let go.
func (s *servers) pick() (i int, letGo func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i = rand.IntN(len(s.all)); s.harmed[i]; i = (i + 1) % len(s.all) {
	}
	s.harmed[i] = true
	return i, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.harmed[i] = false
	}
}

func (s *servers) signal(n *nodetest.Node, sig syscall.Signal) {
	s.t.Helper()
	if err := n.Signal(sig); err != nil {
		s.t.Error(err)
	}
}

// shared waits until so many share the work fairly.
func (s *servers) shared(n int) {
	s.t.Helper()
	s.eventually("the nodes share the work", func(ctx context.Context) bool { return nodetest.Shared(ctx, s.at(0).API, n) })
}

// eventually waits for something that may take long where machines are slow.
func (s *servers) eventually(what string, holds func(context.Context) bool) {
	s.t.Helper()
	if !s.comes(what, holds) {
		s.t.FailNow()
	}
}

// comes is eventually for other goroutines than that of the test: it tells whether it came.
func (s *servers) comes(what string, holds func(context.Context) bool) bool {
	s.t.Helper()
	if s.within(holds) {
		return true
	}
	for i := range s.all {
		s.t.Logf("%s:\n%s", s.at(i).Name, s.at(i).Log())
	}
	s.t.Errorf("never: %s", what)
	return false
}

// within tells whether something holds before a minute is over.
func (s *servers) within(holds func(context.Context) bool) bool {
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for !holds(ctx) {
		select {
		case <-again.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}
