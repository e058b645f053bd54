//go:build !linux

package sqlite

import "os"

// lockInode does nothing here: a lock on the file itself would be in the way of SQLite's, or
// end when SQLite closes a connection. prepare refuses files with several names.
func lockInode(*os.File) error { return nil }
