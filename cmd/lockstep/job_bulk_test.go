package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
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
		if code := lockstep(append(args, "--url", p.url), strings.NewReader(""), &out, &told); code != exitOK {
			t.Fatalf("%v: exit code %d, %s", args, code, told.String())
		}
		return out.String() + told.String()
	}
	write("w.yaml", "name: w\nstates: [{name: A}, {name: B}]\ntransitions:\n- {from: A, to: B, eligible: CLIENT}\n")
	run("def", "apply", "w.yaml")
	var fleet strings.Builder
	for i := range createBatch + 1 {
		fmt.Fprintf(&fleet, "c%05d\n", i)
	}
	write("fleet", fleet.String())
	create := []string{"job", "create", "--workflow", "w", "--clients", "@fleet", "--key", "k", "-o", "name"}
	run(create...)
	write("fleet", "new\n"+fleet.String())
	if told := run(create...); !strings.Contains(told, fmt.Sprintf("1 job created, of %d\n", createBatch+2)) {
		t.Errorf("the second time: %s", told[len(told)-100:])
	}
	if n := run("job", "count"); n != fmt.Sprintln(createBatch+2) {
		t.Errorf("%s jobs", n)
	}
}

// TestAges: how long ago people say that something was.
func TestAges(t *testing.T) {
	now := time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"12h": now.Add(-12 * time.Hour),
		"30d": now.AddDate(0, 0, -30),
		"12w": now.AddDate(0, 0, -12*7),
		"P1D": now.AddDate(0, 0, -1),
	} {
		var a age
		if err := a.Set(text); err != nil || !a.before(now).Equal(want) {
			t.Errorf("%s: %v, %v, want %v", text, a.before(now), err, want)
		}
	}
	for _, bad := range []string{"", "0h", "12", "w", "12y", "-1h"} {
		if new(age).Set(bad) == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
