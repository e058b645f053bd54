package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/pagestat"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/sqlite"
)

// residence is what a process has of it, in bytes; 0 if the system does not report it.
type residence struct {
	Resident int64 `json:"resident"`
	Peak     int64 `json:"peak"` // of Resident
}

// ownMemory asks Linux.
func ownMemory() (m residence) {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return m
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), ":")
		var kib int64
		_, _ = fmt.Sscan(value, &kib)
		switch name {
		case "VmRSS":
			m.Resident = kib << 10
		case "VmHWM":
			m.Peak = kib << 10
		}
	}
	return m
}

func mebibytes(n int64) string {
	if n == 0 {
		return "unknown"
	}
	return fmt.Sprintf("%.0f MiB", float64(n)/(1<<20))
}

// database is a file in a directory.
type database struct {
	*sqlite.DB
	store store.Store
}

// Traffic is what the database did with pages so far.
func (db database) Traffic(ctx context.Context) (pagestat.Traffic, error) {
	return pagestat.Of(ctx, db.DB)
}

func openDatabase(dir string) (database, error) {
	db, err := sqlite.Open(filepath.Join(dir, "bench.db"), sqlite.Options{})
	if err != nil {
		return database{}, err
	}
	return database{db, db.Namespace("default")}, nil
}

// fileBytes is how large the files of a database are, together.
func fileBytes(dir string) (n int64) {
	files, _ := filepath.Glob(filepath.Join(dir, "bench.db*"))
	for _, name := range files {
		if info, err := os.Stat(name); err == nil {
			n += info.Size()
		}
	}
	return n
}
