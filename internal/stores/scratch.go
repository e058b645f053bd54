package stores

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/store/sqlite"
)

// The ends of the names of scratch folders.
const (
	writingSuffix   = ".partial"
	verifyingSuffix = ".verifying"
	restoringSuffix = ".restoring"
)

var scratchSuffixes = []string{writingSuffix, verifyingSuffix, restoringSuffix}

// lockName is the file in a scratch folder whose lock says that a process works there.
const lockName = "lock"

// scratch is a folder in which a backup or a restore works until what it makes is whole. It is beside the result, so that
// a rename is enough at the end. One process at a time has it.
type scratch struct {
	dir  string
	lock io.Closer
}

// claim makes the scratch folder of a file, or takes over that of a process that was killed.
func claim(file, suffix string) (*scratch, error) {
	s := &scratch{dir: file + suffix}
	if err := os.Mkdir(s.dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	lock, err := sqlite.Lock(s.path(lockName))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.dir, err)
	}
	s.lock = lock
	left, err := os.ReadDir(s.dir)
	for _, entry := range left {
		if err == nil && entry.Name() != lockName {
			err = os.RemoveAll(s.path(entry.Name()))
		}
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return s, nil
}

func (s *scratch) path(name string) string { return filepath.Join(s.dir, name) }

// remove removes the folder with everything in it, while it is still locked.
func (s *scratch) remove() {
	_ = os.RemoveAll(s.dir)
	_ = s.lock.Close()
}

// unclaimedAfter is how old a scratch folder is at least that nobody has: the process that made a younger one may not
// have its lock yet.
const unclaimedAfter = time.Minute

// Leftovers lists the scratch folders beside a file that backups and restores left there that were killed. The next
// backup to the same file, or restore, uses its folder again; others are to be removed by hand.
func Leftovers(file string) (out []string) {
	folder := filepath.Dir(file)
	found, _ := os.ReadDir(folder)
	for _, entry := range found {
		if !entry.IsDir() || !slices.Contains(scratchSuffixes, filepath.Ext(entry.Name())) {
			continue
		}
		dir := filepath.Join(folder, entry.Name())
		info, err := os.Stat(filepath.Join(dir, lockName))
		if err != nil || time.Since(info.ModTime()) < unclaimedAfter {
			continue
		}
		if held, err := sqlite.Lock(filepath.Join(dir, lockName)); err == nil {
			_ = held.Close()
			out = append(out, dir)
		}
	}
	return out
}
