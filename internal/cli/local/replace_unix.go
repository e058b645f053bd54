//go:build unix

package local

import (
	"io/fs"
	"os"
	"syscall"
)

// hasOtherNames reports whether a file has further hard links.
func hasOtherNames(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Nlink > 1
}

// keepOwner gives a new file the owner and group of the one it replaces.
func keepOwner(next *os.File, old fs.FileInfo) error {
	info, err := next.Stat()
	if err != nil {
		return err
	}
	was, ok := old.Sys().(*syscall.Stat_t)
	is, also := info.Sys().(*syscall.Stat_t)
	if !ok || !also || was.Uid == is.Uid && was.Gid == is.Gid {
		return nil
	}
	return next.Chown(int(was.Uid), int(was.Gid))
}
