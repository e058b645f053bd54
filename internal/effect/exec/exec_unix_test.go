//go:build unix

package exec

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// leave starts a process that stays, and ends when that one has reached the test.
func leave() {
	child := exec.Command(os.Args[0], os.Args[1])
	child.Env = []string{"EXEC_TEST=stay"}
	out, err := child.StdoutPipe()
	if err == nil {
		err = child.Start()
	}
	if err == nil {
		_, err = bufio.NewReader(out).ReadString('\n')
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// stay holds a connection to the test for as long as it lives.
func stay() {
	conn, err := net.Dial("unix", os.Args[1])
	if err != nil {
		os.Exit(1)
	}
	fmt.Println("there")
	_, _ = conn.Read(make([]byte, 1)) // the test never writes
}

func killed() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) }

// family stays with a child that stays, too.
func family() {
	leave()
	stay()
}

// host runs a family as a server would.
func host() {
	_, err := Run(context.Background(), command("family", os.Args[1]))
	fmt.Fprintln(os.Stderr, err)
}

// away starts a process in a session of its own that stays, and ends when that one has reached the test.
func away() {
	child := exec.Command(os.Args[0], os.Args[1])
	child.Env = []string{"EXEC_TEST=stay", os.Args[2]}
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := child.StdoutPipe()
	if err == nil {
		err = child.Start()
	}
	if err == nil {
		_, err = bufio.NewReader(out).ReadString('\n')
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// deaf ignores what asks it to end.
func deaf() {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	family()
}

func init() {
	modes["leave"], modes["stay"], modes["killed"] = leave, stay, killed
	modes["family"], modes["host"], modes["away"], modes["deaf"] = family, host, away, deaf
}

// listen is where processes that stay reach the test.
func listen(t *testing.T) (net.Listener, string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "exec") // the address of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	address := filepath.Join(dir, "s")
	listener, err := net.Listen("unix", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		listener.Close()
		os.RemoveAll(dir)
	})
	return listener, address
}

// accept waits until a process has reached the test; over waits until that one is dead.
func accept(t *testing.T, listener net.Listener) (over func()) {
	t.Helper()
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		defer conn.Close()
		_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
		if _, err := conn.Read(make([]byte, 1)); err == nil || os.IsTimeout(err) {
			t.Errorf("the process lives on: %v", err)
		}
	}
}

// TestKilledHostLeavesCommandsRunning: nobody can do anything any more when SIGKILL comes, except the guard.
func TestKilledHostLeavesCommandsRunning(t *testing.T) {
	listener, address := listen(t)
	server := exec.Command(os.Args[0], address)
	server.Env = []string{"EXEC_TEST=host"}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	first, second := accept(t, listener), accept(t, listener)
	_ = server.Process.Kill()
	_ = server.Wait()
	first()
	second()
}

// TestDeafProcessesOutliveTheirContext: SIGTERM is not what ends them.
func TestDeafProcessesOutliveTheirContext(t *testing.T) {
	listener, address := listen(t)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		_, err := Run(ctx, command("deaf", address))
		done <- err
	}()
	first, second := accept(t, listener), accept(t, listener)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	first()
	second()
}

// TestProcessesThatStartOthers: none of thirty, that start one another, lives on.
func TestProcessesThatStartOthers(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "alive") // open in all of them
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		_, err := Run(ctx, Command{Dir: dir, Env: []string{"PATH=" + os.Getenv("PATH")}, Argv: []string{"sh", "-c", `
exec 3>alive
more() { test "$1" -gt 0 && { more $(($1 - 1)) & more $(($1 - 1)) & }; echo x >&3; while :; do sleep 60; done; }
more 4`}})
		done <- err
	}()
	alive, err := os.Open(pipe)
	if err != nil {
		t.Fatal(err)
	}
	defer alive.Close()
	if _, err := io.ReadFull(alive, make([]byte, 2*31)); err != nil { // a line of each
		t.Fatal(err)
	}
	cancel()
	<-done
	_ = alive.SetReadDeadline(time.Now().Add(time.Minute))
	if _, err := alive.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("some live on: %v", err)
	}
}

func TestLimitsOfProcesses(t *testing.T) {
	c := Command{
		Argv: []string{"sh", "-c", `ulimit -c; ulimit -d; ulimit -f; echo "$1$0"`, "$HOME", "a b"},
		Env:  []string{"PATH=" + os.Getenv("PATH")}, Limits: Limits{Memory: 512 << 20, File: 1 << 20},
	}
	r, err := Run(context.Background(), c)
	if want := "0\n524288\n2048\na b$HOME\n"; err != nil || string(r.Stdout) != want && runtime.GOOS == "linux" {
		t.Errorf("%v %q, want %q", err, r.Stdout, want)
	}
	c.Argv = []string{"no-such-program"}
	if _, err := Run(context.Background(), c); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("a program that is not there: %v", err)
	}
}

func TestBackgroundChildOutlivesNoSuccessfulCommand(t *testing.T) {
	address := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", address)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	r, err := Run(context.Background(), command("leave", address))
	if err != nil || r.Code != 0 {
		t.Fatalf("%v %+v", err, r)
	}
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := conn.Read(make([]byte, 1)); err == nil || os.IsTimeout(err) {
		t.Errorf("the child lives on: %v", err)
	}
}

func TestSignalIsNamed(t *testing.T) {
	r, err := Run(context.Background(), command("killed"))
	if err != nil || r.Signal != "SIGKILL" || r.Code != -1 {
		t.Errorf("%v %+v", err, r)
	}
	if r, err := Run(context.Background(), command("fail")); err != nil || r.Signal != "" {
		t.Errorf("%v %+v", err, r)
	}
}

func TestMissingDirectoryIsNotTheProgramsFault(t *testing.T) {
	c := command("tell")
	c.Dir = filepath.Join(t.TempDir(), "none")
	if _, err := Run(context.Background(), c); err == nil || !strings.Contains(err.Error(), "the directory \""+c.Dir+"\", in which the command runs, is missing") {
		t.Errorf("%v", err)
	}
	c.Dir = os.Args[0]
	if _, err := Run(context.Background(), c); err == nil || !strings.Contains(err.Error(), "is not a directory") {
		t.Errorf("%v", err)
	}
	c = Command{Argv: []string{"/no/such/program"}, Dir: t.TempDir()}
	if _, err := Run(context.Background(), c); err == nil || !strings.Contains(err.Error(), "/no/such/program") {
		t.Errorf("%v", err)
	}
}
