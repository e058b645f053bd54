//go:build unix

package exec

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// shell is where POSIX systems have one. Without it commands run too, but without limits, and what they
// started lives on if this process is killed.
const shell = "/bin/sh"

// guard is the first process of a group. It waits until this process is gone, which closes its stdin, and then ends
// the group. Signals that a program sends to its own group do not end it.
const guard = "trap '' HUP INT TERM; read _; kill -KILL 0"

// group is the process group of one command, so that the processes it starts can be ended with it.
type group struct {
	guard *exec.Cmd // its leader; nil: the command is
	alive *os.File  // open as long as this process lives
}

func newGroup() *group {
	read, write, err := os.Pipe()
	if err != nil {
		return &group{}
	}
	defer read.Close()
	cmd := exec.Command(shell, "-c", guard)
	cmd.Env, cmd.Dir, cmd.Stdin = []string{}, "/", read
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if cmd.Start() != nil {
		write.Close()
		return &group{}
	}
	return &group{cmd, write}
}

// add makes a command that is not started yet one of the group.
func (g *group) add(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if g.guard != nil {
		cmd.SysProcAttr.Pgid = g.guard.Process.Pid
	}
	cmd.Cancel = func() error { return g.kill(cmd) }
}

// kill kills all processes of the group at once: none of them can start another one between. The group keeps its id
// as long as its leader is not waited for.
func (g *group) kill(cmd *exec.Cmd) error {
	leader := cmd
	if g.guard != nil {
		leader = g.guard
	}
	if leader.Process == nil {
		return nil
	}
	return syscall.Kill(-leader.Process.Pid, syscall.SIGKILL)
}

// end ends what a command left behind. Where it is its own leader, its id is not reused that soon.
func (g *group) end(cmd *exec.Cmd) {
	_ = g.kill(cmd)
	if g.guard != nil {
		_ = g.guard.Wait() // it was killed
		g.alive.Close()
	}
}

// wrap is a command that sets limits and becomes the given one.
func (l Limits) wrap(argv []string) []string {
	if _, err := os.Stat(shell); err != nil || l == (Limits{}) {
		return argv
	}
	set := "ulimit -c 0; "
	if l.Memory > 0 {
		set += fmt.Sprintf("ulimit -d %d; ", l.Memory/1024)
	}
	if l.File > 0 {
		set += fmt.Sprintf("ulimit -f %d; ", l.File/512)
	}
	// A limit that cannot be set is lower already.
	return append([]string{shell, "-c", "{ " + set + "} 2>/dev/null; exec \"$@\"", "sh"}, argv...)
}

// signalOf names the signal that killed a process; "": it exited by itself.
func signalOf(state *os.ProcessState) string {
	status, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return ""
	}
	if name := signals[status.Signal()]; name != "" {
		return name
	}
	return fmt.Sprintf("SIG%d", int(status.Signal()))
}

// signals are the signals that end a process by default.
var signals = map[syscall.Signal]string{
	syscall.SIGHUP: "SIGHUP", syscall.SIGINT: "SIGINT", syscall.SIGQUIT: "SIGQUIT", syscall.SIGILL: "SIGILL", syscall.SIGTRAP: "SIGTRAP",
	syscall.SIGABRT: "SIGABRT", syscall.SIGBUS: "SIGBUS", syscall.SIGFPE: "SIGFPE", syscall.SIGKILL: "SIGKILL", syscall.SIGUSR1: "SIGUSR1",
	syscall.SIGSEGV: "SIGSEGV", syscall.SIGUSR2: "SIGUSR2", syscall.SIGPIPE: "SIGPIPE", syscall.SIGALRM: "SIGALRM", syscall.SIGTERM: "SIGTERM",
	syscall.SIGXCPU: "SIGXCPU", syscall.SIGXFSZ: "SIGXFSZ", syscall.SIGSYS: "SIGSYS",
}
