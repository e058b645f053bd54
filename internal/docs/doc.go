// Package docs runs what the documentation shows. Its tests read every page and carry it out as a reader would, from the
// first line to the last, in an empty folder:
//
//   - A block of console has commands, each after "$ ", and what they print. A shell runs them one after the other;
//     variables and folders stay. Where output is shown it is compared: "…" stands for any text in a line, and alone
//     in a line for any lines. A command without output must succeed.
//   - A block with a second word beside its language ("yaml order.yaml"), or whose first line is a comment with
//     nothing but a file's name ("# order.yaml"), is that file.
//   - Other blocks of yaml are checked as what they are: definitions, scenario files, catalogues, or a part of one, which is
//     completed in the language of its page (part_test.go). Those of json must be readable.
//   - Blocks of go are parts of embedding_test.go, which compiles and runs.
//   - "lockstep serve" and "lockstep dev" go on beside what follows, on free ports; the next one ends the one before.
//     http://127.0.0.1:8081 and :8080 stand for their addresses.
//   - postgres://lockstep@db.example/lockstep stands for a database of a real PostgreSQL.
//   - A block of sh is not run; of a command of lockstep the flags are checked, and of "lockstep serve" the settings. It has no
//     "$ " and shows no output. elsewhere_test.go has the list of these commands, each with the reason.
//
// Links to files and headings of the repository must lead somewhere.
//
// "go test ./internal/docs -update" writes what commands print into the pages. Read the difference.
package docs
