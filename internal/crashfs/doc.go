// Package crashfs gives tests a file system for SQLite that keeps a log of what is written, can
// fail, and leaves what a crash would.
//
// [Watch] sees what connections with the VFS [Name] do to the files below a directory. The files
// are real ones: those of SQLite's default VFS. Of the log, [Image] makes what is found when the
// process or the power has gone: everything, only what was synced, or that and some of the rest,
// also torn; [Disk.Crash] puts that in the place of the files.
//
//	vfs.go    what SQLite calls
//	disk.go   the log, and what fails
//	image.go  what a crash leaves
package crashfs
