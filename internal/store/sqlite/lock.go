package sqlite

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"zombiezen.com/go/sqlite"

	"github.com/lockstep-workflows/lockstep/internal/store"
)

// fileMode is the mode of files that are made here. SQLite gives its log and its index the
// mode of the database.
const fileMode = 0o600

// locks keep other processes out. The lock file has a name that people understand; the lock
// on the database itself holds whatever name it is opened by.
type locks struct {
	file *sqlite.Conn
	// database has the lock, see lockInode. It is closed after SQLite's connections: to
	// close any descriptor of a file ends the locks that SQLite has on it in this process.
	database *os.File
}

// take locks a database, and makes the file where there is none.
func (l *locks) take(path string) (err error) {
	if l.file, err = lockFile(path + "-lock"); err != nil {
		return err
	}
	if err := prepare(path); err != nil {
		return err
	}
	if l.database, err = os.OpenFile(path, os.O_RDWR, 0); err != nil {
		return err
	}
	return lockInode(l.database)
}

func (l *locks) release() (err error) {
	if l.database != nil {
		err = l.database.Close()
		l.database = nil
	}
	if l.file != nil {
		err = errors.Join(err, l.file.Close())
		l.file = nil
	}
	return err
}

// Lock takes the lock of a file that stands for something else, until it is closed or the process ends. The file is made
// where there is none.
func Lock(path string) (io.Closer, error) {
	c, err := lockFile(path)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// lockFile makes sure that no other process has the database. SQLite's locks end with
// the process, whatever ends it.
func lockFile(path string) (*sqlite.Conn, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if err := create(path); err != nil {
			return nil, fmt.Errorf("lock file: %w", err)
		}
	}
	c, err := sqlite.OpenConn(path, sqlite.OpenReadWrite|sqlite.OpenCreate)
	if err != nil {
		return nil, fmt.Errorf("lock file %s: %w", path, err)
	}
	c.SetBusyTimeout(0)
	st, _, err := c.PrepareTransient("BEGIN EXCLUSIVE")
	if err == nil {
		_, err = st.Step()
		_ = st.Finalize()
	}
	if err != nil {
		_ = c.Close()
		if sqlite.ErrCode(err).ToPrimary() == sqlite.ResultBusy {
			return nil, fmt.Errorf("%w (it holds %s)", store.ErrInUse, path)
		}
		return nil, fmt.Errorf("lock file %s: %w", path, err)
	}
	return c, nil
}

// create makes an empty file that only its owner can read.
func create(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, fileMode)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// prepare makes the file of a database where there is none, and refuses what SQLite would
// silently get wrong. It opens no file that exists, see locks.
func prepare(path string) error {
	there, err := checkFiles(path)
	if err == nil && !there {
		err = create(path)
	}
	return err
}

// checkFiles reports whether there is a database file, and what keeps it from being opened.
func checkFiles(path string) (there bool, err error) {
	info, err := os.Stat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if err != nil || info.Size() == 0 { // SQLite would delete the log
		if log, err := os.Stat(path + "-wal"); err == nil && log.Size() > 0 {
			return false, fmt.Errorf("there is a log, %s-wal, but its database is missing or empty: "+
				"put the database back beside it; to begin with an empty one, move the log away", path)
		}
	}
	if err != nil {
		return false, nil
	}
	if n := links(path, info); n > 1 {
		return true, fmt.Errorf("the file has %d names (hard links): SQLite finds its log by name, and under another one it would be lost; "+
			"remove the other names (find / -xdev -samefile %s), or copy the file", n, path)
	}
	return true, nil
}
