package sqlite

import (
	"os"
	"syscall"
)

// links counts the names of a file.
func links(path string, _ os.FileInfo) int {
	f, err := os.Open(path)
	if err != nil {
		return 1 // opening it will report the error
	}
	defer f.Close()
	var info syscall.ByHandleFileInformation
	if err := syscall.GetFileInformationByHandle(syscall.Handle(f.Fd()), &info); err != nil {
		return 1
	}
	return int(info.NumberOfLinks)
}

// readable reports whether others than the owner may read a file. Here lists of access say so,
// which files get from their folder.
func readable(os.FileInfo) bool { return false }
