//go:build !unix

package exec

import (
	"os"
	"os/exec"
)

// group does nothing where there are no process groups.
func group(*exec.Cmd) {}

func endGroup(*exec.Cmd) {}

func signalOf(*os.ProcessState) string { return "" }
