package serve

import (
	"fmt"
	"sync"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/cli"
)

// reportsPerSecond is how many starts and ends of instances dev prints in a second; failures are always printed.
const reportsPerSecond = 20

// reporter prints what starts, ends and fails in dev.
type reporter struct {
	app *cli.App

	mu     sync.Mutex
	second time.Time
	shown  int // in that second
	hidden int
}

// record prints a record of an instance, if people want to know it.
func (p *reporter) record(id string, r api.Record) {
	id = cli.Plain(id)
	switch {
	case r.Type == api.RecordStarted:
		p.some(r.Time, "→ instance %s started\n", id)
	case r.Type != api.RecordFinished:
	case r.Error != nil:
		fmt.Fprintf(p.app.Err, "✗ instance %s failed%s: %s\n", id, cli.Plain(cli.InState(r.Error.Node)), cli.Plain(r.Error.Error()))
	case r.Status == api.Completed:
		p.some(r.Time, "✓ instance %s completed\n", id)
	default:
		p.some(r.Time, "■ instance %s %s\n", id, string(r.Status))
	}
}

// some prints a line unless there were too many in the same second; the next second says how many there were.
func (p *reporter) some(at time.Time, format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if second := at.Truncate(time.Second); !second.Equal(p.second) {
		if p.hidden > 0 {
			fmt.Fprintf(p.app.Err, "… and %d more starts and ends\n", p.hidden)
		}
		p.second, p.shown, p.hidden = second, 0, 0
	}
	if p.shown == reportsPerSecond {
		p.hidden++
		return
	}
	p.shown++
	fmt.Fprintf(p.app.Err, format, args...)
}
