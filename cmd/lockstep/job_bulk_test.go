package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/cli/job"
)

// TestManyClientsUnderOneKey: with a key the same command again makes only what is missing, also where there are more
// clients than are sent at a time and every client stands one line further down.
func TestManyClientsUnderOneKey(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	p, err := launch(dir, os.Environ(), "serve", "--store", "memory:", "--north", "127.0.0.1:0", "--log-level", "error")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	write := func(file, text string) {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) string {
		var out, told bytes.Buffer
		if code := lockstep(append(args, "--url", p.url), strings.NewReader(""), &out, &told); code != cli.ExitOK {
			t.Fatalf("%v: exit code %d, %s", args, code, told.String())
		}
		return out.String() + told.String()
	}
	write("w.yaml", "name: w\nstates: [{name: A}, {name: B}]\ntransitions:\n- {from: A, to: B, eligible: CLIENT}\n")
	run("def", "apply", "w.yaml")
	var fleet strings.Builder
	for i := range job.CreateBatch + 1 {
		fmt.Fprintf(&fleet, "c%05d\n", i)
	}
	write("fleet", fleet.String())
	create := []string{"job", "create", "--workflow", "w", "--clients", "@fleet", "--key", "k", "-o", "name"}
	run(create...)
	write("fleet", "new\n"+fleet.String())
	if told := run(create...); !strings.Contains(told, fmt.Sprintf("1 job created, of %d\n", job.CreateBatch+2)) {
		t.Errorf("the second time: %s", told[len(told)-100:])
	}
	if n := run("job", "count"); n != fmt.Sprintln(job.CreateBatch+2) {
		t.Errorf("%s jobs", n)
	}
}
