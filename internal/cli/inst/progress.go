package inst

import (
	"fmt"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/cli"
)

// progressEvery is how often a command that waits on a terminal asks how far an instance is.
const progressEvery = time.Second

// progressOf is how far the foreach of an instance is that has most items; total 0: it runs none.
func progressOf(in api.Instance) (done, total int, note string) {
	for _, p := range in.Progress {
		if p.Total > total {
			done, total, note = p.Done, p.Total, progressNote(p)
		}
	}
	return done, total, note
}

// progressNote tells of the items that are not done.
func progressNote(p api.Progress) string {
	text := ""
	if p.InFlight > 0 {
		text += fmt.Sprintf(", %s in flight", cli.Grouped(p.InFlight))
	}
	if p.Failed > 0 {
		text += fmt.Sprintf(", %s failed", cli.Grouped(p.Failed))
	}
	return text
}

// progressText is how far a foreach is.
func progressText(p api.Progress) string {
	return fmt.Sprintf("%s of %s done, %s failed, %s in flight", cli.Grouped(p.Done), cli.Grouped(p.Total), cli.Grouped(p.Failed), cli.Grouped(p.InFlight))
}

// failedItemText is an item that failed, in one line.
func failedItemText(f api.FailedItem) string {
	text := cli.Grouped(f.Index)
	if len(f.Item) > 0 {
		text += " " + cli.Short(string(f.Item))
	}
	if f.Error == nil {
		return text
	}
	e := *f.Error
	if e.Item != nil && e.Item.Index == f.Index { // it is told already
		e.Item = nil
	}
	return text + ": " + faultText(&e)
}
