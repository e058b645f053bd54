package serve

import (
	"context"
	"fmt"
	"log/slog"
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
	of     func(id string) string // the definition of an instance; nil: not known yet
	second time.Time
	shown  int // in that second
	hidden int
	later  *time.Timer // tells of the hidden ones
}

// know sets how the definition of an instance is found.
func (p *reporter) know(of func(id string) string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.of = of
}

// record prints a record of an instance, if people want to know it.
func (p *reporter) record(id string, r api.Record) {
	switch {
	case r.Type == api.RecordStarted:
		p.some(r.Time, "→", id, "started")
	case r.Type != api.RecordFinished:
	case r.Error != nil:
		p.mu.Lock()
		defer p.mu.Unlock()
		p.print("✗", id, "failed"+cli.InState(r.Error.Node)+": "+r.Error.Error())
	case r.Status == api.Completed:
		p.some(r.Time, "✓", id, "completed")
	default:
		p.some(r.Time, "■", id, string(r.Status))
	}
}

func (p *reporter) print(mark, id, what string) {
	of := ""
	if p.of != nil {
		if definition := p.of(id); definition != "" {
			of = " of " + definition
		}
	}
	fmt.Fprintf(p.app.Err, "%s instance %s\n", mark, cli.Plain(id+of+" "+what))
}

// some prints a line unless there were too many in the same second; how many there were is told a second later.
func (p *reporter) some(at time.Time, mark, id, what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if second := at.Truncate(time.Second); !second.Equal(p.second) {
		p.tellHidden()
		p.second, p.shown = second, 0
	}
	if p.shown == reportsPerSecond {
		if p.hidden++; p.hidden == 1 {
			p.later = time.AfterFunc(time.Second, p.rest)
		}
		return
	}
	p.shown++
	p.print(mark, id, what)
}

// rest tells how many starts and ends were not printed, also when no other follows.
func (p *reporter) rest() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tellHidden()
}

func (p *reporter) tellHidden() {
	if p.hidden == 0 {
		return
	}
	p.later.Stop()
	fmt.Fprintf(p.app.Err, "… and %d more starts and ends\n", p.hidden)
	p.hidden = 0
}

// withoutFailures is a log without the lines of failed instances: the reporter prints those, with their errors.
type withoutFailures struct{ slog.Handler }

// Handle implements slog.Handler.
func (h withoutFailures) Handle(ctx context.Context, r slog.Record) error {
	if r.Message == "instance failed" {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h withoutFailures) WithAttrs(attrs []slog.Attr) slog.Handler {
	return withoutFailures{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h withoutFailures) WithGroup(name string) slog.Handler {
	return withoutFailures{h.Handler.WithGroup(name)}
}
