//go:build unix

package exec

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
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

func init() { modes["leave"], modes["stay"], modes["killed"] = leave, stay, killed }

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
