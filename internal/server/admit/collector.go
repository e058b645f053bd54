package admit

import (
	"os"
	"runtime/debug"
)

// collectorPercent is how much garbage, in percent of what is live, there may be before it is collected. Little
// is live in a process that runs workflows, and every step makes garbage: with the runtime's 100 a workflow of one
// step costs an eighth more processor time. `go run ./bench` measures the collector's share.
const collectorPercent = 400

// TuneCollector lets garbage grow up to a limit of memory in bytes before it is collected, so that the collector
// has less to do. Without a limit (0) it is left as it is, as nothing would bound the garbage of a large heap. GOGC
// comes first.
func TuneCollector(limit int64) {
	if limit <= 0 {
		return
	}
	debug.SetMemoryLimit(limit) // near it the collector works harder, before requests are refused
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectorPercent)
	}
}
