package serve

import (
	"context"
	"io"
	"log/slog"
	"sync"
)

// logFormats are the formats of the log; auto is journald if stderr is the journal, otherwise text.
var logFormats = []string{"auto", "text", "json", "journald"}

// newLogger writes a log to w in a format.
func newLogger(w io.Writer, format string, level slog.Leveler) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if format == "auto" {
		format = "text"
		if toJournal(w) {
			format = "journald"
		}
	}
	switch format {
	case "json":
		return slog.New(slog.NewJSONHandler(w, options))
	case "journald":
		return slog.New(newJournal(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// journal writes lines for the systemd journal: with a priority as prefix, and without the time, which the
// journal adds.
type journal struct {
	slog.Handler
	out *prioritized
}

// prioritized prefixes each write with a priority.
type prioritized struct {
	mu       sync.Mutex
	w        io.Writer
	priority byte
}

func (p *prioritized) Write(line []byte) (int, error) {
	n, err := p.w.Write(append([]byte{'<', p.priority, '>'}, line...))
	return max(0, n-3), err
}

func newJournal(w io.Writer, options *slog.HandlerOptions) journal {
	options.ReplaceAttr = func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && (a.Key == slog.TimeKey || a.Key == slog.LevelKey) {
			return slog.Attr{}
		}
		return a
	}
	out := &prioritized{w: w}
	return journal{slog.NewTextHandler(out, options), out}
}

// Handle writes a record, with a single write.
func (j journal) Handle(ctx context.Context, r slog.Record) error {
	j.out.mu.Lock()
	defer j.out.mu.Unlock()
	j.out.priority = priorityOf(r.Level)
	return j.Handler.Handle(ctx, r)
}

// WithAttrs keeps the priority.
func (j journal) WithAttrs(attrs []slog.Attr) slog.Handler {
	return journal{j.Handler.WithAttrs(attrs), j.out}
}

// WithGroup keeps the priority.
func (j journal) WithGroup(name string) slog.Handler {
	return journal{j.Handler.WithGroup(name), j.out}
}

// priorityOf is the syslog priority of a level.
func priorityOf(level slog.Level) byte {
	switch {
	case level >= slog.LevelError:
		return '3'
	case level >= slog.LevelWarn:
		return '4'
	case level >= slog.LevelInfo:
		return '6'
	}
	return '7'
}
