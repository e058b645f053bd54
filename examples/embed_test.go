package examples

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestEmbed builds the module in embed, which imports public packages only, kills it again and
// again while it takes orders, and lets it finish: no order is lost, and none is paid twice.
func TestEmbed(t *testing.T) {
	program := filepath.Join(t.TempDir(), "embed")
	if out, err := exec.Command("go", "build", "-C", "embed", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const orders = 200
	folder := filepath.Join(t.TempDir(), "orders")
	for _, done := range []int{1, 20, 100, 250} {
		killAfter(t, exec.Command(program, folder, fmt.Sprint(orders)), folder, done)
	}
	out, err := exec.Command(program, folder, fmt.Sprint(orders)).Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for i := range orders {
		want := fmt.Sprintf("book %d: charged for book %[1]d (reserved book %[1]d)\n", i+1)
		if !strings.Contains("\n"+string(out), "\n"+want) {
			t.Errorf("there is no line %q", want)
		}
	}
	seen := map[string]int{}
	files := effects(t, folder)
	if len(files) != 2*orders {
		t.Errorf("%d effects of %d calls", len(files), 2*orders)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		seen[string(text)]++
	}
	delete(seen, "") // a function was killed before it had written its file
	for what, n := range seen {
		if n != 1 {
			t.Errorf("%d times %q", n, what)
		}
	}
}

// killAfter runs a program and kills it once this many effects are there, or when it has ended.
func killAfter(t *testing.T, cmd *exec.Cmd, folder string, done int) {
	t.Helper()
	var told bytes.Buffer
	cmd.Stderr = &told
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for len(effects(t, folder)) < done {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("%v\n%s", err, told.String())
			}
			return
		default:
		}
	}
	_ = cmd.Process.Kill() // it may have ended
	<-ended
}

// effects are the files that the functions of the program made.
func effects(t *testing.T, folder string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "done-*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}
