package sqlite

import (
	"fmt"
	"os"

	"github.com/lockstep-workflows/lockstep/internal/store"
)

// files are those that SQLite has open, as they were found under their names.
type files []file

type file struct {
	path string
	info os.FileInfo
}

// remember looks at the files of a database that is open.
func remember(path string) (files, error) {
	var out files
	for _, suffix := range []string{"", "-wal", "-shm", "-lock"} {
		info, err := os.Stat(path + suffix)
		if err != nil {
			return nil, err
		}
		out = append(out, file{path + suffix, info})
	}
	return out, nil
}

// check returns which file no longer has its name. SQLite would go on writing to a file that is lost
// when the process ends.
func (f files) check() error {
	for _, x := range f {
		now, err := os.Stat(x.path)
		if err == nil && os.SameFile(x.info, now) {
			continue
		}
		what := "another file is in the place of " + x.path
		if err != nil {
			what = fmt.Sprintf("%s is gone (%v)", x.path, err)
		}
		return fmt.Errorf("%w: %s: nothing is acknowledged any more; stop the server, put back the database together with its -wal, "+
			"or restore a backup, and start it again", store.ErrMoved, what)
	}
	return nil
}
