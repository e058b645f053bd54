// Package process runs the programs of Open Workflow 1.0: the tasks run: shell, run: script and run: container. The
// arguments of a call are the process as the definition has it, its expressions evaluated, with return where that is
// not stdout and await where that is false.
//
// Decisions (docs/calls.md has them for users):
//   - What the program writes is text, verbatim; bytes that are not UTF-8 become U+FFFD. An exit code other than 0 is a
//     result. A program that cannot be started, exceeds a limit or is killed by a signal has none: that is a fault.
//   - A program gets PATH, TMPDIR and the call's idempotency key, what the task gives, and nothing else of the
//     environment of this process, which may have secrets. It runs in an empty folder that is removed afterwards.
//   - Commands and code reach the interpreter as a file, so that lists of processes do not show them. Arguments are
//     shown there, so a secret in one of them is refused.
//   - JavaScript runs in a child of its own that is this program once more (package javascript).
//   - A container is found again by a label with the call's key: a call that is made again replaces it.
//
// Read process.go (the life of a program), read.go (its arguments), then shell.go, script.go and container.go.
package process
