//go:build unix

package local

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// fullDisk is a file that cannot grow beyond room, and whose operation number fails
// fails too, half done.
type fullDisk struct {
	text        []byte
	room, fails int
}

func (d *fullDisk) broken() bool { d.fails--; return d.fails == 0 }

func (d *fullDisk) WriteAt(text []byte, at int64) (int, error) {
	n := len(text)
	if d.broken() {
		n /= 2
	}
	n = max(min(n, d.room-int(at)), 0)
	if end := int(at) + n; end > len(d.text) {
		d.text = append(d.text, make([]byte, end-len(d.text))...)
	}
	copy(d.text[at:], text[:n])
	if n < len(text) {
		return n, syscall.ENOSPC
	}
	return n, nil
}

func (d *fullDisk) Truncate(size int64) error {
	if d.broken() {
		return syscall.EIO
	}
	d.text = append(d.text[:min(int(size), len(d.text))], make([]byte, max(int(size)-len(d.text), 0))...)
	return nil
}

func (d *fullDisk) Sync() error {
	if d.broken() {
		return syscall.EIO
	}
	return nil
}

// TestRewritingOnAFullDiskLosesTheFile: whatever fails, the text is the old or the new one.
func TestRewritingOnAFullDiskLosesTheFile(t *testing.T) {
	for _, text := range []string{"the new text is longer than the old one", "short", "", "of 16 characters"} {
		old := []byte("the old text ...")
		for fails := range 8 {
			for _, room := range []int{len(old), 1000} {
				d := &fullDisk{text: bytes.Clone(old), room: room, fails: fails}
				err := overwrite(d, old, []byte(text))
				want := text
				if err != nil {
					want = string(old)
				}
				if string(d.text) != want {
					t.Errorf("%q, operation %d fails, room %d: the file holds %q, want %q (%v)", text, fails, room, d.text, want, err)
				}
				if (fails == 0 || fails > 5) && (err != nil) != (len(text) > room) {
					t.Errorf("%q, room %d: %v", text, room, err)
				}
			}
		}
	}
}

// TestRewritingTellsWhereTheOldTextIs: the disk takes nothing at all any more.
func TestRewritingTellsWhereTheOldTextIs(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	err := overwrite(deadDisk{}, []byte("old"), []byte("new text"))
	_, file, ok := strings.Cut(err.Error(), "it is in ")
	if got, _ := os.ReadFile(file); !ok || string(got) != "old" || !errors.Is(err, syscall.EIO) {
		t.Errorf("%v; %q is there", err, got)
	}
}

type deadDisk struct{}

func (deadDisk) WriteAt([]byte, int64) (int, error) { return 0, syscall.EIO }

func (deadDisk) Truncate(int64) error { return syscall.EIO }

func (deadDisk) Sync() error { return syscall.EIO }

func TestReplacedFilesKeepWhatTheyAre(t *testing.T) {
	dir := t.TempDir()
	file, name, link := filepath.Join(dir, "a.yaml"), filepath.Join(dir, "b.yaml"), filepath.Join(dir, "c.yaml")
	mode := os.FileMode(0o640) | os.ModeSetgid | os.ModeSticky
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	owner := func(path string) (uint32, uint32) {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != mode {
			t.Errorf("%s has the mode %v, want %v", path, info.Mode(), mode)
		}
		stat := info.Sys().(*syscall.Stat_t)
		return stat.Uid, stat.Gid
	}
	replace := func(path, text string) {
		t.Helper()
		if err := replaceFile(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != text {
			t.Errorf("%s holds %q (%v), want %q", file, got, err, text)
		}
	}

	write(file, "a longer text\n")
	if os.Getuid() == 0 {
		if err := os.Chown(file, 1234, 2345); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
	}
	uid, gid := owner(file)
	replace(file, "one\n")
	if u, g := owner(file); u != uid || g != gid {
		t.Errorf("owned by %d:%d, was %d:%d", u, g, uid, gid)
	}

	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	replace(link, "two\n")
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone (%v)", err)
	}

	if err := os.Link(file, name); err != nil {
		t.Fatal(err)
	}
	replace(name, "3\n")
	one, _ := os.Stat(file)
	other, _ := os.Stat(name)
	if !os.SameFile(one, other) {
		t.Error("the two names are no longer one file")
	}
	owner(file)
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
