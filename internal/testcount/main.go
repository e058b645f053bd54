// Testcount runs "go test -json" and shows the result for people: one line per
// package, the output of what failed, and at the end the line
//
//	N passed, N failed
//
// which counts tests and subtests. A package that fails without a failing test
// (it does not build, it panics, it runs out of time) counts as one failure.
// While nothing ends, a line every half minute says which tests are running.
//
// Each argument is one invocation's arguments, separated by blanks:
//
//	testcount "-race ./internal/core/... ./internal/engine/..." "./expr/..."
//
// It exits with 1 when anything failed.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, `usage: testcount "ARGUMENTS OF GO TEST"…`)
		os.Exit(2)
	}
	var total tally
	for _, arg := range os.Args[1:] {
		if err := run(strings.Fields(arg), &total); err != nil {
			fmt.Fprintf(os.Stderr, "go test %s: %v\n", arg, err)
			total.failed++
		}
	}
	fmt.Println(total)
	if total.failed > 0 {
		os.Exit(1)
	}
}

// run runs go test once. Its error is about go test itself: failing tests are in
// the tally.
func run(args []string, total *tally) error {
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	before := total.failed
	fmt.Printf("go test %s\n", summary(args))
	r := newReport(total, os.Stdout, time.Now)
	stop := r.progressEvery(30 * time.Second)
	readErr := r.read(out)
	stop()
	err = cmd.Wait()
	if readErr != nil {
		return readErr
	}
	if err != nil && total.failed == before {
		return err // it failed before any test was reported
	}
	return nil
}

// summary is a command line with the number of packages in place of their names.
func summary(args []string) string {
	packages := 0
	var kept []string
	for _, arg := range args {
		if strings.Contains(arg, "/") {
			packages++
			continue
		}
		kept = append(kept, arg)
	}
	return fmt.Sprintf("%s(%d packages; the first build takes minutes)", strings.Join(append(kept, ""), " "), packages)
}
