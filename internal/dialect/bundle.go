package dialect

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Bundle is how a front-end reaches what a document refers to: function, event
// and retry definitions, schemas.
type Bundle interface {
	// Open returns the text a reference stands for: a relative path, a file: URI or,
	// where the bundle knows how to fetch it, an address.
	// A fragment (#…) is not part of the file's name and is ignored.
	Open(ref string) ([]byte, error)
}

// ErrNotFetched is why a bundle that opens no addresses refuses one.
var ErrNotFetched = errors.New("it was not fetched and is not checked (lockstep validate --fetch fetches it)")

// ErrOutside is why a bundle of files refuses a path that leads out of its folder.
var ErrOutside = errors.New("it is outside of the definition's folder: copy it there, and refer to it by a relative path")

// NoBundle refuses every reference. It serves documents that come without a
// folder, over the network for example.
var NoBundle Bundle = noBundle{}

type noBundle struct{}

func (noBundle) Open(ref string) ([]byte, error) {
	return nil, fmt.Errorf("%q: this document came without files to refer to; deploy them together (lockstep def apply, or POST /api/v1/bundles)", ref)
}

// MapBundle is a bundle in memory, by path relative to the document.
type MapBundle map[string][]byte

// Open implements [Bundle].
func (b MapBundle) Open(ref string) ([]byte, error) {
	path, err := bundlePath(ref)
	if err != nil {
		return nil, err
	}
	if text, ok := b[filepath.ToSlash(filepath.Clean(path))]; ok {
		return text, nil
	}
	if !filepath.IsLocal(path) {
		return nil, fmt.Errorf("%q: %w", ref, ErrOutside)
	}
	return nil, fmt.Errorf("%q: %w", ref, os.ErrNotExist)
}

// DirBundle opens files in the folder and below it. References cannot leave the
// folder, neither by .. nor through symbolic links.
func DirBundle(dir string) Bundle { return dirBundle{dir} }

type dirBundle struct{ dir string }

func (b dirBundle) Open(ref string) ([]byte, error) {
	path, err := bundlePath(ref)
	if err != nil {
		return nil, err
	}
	if filepath.IsAbs(path) {
		base, err := filepath.Abs(b.dir)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", ref, err)
		}
		if path, err = filepath.Rel(base, path); err != nil {
			return nil, fmt.Errorf("%q: %w", ref, err)
		}
	}
	text, err := readInside(b.dir, path, DefaultLimits.Bytes)
	if err != nil && leaves(b.dir, path) {
		err = ErrOutside
	}
	if syscall := (*fs.PathError)(nil); errors.As(err, &syscall) {
		err = syscall.Err // its name and the path say nothing to the author
	}
	if err != nil {
		return nil, fmt.Errorf("%q: %w", ref, err)
	}
	return text, nil
}

// FSBundle opens the files of a file system, by path relative to the folder of the
// document. References cannot leave the file system.
func FSBundle(files fs.FS, folder string) Bundle { return fsBundle{files, folder} }

type fsBundle struct {
	files  fs.FS
	folder string // in the form of io/fs
}

func (b fsBundle) Open(ref string) ([]byte, error) {
	name, err := bundlePath(ref)
	if err != nil {
		return nil, err
	}
	name = path.Join(b.folder, filepath.ToSlash(name))
	if !fs.ValidPath(name) {
		return nil, fmt.Errorf("%q: %w", ref, ErrOutside)
	}
	text, err := readLimited(b.files, name)
	if cause := (*fs.PathError)(nil); errors.As(err, &cause) {
		err = cause.Err
	}
	if err != nil {
		return nil, fmt.Errorf("%q: %w", ref, err)
	}
	return text, nil
}

func readLimited(files fs.FS, name string) ([]byte, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readFile(f, DefaultLimits.Bytes)
}

// FilePath returns the path of the file that a reference names, relative to the document; false: it names none.
func FilePath(ref string) (string, bool) {
	name, err := bundlePath(ref)
	if err != nil || filepath.IsAbs(name) {
		return "", false
	}
	return path.Clean(filepath.ToSlash(name)), true
}

// bundlePath returns the path a reference names. The specification's own examples
// write file://name.json for a file beside the document.
func bundlePath(ref string) (string, error) {
	if rest, ok := strings.CutPrefix(ref, "file://"); ok && !strings.HasPrefix(rest, "/") && !strings.HasPrefix(rest, "localhost/") {
		ref = rest
	}
	u, err := url.Parse(ref)
	switch {
	case err != nil:
		return "", fmt.Errorf("%q is not a path or URI: %w", ref, errors.Unwrap(err))
	case u.Scheme != "" && u.Scheme != "file":
		return "", fmt.Errorf("%q: only files beside the document can be referred to, not %q", ref, u.Scheme+":")
	case u.Host != "" && u.Host != "localhost":
		return "", fmt.Errorf("%q names the host %q; only local files can be referred to", ref, u.Host)
	}
	path := u.Path
	if path == "" && u.Opaque != "" { // file:name.json
		if path, err = url.PathUnescape(u.Opaque); err != nil {
			return "", fmt.Errorf("%q is not a path or URI: %w", ref, err)
		}
	}
	if path == "" || strings.ContainsRune(path, 0) {
		return "", fmt.Errorf("%q names no file", ref)
	}
	return filepath.FromSlash(path), nil
}

// readInside reads a regular file without leaving the folder. Other kinds are
// refused before they are opened: a pipe would block.
func readInside(dir, path string, limit int) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	f, err := root.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readFile(f, limit)
}

// leaves reports whether a path leads out of the folder, by .. or through a symbolic link.
func leaves(dir, path string) bool {
	if !filepath.IsLocal(path) {
		return true
	}
	base, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	file, err := filepath.EvalSymlinks(filepath.Join(base, path))
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(base, file)
	return err == nil && !filepath.IsLocal(rel)
}

// readFile reads a file up to a limit.
func readFile(f io.Reader, limit int) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err != nil {
		return nil, err
	}
	if len(text) > limit {
		return nil, fmt.Errorf("the file has more than %d bytes (limit document-bytes)", limit)
	}
	return text, nil
}
