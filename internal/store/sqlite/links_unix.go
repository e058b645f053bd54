//go:build unix

package sqlite

import (
	"os"
	"syscall"
)

// links counts the names of a file.
func links(_ string, info os.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Nlink)
	}
	return 1
}

// readable reports whether others than the owner may read a file.
func readable(info os.FileInfo) bool { return info.Mode().Perm()&0o044 != 0 }
