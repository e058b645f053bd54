package sqlite

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// vfsName is a VFS that tells what the default one is asked to write, and that can fail.
const vfsName = "watched"

// ioKind is what is done to a file.
type ioKind int

const (
	ioWrite ioKind = iota
	ioTruncate
	ioSync
	ioDelete
)

// ioOp is one thing done to a file.
type ioOp struct {
	kind ioKind
	path string
	at   int64 // offset, or the new size
	data []byte
}

// watcher sees what is written below a directory.
type watcher struct {
	dir  string
	mu   sync.Mutex
	ops  []ioOp
	size int64                    // bytes written
	keep bool                     // remember the operations
	fail func(op ioOp) (rc int32) // 0: do it
}

// len is how many operations there were.
func (w *watcher) len() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.ops)
}

func (w *watcher) setFail(f func(ioOp) int32) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fail = f
}

// see notes an operation and tells whether it is to fail.
func (w *watcher) see(op ioOp) int32 {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fail != nil {
		if rc := w.fail(op); rc != 0 {
			return rc
		}
	}
	w.size += int64(len(op.data))
	if w.keep {
		op.data = slices.Clone(op.data)
		w.ops = append(w.ops, op)
	}
	return 0
}

// The hooks are C functions to SQLite, so what they know is global.
var watched struct {
	once     sync.Once
	mu       sync.Mutex
	vfs      lib.Tsqlite3_vfs    // the default one
	files    map[uintptr]string  // paths of open files
	original map[uintptr]uintptr // methods of open files
	wrapped  map[uintptr]uintptr // ours, by the original ones
	watchers []*watcher
}

// watch gives out a watcher for what happens below a directory.
func watch(t testing.TB, dir string) *watcher {
	watched.once.Do(registerVFS)
	w := &watcher{dir: dir}
	watched.mu.Lock()
	defer watched.mu.Unlock()
	watched.watchers = append(watched.watchers, w)
	t.Cleanup(func() {
		watched.mu.Lock()
		defer watched.mu.Unlock()
		watched.watchers = slices.DeleteFunc(watched.watchers, func(o *watcher) bool { return o == w })
	})
	return w
}

// see finds the watcher of a path.
func see(op ioOp) int32 {
	watched.mu.Lock()
	i := slices.IndexFunc(watched.watchers, func(w *watcher) bool { return strings.HasPrefix(op.path, w.dir) })
	var w *watcher
	if i >= 0 {
		w = watched.watchers[i]
	}
	watched.mu.Unlock()
	if w == nil {
		return 0
	}
	return w.see(op)
}

func registerVFS() {
	tls := libc.NewTLS()
	watched.files, watched.original, watched.wrapped = map[uintptr]string{}, map[uintptr]uintptr{}, map[uintptr]uintptr{}
	std := (*lib.Tsqlite3_vfs)(ptr(lib.Xsqlite3_vfs_find(tls, 0)))
	watched.vfs = *std
	p := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(*std)))
	name, err := libc.CString(vfsName)
	if err != nil {
		panic(err)
	}
	own := (*lib.Tsqlite3_vfs)(ptr(p))
	*own = *std
	own.FzName, own.FpNext = name, 0
	own.FxOpen, own.FxDelete = cFunc(vfsOpen), cFunc(vfsDelete)
	if rc := lib.Xsqlite3_vfs_register(tls, p, 0); rc != 0 {
		panic(rc)
	}
}

// ptr makes a pointer of an address that C code gave.
func ptr(p uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&p)) }

// cFunc is a function as C code calls it, fn the reverse (as modernc.org/libc has them).
func cFunc[T any](f T) uintptr { return *(*uintptr)(unsafe.Pointer(&struct{ f T }{f})) }

func fn[T any](p uintptr) T { return *(*T)(unsafe.Pointer(&struct{ p uintptr }{p})) }

func vfsOpen(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32 {
	rc := fn[func(*libc.TLS, uintptr, uintptr, uintptr, int32, uintptr) int32](watched.vfs.FxOpen)(tls, vfs, name, file, flags, out)
	f := (*lib.Tsqlite3_file)(ptr(file))
	if rc != 0 || f.FpMethods == 0 {
		return rc
	}
	watched.mu.Lock()
	defer watched.mu.Unlock()
	methods := f.FpMethods
	ours := watched.wrapped[methods]
	if ours == 0 {
		ours = libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(lib.Tsqlite3_io_methods{})))
		m := (*lib.Tsqlite3_io_methods)(ptr(ours))
		*m = *(*lib.Tsqlite3_io_methods)(ptr(methods))
		m.FxWrite, m.FxTruncate, m.FxSync, m.FxClose = cFunc(fileWrite), cFunc(fileTruncate), cFunc(fileSync), cFunc(fileClose)
		watched.wrapped[methods] = ours
	}
	path := ""
	if name != 0 {
		path = libc.GoString(name)
	}
	watched.files[file], watched.original[file] = path, methods
	f.FpMethods = ours
	return rc
}

func vfsDelete(tls *libc.TLS, vfs, name uintptr, syncDir int32) int32 {
	if rc := see(ioOp{kind: ioDelete, path: libc.GoString(name)}); rc != 0 {
		return rc
	}
	return fn[func(*libc.TLS, uintptr, uintptr, int32) int32](watched.vfs.FxDelete)(tls, vfs, name, syncDir)
}

// methodsOf is the path of an open file and its original methods.
func methodsOf(file uintptr) (string, *lib.Tsqlite3_io_methods) {
	watched.mu.Lock()
	defer watched.mu.Unlock()
	return watched.files[file], (*lib.Tsqlite3_io_methods)(ptr(watched.original[file]))
}

func fileWrite(tls *libc.TLS, file, buf uintptr, n int32, at int64) int32 {
	path, m := methodsOf(file)
	if rc := see(ioOp{ioWrite, path, at, unsafe.Slice((*byte)(ptr(buf)), n)}); rc != 0 {
		return rc
	}
	return fn[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](m.FxWrite)(tls, file, buf, n, at)
}

func fileTruncate(tls *libc.TLS, file uintptr, size int64) int32 {
	path, m := methodsOf(file)
	if rc := see(ioOp{kind: ioTruncate, path: path, at: size}); rc != 0 {
		return rc
	}
	return fn[func(*libc.TLS, uintptr, int64) int32](m.FxTruncate)(tls, file, size)
}

func fileSync(tls *libc.TLS, file uintptr, flags int32) int32 {
	path, m := methodsOf(file)
	if rc := see(ioOp{kind: ioSync, path: path}); rc != 0 {
		return rc
	}
	return fn[func(*libc.TLS, uintptr, int32) int32](m.FxSync)(tls, file, flags)
}

func fileClose(tls *libc.TLS, file uintptr) int32 {
	_, m := methodsOf(file)
	watched.mu.Lock()
	delete(watched.files, file)
	delete(watched.original, file)
	watched.mu.Unlock()
	// The original close looks at no methods of its own but clears the file.
	return fn[func(*libc.TLS, uintptr) int32](m.FxClose)(tls, file)
}
