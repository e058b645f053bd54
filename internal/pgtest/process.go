package pgtest

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// binaries finds the directory that has initdb and postgres.
func binaries() (string, error) {
	dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	slices.SortFunc(dirs, func(a, b string) int { return version(b) - version(a) }) // the newest first
	if path, err := exec.LookPath("postgres"); err == nil {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			dirs = append([]string{filepath.Dir(real)}, dirs...)
		}
	}
	for _, dir := range dirs {
		if executable(filepath.Join(dir, "postgres")) && executable(filepath.Join(dir, "initdb")) {
			return dir, nil
		}
	}
	return "", errors.New("there is no postgres with its initdb in PATH or in /usr/lib/postgresql: " +
		"run `make postgres`, or install your system's package of the PostgreSQL server")
}

func version(dir string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(dir)))
	return n
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// unprivileged is the user that the server runs as if this process is root.
func unprivileged() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err1 == nil && err2 == nil {
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
		}
	}
	return nil, errors.New("PostgreSQL does not run as root, and there is neither a user postgres nor nobody")
}

// chown makes the server's user the owner of a directory.
func (s *Server) chown(dir string) error {
	if s.user == nil {
		return nil
	}
	return os.Chown(dir, int(s.user.Uid), int(s.user.Gid))
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// initialise makes the files of a server.
func (s *Server) initialise() error {
	cmd := exec.Command(filepath.Join(s.bin, "initdb"), "-D", s.data(), "-U", "lockstep", "--auth=trust",
		"--no-sync", "-E", "UTF8", "--locale=C")
	cmd.Dir = s.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.user}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return nil
}

// freePort finds an unused port.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// settings turn fsync off: tests kill the process, not the machine, so the page cache survives.
var settings = []string{
	"fsync=off", "full_page_writes=off", "listen_addresses=127.0.0.1", "max_connections=100",
	"logging_collector=off", "log_checkpoints=off", "shared_preload_libraries=pg_stat_statements",
	"deadlock_timeout=200ms",
}

// run starts the server and waits until it says that it is ready.
func (s *Server) run() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	args := []string{"-D", s.data(), "-p", strconv.Itoa(s.port), "-k", s.dir}
	for _, set := range settings {
		if strings.HasPrefix(set, "shared_preload_libraries=") && !s.has("pg_stat_statements") {
			continue
		}
		if s.safe && (set == "fsync=off" || set == "full_page_writes=off") {
			continue
		}
		args = append(args, "-c", set)
	}
	// Killed processes may hold shared memory for a moment longer, which makes the start fail.
	for attempt := 1; ; attempt++ {
		p, err := launch(filepath.Join(s.bin, "postgres"), s.dir, args, s.user, "ready to accept connections")
		if err == nil {
			s.process = p
			return nil
		}
		if attempt == 20 || !strings.Contains(err.Error(), "shared memory") {
			return err
		}
	}
}

// has reports whether a library can be loaded.
func (s *Server) has(library string) bool {
	_, err := os.Stat(filepath.Join(filepath.Dir(s.bin), "lib", library+".so"))
	return err == nil
}

// process is a running server.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{}
}

// Serve starts another server beside PostgreSQL, as the same user, waits until its log says
// that it is ready, and ends it with the test.
func Serve(t testing.TB, path, dir string, args []string, ready string) {
	t.Helper()
	user, err := unprivileged()
	if err != nil {
		t.Fatal(err)
	}
	p, err := launch(path, dir, args, user, ready)
	if err != nil {
		t.Fatalf("start %s: %v", path, err)
	}
	t.Cleanup(func() { p.stop(syscall.SIGTERM) })
}

// launch starts a server that gets a signal when this process ends. The kernel sends it when the
// thread that started the server ends, so that thread is kept until the server has ended.
func launch(path, dir string, args []string, user *syscall.Credential, ready string) (*process, error) {
	p := &process{cmd: exec.Command(path, args...), ended: make(chan struct{})}
	log := &watcher{says: []byte(ready), ready: make(chan struct{})}
	p.cmd.Dir, p.cmd.Stderr = dir, log
	p.cmd.Env = append(os.Environ(), "LC_ALL=C")
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: user, Pdeathsig: syscall.SIGQUIT, Setpgid: true}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer close(p.ended)
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	select {
	case <-log.ready:
		return p, nil
	case <-p.ended:
		return nil, fmt.Errorf("the server ended:\n%s", log.text())
	}
}

// stop ends the server and waits for it.
func (p *process) stop(signal syscall.Signal) {
	target := p.cmd.Process.Pid
	if signal == syscall.SIGKILL {
		target = -target // the process group: all processes of the server
	}
	_ = syscall.Kill(target, signal)
	<-p.ended
}

// watcher reads the server's log, and closes ready when it contains a text.
type watcher struct {
	mu    sync.Mutex
	log   bytes.Buffer
	says  []byte // the text
	ready chan struct{}
	seen  bool
}

// keptLog is how many bytes of the log are kept for error messages.
const keptLog = 64 << 10

func (w *watcher) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.log.Len() < keptLog {
		w.log.Write(b)
	}
	if !w.seen && bytes.Contains(w.log.Bytes(), w.says) {
		w.seen = true
		close(w.ready)
	}
	return len(b), nil
}

func (w *watcher) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.String()
}
