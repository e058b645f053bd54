package crashfs

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"

	lib "modernc.org/sqlite/lib"
)

// Kind is a kind of file operation.
type Kind int

// The kinds of operations.
const (
	Write Kind = iota
	Truncate
	Sync
	Delete
)

// Op is one operation on a file.
type Op struct {
	Kind   Kind
	Path   string
	At     int64 // offset, or the new size
	Data   []byte
	Failed bool // of a sync: the writes before it may never become durable
}

// How an operation fails; 0: it does not.
const (
	DiskFull   int32 = lib.SQLITE_FULL
	WriteError int32 = lib.SQLITE_IOERR_WRITE
	SyncError  int32 = lib.SQLITE_IOERR_FSYNC
)

// Disk records the operations on files below a directory, and lets them fail.
type Disk struct {
	dir string

	// Set these before the first connection.
	Keep   bool // remember the operations
	NoSync bool // skip real syncs: images are made from the log, not from the files

	mu   sync.Mutex
	base map[string][]byte // the files when the log began
	ops  []Op
	size int64
	fail func(Op) int32
}

// Watch records the operations below a directory until Close.
func Watch(dir string) *Disk {
	watched.once.Do(register)
	d := &Disk{dir: strings.TrimSuffix(dir, string(filepath.Separator)) + string(filepath.Separator)}
	watched.mu.Lock()
	defer watched.mu.Unlock()
	watched.disks = append(watched.disks, d)
	return d
}

// Close stops recording.
func (d *Disk) Close() {
	watched.mu.Lock()
	defer watched.mu.Unlock()
	watched.disks = slices.DeleteFunc(watched.disks, func(o *Disk) bool { return o == d })
}

// Fail sets a function that decides whether an operation fails; nil: none does.
func (d *Disk) Fail(f func(Op) int32) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fail = f
}

// Ops lists the operations so far.
func (d *Disk) Ops() []Op {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ops[:len(d.ops):len(d.ops)]
}

// Written is how many bytes were written so far.
func (d *Disk) Written() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.size
}

// see records an operation and returns how it must fail.
func (d *Disk) see(op Op) int32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	rc := int32(0)
	if d.fail != nil {
		rc = d.fail(op)
	}
	if rc != 0 && op.Kind != Sync {
		return rc
	}
	op.Failed = rc != 0
	d.size += int64(len(op.Data))
	if d.Keep {
		op.Data = slices.Clone(op.Data)
		d.ops = append(d.ops, op)
	}
	return rc
}

// diskOf finds the disk of a path, nil if there is none.
func diskOf(path string) *Disk {
	watched.mu.Lock()
	defer watched.mu.Unlock()
	i := slices.IndexFunc(watched.disks, func(d *Disk) bool { return strings.HasPrefix(path, d.dir) })
	if i < 0 {
		return nil
	}
	return watched.disks[i]
}

func see(op Op) int32 {
	if d := diskOf(op.Path); d != nil {
		return d.see(op)
	}
	return 0
}
