//go:build race

package sqlite

import "flag"

// Under the race detector SQLite, which is Go here, is ten times as slow.
const raceDetector = true

func init() { _ = flag.Set("rapid.checks", "15") } // the command line may say otherwise
