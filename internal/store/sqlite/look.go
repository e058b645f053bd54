package sqlite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/lockstep-workflows/lockstep/internal/store"
)

// Where the header of a database file has what Look needs (SQLite's file format, section 1.3).
const (
	headerSize    = 100
	headerMagic   = "SQLite format 3\x00"
	headerVersion = 60 // user_version
	headerApp     = 68 // application_id
)

// Look returns the schema that a database file has, 0 if it has none yet, and the one that this program would
// migrate it to. It only reads the header, without a lock: another process that has the database open goes on. If
// that process has just made the database, the schema is in its log, and counts as the current one.
func Look(path string) (have, want int, err error) {
	want = len(migrations)
	if there, err := checkFiles(path); err != nil || !there {
		return 0, want, err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return 0, want, err
	}
	defer f.Close() // which would end locks of this process, see locks: it must not have the database open
	header := make([]byte, headerSize)
	switch _, err := io.ReadFull(f, header); {
	case errors.Is(err, io.EOF):
		return 0, want, nil
	case err != nil || string(header[:len(headerMagic)]) != headerMagic:
		return 0, want, errors.New("it is not an SQLite database")
	}
	app := binary.BigEndian.Uint32(header[headerApp:])
	have = int(int32(binary.BigEndian.Uint32(header[headerVersion:])))
	log, err := os.Stat(path + "-wal")
	switch {
	case app == 0 && have == 0 && err == nil && log.Size() > 0:
		return want, want, nil
	case app != applicationID && (app != 0 || have != 0):
		return 0, want, store.ErrForeign
	case have > want:
		return have, want, fmt.Errorf("its schema is version %d, this lockstep knows %d: it was written by a newer one", have, want)
	}
	return have, want, nil
}
