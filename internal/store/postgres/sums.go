package postgres

import "github.com/lockstep-workflows/lockstep/internal/store/codec"

// sumsSince is the schema whose programs read values with checksums: 013_checksums.sql. While nodes of an
// older version are there, it waits, and values are written as these know them.
const sumsSince = 13

// learn notes which schema every program that uses the database knows at least: it never goes back.
func (db *DB) learn(since int) {
	if since >= sumsSince {
		db.sums.Store(true)
	}
}

// value is an encoded value as everybody can read it.
func (db *DB) value(data []byte) []byte {
	if db.sums.Load() || len(data) == 0 {
		return data
	}
	return codec.Plain(data)
}
