//go:build !linux

package javascript

// limitMemory does nothing where there is no such limit.
func limitMemory(int64) {}
