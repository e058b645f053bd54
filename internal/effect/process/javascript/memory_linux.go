package javascript

import "syscall"

// limitMemory lets this process have no more than so many bytes of its own, and dump no core.
func limitMemory(bytes int64) {
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
	_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: uint64(bytes), Max: uint64(bytes)})
}
