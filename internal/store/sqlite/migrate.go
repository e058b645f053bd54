package sqlite

import (
	"embed"
	"fmt"
	"io/fs"

	"github.com/lockstep-workflows/lockstep/internal/store"
)

//go:embed schema/*.sql
var schemaFiles embed.FS

// migrations are the files of schema in order; the n-th leads from version n-1 to n.
// One that was released is never changed: what comes after is a new file.
var migrations = func() []string {
	names, err := fs.Glob(schemaFiles, "schema/*.sql")
	if err != nil {
		panic(err)
	}
	var out []string
	for _, name := range names {
		text, err := fs.ReadFile(schemaFiles, name)
		if err != nil {
			panic(err)
		}
		out = append(out, string(text))
	}
	return out
}()

// applicationID marks database files of ours: "lock".
const applicationID = 0x6c6f636b

// migrate brings the schema to this version's, all of it or nothing.
func migrate(c *conn, steps []string) (err error) {
	if _, err := c.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer func() {
		if err != nil && !c.AutocommitEnabled() {
			_, _ = c.exec("ROLLBACK")
		}
	}()
	version, _, err := c.number("PRAGMA user_version")
	if err != nil {
		return err
	}
	app, _, err := c.number("PRAGMA application_id")
	if err != nil {
		return err
	}
	tables, _, err := c.number("SELECT count(*) FROM sqlite_schema")
	switch {
	case err != nil:
		return err
	case tables > 0 && app != applicationID:
		return store.ErrForeign
	case version > int64(len(steps)):
		return fmt.Errorf("its schema is version %d, this lockstep knows %d: it was written by a newer one", version, len(steps))
	}
	for i := version; i < int64(len(steps)); i++ {
		if err := c.script(steps[i]); err != nil {
			return fmt.Errorf("migrate to schema %d: %w", i+1, err)
		}
	}
	if version < int64(len(steps)) {
		if err := c.script(fmt.Sprintf("PRAGMA user_version = %d; PRAGMA application_id = %d", len(steps), applicationID)); err != nil {
			return err
		}
	}
	_, err = c.exec("COMMIT")
	return err
}
