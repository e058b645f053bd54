package sqlite

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/lockstep-workflows/lockstep/internal/store"
)

const (
	ofdSetLock = 37 // F_OFD_SETLK: the lock belongs to the descriptor, not to the process

	// lockedByte is far behind the bytes that SQLite locks, and behind any database.
	lockedByte = 1 << 62
)

// lockInode locks a byte of the database file, so that no other process opens it by any
// name: a hard link, a file that was renamed, a mount in another container.
func lockInode(f *os.File) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	failed := raw.Control(func(fd uintptr) {
		err = syscall.FcntlFlock(fd, ofdSetLock, &syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart, Start: lockedByte, Len: 1})
	})
	switch {
	case failed != nil:
		return failed
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.EACCES):
		return fmt.Errorf("%w, by another name (it has a lock on the file %s)", store.ErrInUse, f.Name())
	}
	return nil // a file system without such locks has the lock file
}
