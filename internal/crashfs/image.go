package crashfs

import (
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// How says which of the operations that were not synced survive a crash.
type How string

// The kinds of crashes.
const (
	All    How = "all"    // the process is killed: all operations survive
	Synced How = "synced" // loss of power: only synced operations survive
	Some   How = "some"   // loss of power, and some of the others survive, a write perhaps in part
)

// Hows are all of them.
var Hows = []How{All, Synced, Some}

// Image is the files after a crash.
func Image(ops []Op, how How, r *rand.Rand) map[string][]byte { return image(nil, ops, how, r) }

func image(base map[string][]byte, ops []Op, how How, r *rand.Rand) map[string][]byte {
	files := map[string][]byte{}
	for path, data := range base {
		files[path] = slices.Clone(data)
	}
	durable := synced(ops)
	for i, op := range ops {
		part := len(op.Data)
		if !durable[i] && how != All && op.Kind != Delete {
			if how == Synced {
				continue
			}
			switch r.IntN(4) {
			case 0, 1:
				continue
			case 2:
				part = r.IntN(part + 1)
			}
		}
		apply(files, op, part)
	}
	return files
}

// synced returns which operations a sync has made durable. A sync that failed makes nothing durable,
// and neither does the next one for the writes before the failure: operating systems drop them.
func synced(ops []Op) []bool {
	out := make([]bool, len(ops))
	pending := map[string][]int{}
	for i, op := range ops {
		if op.Kind != Sync {
			pending[op.Path] = append(pending[op.Path], i)
			continue
		}
		if !op.Failed {
			for _, k := range pending[op.Path] {
				out[k] = true
			}
		}
		delete(pending, op.Path)
	}
	return out
}

// apply applies an operation; of a write only the first part bytes.
func apply(files map[string][]byte, op Op, part int) {
	f := files[op.Path]
	switch op.Kind {
	case Write:
		end := int(op.At) + part
		if len(f) < end {
			f = append(f, make([]byte, end-len(f))...)
		}
		copy(f[op.At:], op.Data[:part])
		files[op.Path] = f
	case Truncate:
		if int64(len(f)) > op.At {
			files[op.Path] = f[:op.At]
		}
	case Delete:
		delete(files, op.Path)
	}
}

// Load replaces everything below the directory, except locks, by files, and restarts the log. No file
// may be open.
func (d *Disk) Load(files map[string][]byte) error {
	entries, err := os.ReadDir(d.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(d.dir, e.Name())
		if _, stays := files[path]; stays || strings.HasSuffix(path, "-lock") {
			continue
		}
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if err := os.WriteFile(path, files[path], 0o600); err != nil {
			return err
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.base, d.ops = files, nil
	return nil
}

// Crash replaces the files by what a crash leaves of them. No file may be open.
func (d *Disk) Crash(how How, r *rand.Rand) error {
	d.mu.Lock()
	files := image(d.base, d.ops, how, r)
	d.mu.Unlock()
	return d.Load(files)
}
