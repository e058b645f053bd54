package lockstep

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/engine"
)

// maxFailureLines is how many failed instances the log names per second ("failure-log").
const maxFailureLines = 10

// failureLog logs instances that failed. It has no data of them: the name of an error, but not its detail.
type failureLog struct {
	log *slog.Logger

	mu       sync.Mutex
	second   int64 // that is counted
	lines    int   // in this second
	unlogged int64 // since the last line
}

// add logs an instance that failed or was put into quarantine.
func (l *failureLog) add(f engine.Failure) {
	unlogged, ok := l.admit(time.Now())
	if !ok {
		return
	}
	in := &f.Instance
	attrs := []slog.Attr{
		slog.String("definition", in.Definition), slog.String("version", in.Version), slog.String("instance", in.ID),
		slog.Duration("took", time.Duration(in.Updated-in.Created)),
	}
	if in.Fault != nil {
		attrs = append(attrs, slog.String("state", in.Fault.Node), slog.String("error", in.Fault.Name))
	}
	if in.Parent != "" {
		attrs = append(attrs, slog.String("parent", in.Parent))
	}
	if f.TraceID != "" {
		attrs = append(attrs, slog.String("trace_id", f.TraceID))
	}
	if unlogged > 0 {
		attrs = append(attrs, slog.Int64("unlogged", unlogged))
	}
	level, text := slog.LevelWarn, "instance failed"
	if in.Status != core.Failed {
		level, text = slog.LevelError, "instance quarantined"
	}
	l.log.LogAttrs(context.Background(), level, text, attrs...)
}

// admit reports whether a line may be written, and how many were not since the last one.
func (l *failureLog) admit(now time.Time) (unlogged int64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if second := now.Unix(); second != l.second {
		l.second, l.lines = second, 0
	}
	if l.lines >= maxFailureLines {
		l.unlogged++
		return 0, false
	}
	l.lines++
	unlogged, l.unlogged = l.unlogged, 0
	return unlogged, true
}
