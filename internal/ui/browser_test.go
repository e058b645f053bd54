//go:build unix

package ui

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// told is what test/run.mjs tells of one test.
type told struct {
	File  string  `json:"file"`
	Name  string  `json:"name"`
	OK    bool    `json:"ok"`
	Skip  string  `json:"skip"`
	MS    float64 `json:"ms"`
	Error string  `json:"error"`
}

// colours are for terminals.
var colours = regexp.MustCompile("\x1b\\[[0-9;]*m")

// TestInBrowser runs the tests in test/ with Node and Chromium against the real binary.
// Each is a test here too, so that it is counted and its failure is told.
func TestInBrowser(t *testing.T) {
	node := toolsOf(t)
	watchSources(t)
	binary := filepath.Join(t.TempDir(), "lockstep")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "../../cmd/lockstep").CombinedOutput(); err != nil {
		t.Fatalf("build the server: %v\n%s", err, out)
	}
	tests, log, err := runTests(t, node, binary)
	byFile := map[string][]told{}
	var files []string
	failed := 0
	for _, one := range tests {
		if byFile[one.File] == nil {
			files = append(files, one.File)
		}
		byFile[one.File] = append(byFile[one.File], one)
		if !one.OK {
			failed++
		}
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".test.mjs"), func(t *testing.T) {
			for _, one := range byFile[file] {
				t.Run(one.Name, func(t *testing.T) {
					switch {
					case one.Skip != "":
						t.Errorf("it was skipped (%s), which proves nothing", one.Skip)
					case !one.OK:
						t.Error(colours.ReplaceAllString(one.Error, ""))
					}
				})
			}
		})
	}
	if err != nil && failed == 0 || len(tests) == 0 {
		t.Fatalf("the tests did not run to their end: %v\n%s", err, log)
	}
	if failed > 0 && log != "" {
		t.Logf("what the tests wrote:\n%s", log)
	}
}

// runTests runs the tests and gives what they told, and what they wrote beside.
func runTests(t *testing.T, node, binary string) ([]told, string, error) {
	ctx := t.Context()
	if at, ok := t.Deadline(); ok { // before go test gives up without a word of what hangs
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, at.Add(-10*time.Second))
		defer cancel()
	}
	cmd := exec.CommandContext(ctx, node, "test/run.mjs")
	cmd.Env = append(os.Environ(), "LOCKSTEP_BIN="+binary)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // servers and the browser end with it
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if ctx.Err() != nil {
		err = errors.Join(err, errors.New("the time of go test is nearly over; -timeout gives more"))
	}
	var out []told
	lines := bufio.NewScanner(&stdout)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var one told
		if json.Unmarshal(lines.Bytes(), &one) != nil {
			stderr.Write(append(lines.Bytes(), '\n'))
			continue
		}
		out = append(out, one)
	}
	return out, stderr.String(), errors.Join(err, lines.Err())
}

// toolsOf gives the path of Node. What is missing fails the test: what it would have shown
// is not known.
func toolsOf(t *testing.T) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal("the page is tested with Node 20.19 or later, which is not there; install it, then run make page-tools")
	}
	if _, err := os.Stat("node_modules/playwright-core"); err != nil {
		t.Fatal("internal/ui/node_modules does not exist; run make page-tools")
	}
	for _, path := range []string{os.Getenv("CHROMIUM"), "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"} {
		if _, err := os.Stat(path); path != "" && err == nil {
			return node
		}
	}
	t.Fatal("the page is tested with Chromium, which is not there; run make page-tools, or set CHROMIUM to its path")
	return ""
}

// watchSources looks at everything that the outcome depends on, so that go test does not
// take an old one from its cache.
func watchSources(t *testing.T) {
	t.Helper()
	for _, dir := range []string{"..", "dist", "test"} {
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if name := entry.Name(); entry.IsDir() && path != dir {
				if strings.HasPrefix(name, ".") || name == "node_modules" || name == "screenshots" || name == "bin" {
					return fs.SkipDir
				}
				return nil
			}
			if dir == ".." && filepath.Ext(path) != ".go" && filepath.Ext(path) != ".yaml" {
				return nil
			}
			_, err = os.Stat(path)
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // a file may go while others work
			t.Fatal(err)
		}
	}
}
