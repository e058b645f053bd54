package local

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// replaceFile replaces the text of a file, through links. At every moment the file has the old or the new
// text, and it keeps its mode and its owner. If a new file cannot take its place (it has several hard
// links, the owner cannot be set, the folder is read-only), it is rewritten in place.
func replaceFile(path string, text []byte) error {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if hasOtherNames(info) {
		return rewriteFile(path, text, info.Mode())
	}
	if err = renameOver(path, text, info); errors.Is(err, fs.ErrPermission) {
		return rewriteFile(path, text, info.Mode())
	}
	return err
}

// renameOver writes a new file beside the old one, and renames it over the old one.
func renameOver(path string, text []byte, info fs.FileInfo) (err error) {
	next, err := os.CreateTemp(filepath.Dir(path), ".lockstep-fmt-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(next.Name()) // the first error is the one to report
		}
	}()
	_, err = next.Write(text)
	for _, step := range []func() error{
		func() error { return keepOwner(next, info) }, // before the mode: it may clear bits of it
		func() error { return next.Chmod(modeOf(info.Mode())) },
		next.Sync,
	} {
		if err == nil {
			err = step()
		}
	}
	if closed := next.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(next.Name(), path)
}

// rewriteFile writes into a file in place.
func rewriteFile(path string, text []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	old, err := io.ReadAll(f)
	if err == nil {
		err = overwrite(f, old, text)
	}
	_ = f.Chmod(modeOf(mode)) // writing may clear bits that only the owner can set again
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// overwritten is what overwrite needs of a file.
type overwritten interface {
	io.WriterAt
	Truncate(size int64) error
	Sync() error
}

// overwrite replaces a file's text. The file grows first, so that a full disk is noticed before anything is
// lost; if an error occurs, the old text is written back.
func overwrite(f overwritten, old, text []byte) (err error) {
	both := int64(min(len(old), len(text)))
	for _, step := range []func() error{
		func() error { return writeAt(f, text[both:], both) },
		f.Sync, // some file systems report a full disk only now
		func() error { return writeAt(f, text[:both], 0) },
		func() error { return f.Truncate(int64(len(text))) },
		f.Sync,
	} {
		if err == nil {
			err = step()
		}
	}
	if err == nil {
		return nil
	}
	back := writeAt(f, old, 0)
	for _, step := range []func() error{
		func() error { return f.Truncate(int64(len(old))) },
		f.Sync,
	} {
		if failed := step(); back == nil {
			back = failed
		}
	}
	if back != nil {
		return fmt.Errorf("%w, and the old text cannot be written back: %w; %s", err, back, saveCopy(old))
	}
	return err
}

// writeAt writes text, if there is any.
func writeAt(f io.WriterAt, text []byte, at int64) error {
	if len(text) == 0 {
		return nil
	}
	_, err := f.WriteAt(text, at)
	return err
}

// saveCopy saves text that would be lost, and says where.
func saveCopy(text []byte) string {
	f, err := os.CreateTemp("", "lockstep-fmt-*")
	if err != nil {
		return "it is lost"
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return "it is lost"
	}
	return "it is in " + f.Name()
}

// modeOf is the part of a mode that can be set.
func modeOf(mode fs.FileMode) fs.FileMode {
	return mode & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)
}
