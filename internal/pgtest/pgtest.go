// Package pgtest gives tests a real PostgreSQL: one server per test binary, in a temporary directory,
// and a new database for every test that asks. It never uses a server that is already running, and
// installs nothing: `make postgres` does.
//
// PostgreSQL refuses to run as root; then it runs as the user postgres or nobody. It ends with the
// test process, even if that is killed.
package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Server is the PostgreSQL server of this test binary.
type Server struct {
	dir  string
	bin  string // directory of initdb and postgres
	port int
	safe bool                // it survives a loss of power
	user *syscall.Credential // nil: the user of this process

	mu        sync.Mutex
	process   *process // nil: not started yet
	databases int
}

var (
	once   sync.Once
	shared *Server
	failed error
)

// Start returns the server, and starts it the first time. If PostgreSQL is not installed, the test
// fails rather than being skipped silently.
func Start(t testing.TB) *Server {
	t.Helper()
	once.Do(func() { shared, failed = start(false) })
	if failed != nil {
		t.Fatalf("start PostgreSQL: %v", failed)
	}
	return shared
}

// Main runs the tests of a package and stops the server after them. A package without it
// leaves a directory behind, which the next one removes.
func Main(m interface{ Run() int }) {
	code := m.Run()
	if shared != nil {
		shared.mu.Lock()
		shared.process.stop(syscall.SIGQUIT)
		shared.mu.Unlock()
		_ = os.RemoveAll(shared.dir)
	}
	os.Exit(code)
}

// Launch starts a server for a measurement, with PostgreSQL's default durability. Its files are in the
// folder for temporary files (TMPDIR).
func Launch() (*Server, error) { return start(true) }

// Close ends a server that Launch started, and removes its files.
func (s *Server) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.process.stop(syscall.SIGQUIT)
	_ = os.RemoveAll(s.dir)
}

func start(safe bool) (*Server, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	removeStale()
	s := &Server{bin: bin, safe: safe}
	if s.user, err = unprivileged(); err != nil {
		return nil, err
	}
	if s.dir, err = os.MkdirTemp("", prefix+strconv.Itoa(os.Getpid())+"-"); err != nil {
		return nil, err
	}
	if err := s.chown(s.dir); err != nil {
		return nil, err
	}
	if err := s.initialise(); err != nil {
		return nil, err
	}
	if s.port, err = freePort(); err != nil {
		return nil, err
	}
	return s, s.run()
}

// prefix begins the name of every directory; the process id follows.
const prefix = "lockstep-pg-"

// removeStale removes the directories of processes that are gone.
func removeStale() {
	list, _ := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*"))
	for _, dir := range list {
		number, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), prefix), "-")
		if pid, err := strconv.Atoi(number); err == nil && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			_ = os.RemoveAll(dir)
		}
	}
}

// URL is the address of a database.
func (s *Server) URL(database string) string {
	return fmt.Sprintf("postgres://lockstep@127.0.0.1:%d/%s?sslmode=disable", s.port, database)
}

// Addr is where the server listens.
func (s *Server) Addr() string { return fmt.Sprintf("127.0.0.1:%d", s.port) }

// Database makes a new database and returns its address.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	s.mu.Lock()
	s.databases++
	name := fmt.Sprintf("test%d", s.databases)
	s.mu.Unlock()
	if err := s.admin("CREATE DATABASE " + name); err != nil {
		t.Fatalf("create database: %v", err)
	}
	return s.URL(name)
}

func (s *Server) admin(statement string) error {
	ctx := context.Background()
	c, err := pgx.Connect(ctx, s.URL("postgres"))
	if err != nil {
		return err
	}
	_, err = c.Exec(ctx, statement)
	return errors.Join(err, c.Close(ctx))
}

// Stop ends the server as an operator does: sessions are cut, all is written.
func (s *Server) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.process.stop(syscall.SIGINT)
}

// Kill ends all of the server's processes at once, as a crash does.
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.process.stop(syscall.SIGKILL)
}

// Resume starts the server again at its address.
func (s *Server) Resume(t testing.TB) {
	t.Helper()
	if err := s.run(); err != nil {
		t.Fatalf("start PostgreSQL again: %v", err)
	}
}

// Restart stops the server and starts it again.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	s.Stop()
	s.Resume(t)
}
