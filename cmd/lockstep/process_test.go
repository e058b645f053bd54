package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lockstep-workflows/lockstep/internal/cli/remote"
)

// process is a server in a process of its own.
type process struct {
	cmd  *exec.Cmd
	url  string     // of the API
	devs string     // of the devices' side, without its path; "": none
	over chan error // gets how it ended

	mu    sync.Mutex
	lines []string      // of stderr
	more  chan struct{} // closed with the next line
}

// launch starts `lockstep ARGS…` and waits until it says where it serves. Where nothing
// else is said, devices get a free port.
func launch(dir string, env []string, args ...string) (*process, error) {
	if !slices.Contains(args, "--south") && !slices.ContainsFunc(env, func(v string) bool { return strings.HasPrefix(v, "LOCKSTEP_SOUTH=") }) {
		args = append(args, "--south", "127.0.0.1:0")
	}
	return start(dir, env, nil, args...)
}

// start is launch with what is given, and files that the process inherits from the third
// descriptor on.
func start(dir string, env []string, files []*os.File, args ...string) (*process, error) {
	path, err := exec.LookPath("lockstep") // testscript.Main has put it there
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.Command(path, args...), over: make(chan error, 1), more: make(chan struct{})}
	p.cmd.Dir, p.cmd.Env, p.cmd.ExtraFiles = dir, append(env, "GORACE=atexit_sleep_ms=0"), files
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	var readers sync.WaitGroup
	readers.Go(func() { p.read(stderr) })
	first := bufio.NewReader(stdout)
	late := p.watchdog()
	line, err := first.ReadString('\n')
	late.Stop()
	readers.Go(func() { _, _ = io.Copy(io.Discard, first) })
	go func() {
		readers.Wait()
		p.over <- p.cmd.Wait()
	}()
	if err != nil {
		<-p.over
		return nil, fmt.Errorf("it did not begin to serve: %w\n%s", err, strings.Join(p.lines, "\n"))
	}
	_, sides, _ := strings.Cut(strings.TrimSpace(line), " page ")
	p.url, p.devs, _ = strings.Cut(strings.TrimSpace(sides), "   devices ")
	p.devs = strings.TrimSuffix(p.devs, remote.DevicesPath)
	return p, nil
}

func (p *process) read(stderr io.Reader) {
	scanner := bufio.NewScanner(stderr)
	for scanner.Scan() {
		p.mu.Lock()
		p.lines = append(p.lines, scanner.Text())
		close(p.more)
		p.more = make(chan struct{})
		p.mu.Unlock()
	}
}

// await waits for a line on stderr after the first so many, and returns its groups.
func (p *process) await(ctx context.Context, pattern string, after int) ([]string, int, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, 0, err
	}
	for {
		p.mu.Lock()
		lines, more := slices.Clone(p.lines), p.more
		p.mu.Unlock()
		for i := after; i < len(lines); i++ {
			if found := re.FindStringSubmatch(lines[i]); found != nil {
				return found, i + 1, nil
			}
		}
		select {
		case <-more:
		case <-ctx.Done():
			return nil, 0, fmt.Errorf("no line like %q in\n%s", pattern, strings.Join(lines, "\n"))
		}
	}
}

func (p *process) stderr() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.lines, "\n") + "\n"
}

// stop asks it to end, and returns its exit code.
func (p *process) stop() (int, error) {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return 0, err
	}
	return p.wait()
}

// watchdog ends a process that is stuck, so that it says where.
func (p *process) watchdog() *time.Timer {
	return time.AfterFunc(2*time.Minute, func() { _ = p.cmd.Process.Signal(syscall.SIGQUIT) })
}

func (p *process) wait() (int, error) {
	late := p.watchdog()
	defer late.Stop()
	err := <-p.over
	p.over <- err // whoever asks next
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// kill ends it at once, as a power cut would.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_, _ = p.wait()
}

// scriptServer is the server of a script.
type scriptServer struct {
	*process
	seen int // lines that `await` went past
}

// scriptCommands are those with which scripts start servers:
//
//	server serve ARGS…       starts one and sets LOCKSTEP_URL and LOCKSTEP_SOUTH_URL
//	await PATTERN [VARIABLE] waits for a line on its stderr; the first group goes into the variable
//	sigterm [CODE]           SIGTERM, and the exit code it must have
//	killed                   SIGKILL
//	sighup                   SIGHUP
//	expand VARIABLE FILE     makes a variable of what a file says
//	ticket VARIABLE          makes a variable of the ticket of the only call that waits for an answer
//	position VARIABLE FILE   makes a variable of the position in the first event of a file
//	append FILE stderr       adds what the last command said to a file
//	told FILE                writes what it said on stderr into a file
func scriptCommands(t *testing.T) map[string]func(*testscript.TestScript, bool, []string) {
	var mu sync.Mutex
	all := map[*testscript.TestScript]*scriptServer{}
	current := func(ts *testscript.TestScript) *scriptServer {
		mu.Lock()
		defer mu.Unlock()
		if all[ts] == nil {
			ts.Fatalf("no server runs")
		}
		return all[ts]
	}
	return map[string]func(*testscript.TestScript, bool, []string){
		"server": func(ts *testscript.TestScript, _ bool, args []string) {
			var env []string
			for _, name := range []string{"PATH", "HOME", "TMPDIR", "XDG_CONFIG_HOME", "LOCKSTEP_NORTH", "LOCKSTEP_STORE", "LOCKSTEP_LOG_LEVEL"} {
				if value := ts.Getenv(name); value != "" {
					env = append(env, name+"="+value)
				}
			}
			p, err := launch(ts.MkAbs("."), env, args...)
			ts.Check(err)
			ts.Defer(p.kill)
			ts.Setenv("LOCKSTEP_URL", p.url)
			ts.Setenv("LOCKSTEP_SOUTH_URL", p.devs)
			mu.Lock()
			defer mu.Unlock()
			all[ts] = &scriptServer{process: p}
		},
		"await": func(ts *testscript.TestScript, _ bool, args []string) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute) // it fails then
			defer cancel()
			s := current(ts)
			found, seen, err := s.await(ctx, args[0], s.seen)
			ts.Check(err)
			s.seen = seen
			if len(args) == 2 {
				ts.Setenv(args[1], found[1])
			}
		},
		"sigterm": func(ts *testscript.TestScript, _ bool, args []string) {
			want := "0"
			if len(args) == 1 {
				want = args[0]
			}
			code, err := current(ts).stop()
			ts.Check(err)
			if fmt.Sprint(code) != want {
				ts.Fatalf("the server ended with %d, want %s:\n%s", code, want, current(ts).stderr())
			}
		},
		"expand": func(ts *testscript.TestScript, _ bool, args []string) {
			ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile(args[1])))
		},
		"position": func(ts *testscript.TestScript, _ bool, args []string) {
			found := regexp.MustCompile(`"position":"([^"]+)"`).FindStringSubmatch(ts.ReadFile(args[1]))
			if found == nil {
				ts.Fatalf("no position in %s", args[1])
			}
			ts.Setenv(args[0], found[1])
		},
		"append": func(ts *testscript.TestScript, _ bool, args []string) {
			ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(ts.ReadFile(args[0])+ts.ReadFile(args[1])), 0o644))
		},
		"ticket": func(ts *testscript.TestScript, _ bool, args []string) {
			// ticket NAME [N]: that of the first call that waits for an answer, once N of them wait.
			most := 1
			if len(args) > 1 {
				_, err := fmt.Sscan(args[1], &most)
				ts.Check(err)
			}
			for until := time.Now().Add(time.Minute); ; {
				ts.Check(ts.Exec("lockstep", "inst", "calls", "--parked", "-o", "name"))
				lines := strings.Split(strings.TrimSpace(ts.ReadFile("stdout")), "\n")
				_, ticket, ok := strings.Cut(lines[0], " ")
				if ok && len(lines) >= most || time.Now().After(until) {
					ts.Setenv(args[0], ticket)
					return
				}
			}
		},
		"sighup": func(ts *testscript.TestScript, _ bool, _ []string) {
			ts.Check(current(ts).cmd.Process.Signal(syscall.SIGHUP))
		},
		"killed": func(ts *testscript.TestScript, _ bool, _ []string) { current(ts).kill() },
		"told": func(ts *testscript.TestScript, _ bool, args []string) {
			ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(current(ts).stderr()), 0o644))
		},
	}
}
