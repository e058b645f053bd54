package nodetest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/lockstep-workflows/lockstep/client"
)

// program is the package of the real program. `go build` finds it from anywhere within the module.
const program = "github.com/lockstep-workflows/lockstep/cmd/lockstep"

// Build builds the program into a folder.
func Build(dir string) (path string, err error) {
	path = filepath.Join(dir, "lockstep")
	if out, err := exec.Command("go", "build", "-o", path, program).CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return path, nil
}

// Config is how a node is started.
type Config struct {
	Program string // the path that Build returned
	Dir     string // its working directory, which no other node uses
	Name    string
	Store   string
	HTTP    *http.Client // for the API client
	Args    []string     // further arguments of `lockstep serve`
}

// Node is one process that serves.
type Node struct {
	Name    string
	URL     string // of the API
	Devices string // of the side for devices
	API     *client.Client

	cmd   *exec.Cmd
	ended chan struct{}
	log   Buffer
}

// Start starts a process and returns once it serves.
func Start(c Config) (*Node, error) {
	n := &Node{Name: c.Name, ended: make(chan struct{})}
	n.cmd = exec.Command(c.Program, append([]string{
		"serve", "--north", "127.0.0.1:0", "--south", "127.0.0.1:0", "--store", c.Store, "--node-name", c.Name,
		"--addr-file", "north", "--south-addr-file", "south", "--log-level", "error",
	}, c.Args...)...)
	n.cmd.Dir, n.cmd.Stderr = c.Dir, &n.log
	out, err := n.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := n.begin(); err != nil {
		return nil, err
	}
	lines := bufio.NewReader(out)
	_, err = lines.ReadString('\n') // printed once it serves
	go func() {
		_, _ = io.Copy(io.Discard, lines)
		_ = n.cmd.Wait()
		close(n.ended)
	}()
	if err != nil {
		<-n.ended
		return nil, fmt.Errorf("%s did not begin to serve: %w\n%s", n.Name, err, n.Log())
	}
	if err := n.find(c.HTTP); err != nil {
		n.Kill()
		return nil, err
	}
	return n, nil
}

// find reads the addresses of a process.
func (n *Node) find(via *http.Client) (err error) {
	for side, to := range map[string]*string{"north": &n.URL, "south": &n.Devices} {
		text, err := os.ReadFile(filepath.Join(n.cmd.Dir, side))
		if err != nil {
			return err
		}
		*to = "http://" + strings.TrimSpace(string(text))
	}
	n.API, err = client.New(client.Options{URL: n.URL, Attempts: 1, HTTP: via})
	return err
}

// begin starts a process that ends with this one. The kernel kills it when the thread that started it
// ends, so that thread is kept until the process has ended.
func (n *Node) begin() error {
	n.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		err := n.cmd.Start()
		started <- err
		if err == nil {
			<-n.ended
		}
	}()
	return <-started
}

// PID is the number of the process.
func (n *Node) PID() int { return n.cmd.Process.Pid }

// Log is the output of the process so far.
func (n *Node) Log() string { return n.log.String() }

// Signal sends a signal.
func (n *Node) Signal(sig syscall.Signal) error {
	if err := n.cmd.Process.Signal(sig); err != nil {
		return fmt.Errorf("%s: %w", n.Name, err)
	}
	return nil
}

// Kill ends a process at once, also one that is stopped.
func (n *Node) Kill() {
	_ = n.cmd.Process.Kill()
	<-n.ended
}

// Stop asks a process to end, and waits until it has.
func (n *Node) Stop(ctx context.Context) error {
	if err := n.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-n.ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s does not end: %w\n%s", n.Name, ctx.Err(), n.Log())
	}
}

// Shared reports whether at least n nodes hold all shards in equal parts, according to one of them.
func Shared(ctx context.Context, api *client.Client, n int) bool {
	list, err := api.ListNodes(ctx)
	nodes := list.Items
	if err != nil || len(nodes) < max(n, 1) {
		return false
	}
	shards := nodes[0].Of
	all, most := 0, 0
	for _, node := range nodes {
		all += node.Shards
		most = max(most, node.Shards)
	}
	return all == shards && most <= (shards+n-1)/n
}
