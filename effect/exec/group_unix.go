//go:build unix

package exec

import (
	"os/exec"
	"syscall"
)

// group puts a command into a process group of its own, so that what it started ends
// with it.
func group(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
