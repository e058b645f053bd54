//go:build !linux

package exec

// endMarked does nothing where the environment of other processes cannot be read.
func endMarked(string) {}
