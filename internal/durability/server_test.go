package durability

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw05"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw10"
	"github.com/lockstep-workflows/lockstep/internal/effect/builtin"
	effecthttp "github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/effect/process/javascript"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/expr/languages"
	"github.com/lockstep-workflows/lockstep/internal/server"
	"github.com/lockstep-workflows/lockstep/internal/store/sqlite"
)

// commandVariable makes the test binary a server.
const commandVariable = "LOCKSTEP_DURABILITY_SERVER"

// command says over which file a server runs and when it dies.
type command struct {
	Database string `json:"database"`
	Kill     int64  `json:"kill"` // at this write; 0: it lives
	Before   bool   `json:"before"`
}

func TestMain(m *testing.M) {
	javascript.Main()
	text := os.Getenv(commandVariable)
	if text == "" {
		os.Exit(m.Run())
	}
	var o command
	err := json.Unmarshal([]byte(text), &o)
	if err == nil {
		err = o.serve()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serve is the server: its first line on stdout says where it is, each of the others
// that some instance went on.
func (o command) serve() (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	db, err := sqlite.Open(o.Database, sqlite.Options{Readers: 1})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	outbound, err := effecthttp.New(effecthttp.Options{Allow: []string{"127.0.0.1"}})
	if err != nil {
		return err
	}
	defer outbound.Close()
	calls := builtin.Router(builtin.Options{Client: outbound, AllowExec: true}, nil)
	defer calls.Close()
	var out sync.Mutex
	say := func(line string) {
		out.Lock()
		defer out.Unlock()
		fmt.Println(line)
	}
	listener, err := server.Listen(server.Listening{Address: "127.0.0.1:0"})
	if err != nil {
		return err
	}
	defer listener.Close()
	e, err := engine.New(engine.Config{
		Store: &mortal{Store: db.Namespace("default"), n: o.Kill, before: o.Before}, Languages: languages.All(),
		Invoker:  calls,
		OnRecord: func(string, core.Record) { say("went on") },
		OnError:  func(err error) { fmt.Fprintln(os.Stderr, err) },
	})
	if err != nil {
		return err
	}
	s, err := server.New(server.Config{Engine: e, Registry: dialect.NewRegistry(sw05.FrontEnd{}, sw10.FrontEnd{}), Outbound: outbound, AllowExec: true})
	if err != nil {
		return err
	}
	say("http://" + listener.Addr().String())
	return s.ServeSides(ctx, server.Listeners{North: []net.Listener{listener}})
}

// process is such a server.
type process struct {
	cmd    *exec.Cmd
	url    string
	stderr strings.Builder
	steps  chan struct{} // some instance may have gone on
	over   chan struct{} // it has ended
	err    error         // how, then
}

// launch starts a server. One that dies before it says where it is has no URL.
func launch(o command) (*process, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.Command(exe), steps: make(chan struct{}, 1), over: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), commandVariable+"="+string(text), "GORACE=atexit_sleep_ms=0")
	p.cmd.Stderr = &p.stderr
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(stdout)
	if lines.Scan() {
		p.url = lines.Text()
	}
	go func() {
		for lines.Scan() {
			select {
			case p.steps <- struct{}{}:
			default:
			}
		}
		p.err = p.cmd.Wait()
		close(p.over)
	}()
	return p, nil
}

// step waits until some instance may have gone on.
func (p *process) step() error {
	select {
	case <-p.steps:
		return nil
	case <-p.over:
		return fmt.Errorf("the server is gone: %w", p.err)
	}
}

// killed reports whether it died as it should, once it is over.
func (p *process) killed() bool {
	<-p.over
	var exit *exec.ExitError
	if !errors.As(p.err, &exit) {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// stop asks it to end, and reports whether it ended by itself, without an error.
func (p *process) stop() bool {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	<-p.over
	return p.err == nil
}
