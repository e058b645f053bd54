//go:build unix

package dialect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestReadFileRefusesWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe.yaml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link.yaml")
	if err := os.Symlink("/dev/zero", link); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{dir: "a directory", pipe: "a named pipe", "/dev/zero": "a device", link: "a device"} {
		_, err := ReadFile(t.Context(), path)
		if !errors.Is(err, ErrNotFile) || !strings.HasSuffix(err.Error(), " is "+want+", not a file") {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := ReadFile(t.Context(), filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

// TestReadFileIsBounded reads one byte more than a document may have, so that Read
// refuses what it gets.
func TestReadFileIsBounded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "long.yaml")
	if err := os.WriteFile(file, bytes.Repeat([]byte("# long\n"), 2_000_000), 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := ReadFile(t.Context(), file)
	if err != nil || len(text) != DefaultLimits.Bytes+1 {
		t.Fatalf("%d bytes, %v", len(text), err)
	}
	if _, found := Read(file, text); len(found) != 1 || found[0].Code != CodeLimit || !strings.Contains(found[0].Message, "document-bytes") {
		t.Errorf("found %v", found)
	}
}

// TestReadFileFromAPipe is what a shell makes of <(…).
func TestReadFileFromAPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	path := fmt.Sprintf("/dev/fd/%d", r.Fd())
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ReadFile(ended, path); !errors.Is(err, context.Canceled) {
		t.Errorf("nobody writes, and the context is over: %v", err)
	}
	go func() {
		_, _ = io.WriteString(w, "id: a\n")
		_ = w.Close()
	}()
	if text, err := ReadFile(t.Context(), path); err != nil || string(text) != "id: a\n" {
		t.Errorf("read %q, %v", text, err)
	}
}

// A folder that cannot be read does not hide the others. Root can read all of them, so it
// is told by hand.
func TestFindFilesGoesOn(t *testing.T) {
	f := finder{dir: "d"}
	if err := f.visit("d/shut", nil, fs.ErrPermission); err != nil || !errors.Is(errors.Join(f.failed...), fs.ErrPermission) {
		t.Errorf("%v; %v", err, f.failed)
	}
	dir := filepath.Join(t.TempDir(), "none")
	if _, err := FindFiles(dir, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}
