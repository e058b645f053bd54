package nodetest

import (
	"os"
	"sync"
)

// Program builds the program, once for all tests of a package. [Tests] removes it.
var Program = sync.OnceValues(func() (path string, err error) {
	if built, err = os.MkdirTemp("", "lockstep-program-"); err != nil {
		return "", err
	}
	return Build(built)
})

// built is the folder of the program.
var built string

// Tests wraps the tests of a package that uses [Program], and removes the program after them.
func Tests(m interface{ Run() int }) interface{ Run() int } { return tests{m} }

type tests struct{ m interface{ Run() int } }

// Run runs the tests.
func (t tests) Run() int {
	code := t.m.Run()
	if built != "" {
		_ = os.RemoveAll(built)
	}
	return code
}
