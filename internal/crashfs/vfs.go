package crashfs

import (
	"sync"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// Name is the name of the VFS.
const Name = "crashfs"

// watched is global because SQLite calls the hooks as C functions, which cannot have a receiver.
var watched struct {
	once     sync.Once
	mu       sync.Mutex
	vfs      lib.Tsqlite3_vfs    // the default one
	files    map[uintptr]string  // paths of open files
	original map[uintptr]uintptr // methods of open files
	wrapped  map[uintptr]uintptr // wrapping methods, by the original ones
	disks    []*Disk
}

func register() {
	tls := libc.NewTLS()
	watched.files = map[uintptr]string{}
	watched.original = map[uintptr]uintptr{}
	watched.wrapped = map[uintptr]uintptr{}
	std := (*lib.Tsqlite3_vfs)(ptr(lib.Xsqlite3_vfs_find(tls, 0)))
	watched.vfs = *std
	p := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(*std)))
	name, err := libc.CString(Name)
	if err != nil {
		panic(err)
	}
	vfs := (*lib.Tsqlite3_vfs)(ptr(p))
	*vfs = *std
	vfs.FzName = name
	vfs.FpNext = 0
	vfs.FxOpen = cFunc(vfsOpen)
	vfs.FxDelete = cFunc(vfsDelete)
	if rc := lib.Xsqlite3_vfs_register(tls, p, 0); rc != 0 {
		panic(rc)
	}
}

// ptr converts an address from C code to a pointer.
func ptr(p uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&p)) }

// cFunc converts a function to the form in which translated C code calls it, fn is the reverse (both
// as in modernc.org/libc).
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
		m.FxWrite = cFunc(fileWrite)
		m.FxTruncate = cFunc(fileTruncate)
		m.FxSync = cFunc(fileSync)
		m.FxClose = cFunc(fileClose)
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
	path := libc.GoString(name)
	if d := diskOf(path); d != nil {
		if rc := d.see(Op{Kind: Delete, Path: path}); rc != 0 {
			return rc
		}
		if d.NoSync {
			syncDir = 0
		}
	}
	return fn[func(*libc.TLS, uintptr, uintptr, int32) int32](watched.vfs.FxDelete)(tls, vfs, name, syncDir)
}

// methodsOf returns the path of an open file and its original methods.
func methodsOf(file uintptr) (string, *lib.Tsqlite3_io_methods) {
	watched.mu.Lock()
	defer watched.mu.Unlock()
	return watched.files[file], (*lib.Tsqlite3_io_methods)(ptr(watched.original[file]))
}

func fileWrite(tls *libc.TLS, file, buf uintptr, n int32, at int64) int32 {
	path, m := methodsOf(file)
	if rc := see(Op{Kind: Write, Path: path, At: at, Data: unsafe.Slice((*byte)(ptr(buf)), n)}); rc != 0 {
		return rc
	}
	return fn[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](m.FxWrite)(tls, file, buf, n, at)
}

func fileTruncate(tls *libc.TLS, file uintptr, size int64) int32 {
	path, m := methodsOf(file)
	if rc := see(Op{Kind: Truncate, Path: path, At: size}); rc != 0 {
		return rc
	}
	return fn[func(*libc.TLS, uintptr, int64) int32](m.FxTruncate)(tls, file, size)
}

func fileSync(tls *libc.TLS, file uintptr, flags int32) int32 {
	path, m := methodsOf(file)
	d := diskOf(path)
	if d != nil {
		if rc := d.see(Op{Kind: Sync, Path: path}); rc != 0 || d.NoSync {
			return rc
		}
	}
	return fn[func(*libc.TLS, uintptr, int32) int32](m.FxSync)(tls, file, flags)
}

func fileClose(tls *libc.TLS, file uintptr) int32 {
	_, m := methodsOf(file)
	watched.mu.Lock()
	delete(watched.files, file)
	delete(watched.original, file)
	watched.mu.Unlock()
	// The original close does not use the methods of the file, so they need not be restored.
	return fn[func(*libc.TLS, uintptr) int32](m.FxClose)(tls, file)
}
