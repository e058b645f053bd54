//go:build unix

package serve

import (
	"fmt"
	"io"
	"os"
	"syscall"
)

// toJournal reports whether what is written goes to the journal of systemd, which says in
// JOURNAL_STREAM which file that is.
func toJournal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	if err != nil {
		return false
	}
	at, ok := info.Sys().(*syscall.Stat_t)
	return ok && os.Getenv("JOURNAL_STREAM") == fmt.Sprintf("%d:%d", at.Dev, at.Ino)
}
