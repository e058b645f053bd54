//go:build !unix

package exec

import (
	"os"
	"os/exec"
)

// group does nothing where there are no process groups.
type group struct{}

func newGroup() *group { return &group{} }

func (*group) add(*exec.Cmd) {}

func (*group) end(*exec.Cmd) {}

func (Limits) wrap(argv []string) []string { return argv }

func signalOf(*os.ProcessState) string { return "" }
