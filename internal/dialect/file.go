package dialect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrNotFile says that a path names a directory, a device or a named pipe.
var ErrNotFile = errors.New("not a file")

// ReadFile reads the text of a file that a user named: at most one byte more than
// the limit document-bytes, so that [Read] says DOC003 of a longer one. What could
// hand out text without an end, a device or a named pipe, is refused; stdin and the
// pipes of a shell's <(…) are not. Reading ends with the context.
func ReadFile(ctx context.Context, path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if what := refused(path, info.Mode()); what != "" {
		return nil, fmt.Errorf("%q is %s, %w", path, what, ErrNotFile)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // also ends a read from a pipe that the context gave up
	return ReadAll(ctx, f)
}

// FindFiles lists the files below a directory that match, sorted. Directories whose
// name begins with a dot are passed over; pipes and devices are not read unasked.
// Folders that cannot be read are reported together, beside what is found elsewhere.
func FindFiles(dir string, match func(fs.DirEntry) bool) ([]string, error) {
	f := finder{dir: dir, match: match}
	err := filepath.WalkDir(dir, f.visit)
	return f.files, errors.Join(append(f.failed, err)...)
}

type finder struct {
	dir    string
	match  func(fs.DirEntry) bool
	files  []string
	failed []error
}

func (f *finder) visit(at string, entry fs.DirEntry, err error) error {
	switch {
	case err != nil && at == f.dir:
		return err
	case err != nil:
		f.failed = append(f.failed, err)
	case entry.IsDir() && at != f.dir && strings.HasPrefix(entry.Name(), "."):
		return fs.SkipDir
	case entry.Type()&^fs.ModeSymlink == 0 && f.match(entry):
		f.files = append(f.files, at)
	}
	return nil
}

// refused says why a file cannot be a document, "" if it can.
func refused(path string, mode fs.FileMode) string {
	handed := path == "/dev/stdin" || strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/self/fd/")
	switch {
	case mode.IsDir():
		return "a directory"
	case mode.IsRegular() || handed:
		return ""
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

// ReadLimited reads at most one byte more than the limit document-bytes, so that [Read] says
// DOC003 of a longer document.
func ReadLimited(r io.Reader) ([]byte, error) {
	return io.ReadAll(io.LimitReader(r, int64(DefaultLimits.Bytes)+1))
}

// ReadAll reads text as [ReadFile] does, from what is open already. When the context
// ends first, a read that blocks is left behind.
func ReadAll(ctx context.Context, r io.Reader) ([]byte, error) {
	type read struct {
		text []byte
		err  error
	}
	done := make(chan read, 1)
	go func() {
		text, err := ReadLimited(r)
		done <- read{text, err}
	}()
	select {
	case got := <-done:
		return got.text, got.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
