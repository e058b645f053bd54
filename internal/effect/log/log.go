// Package log writes what a workflow tells its operator to the log: the calls of functions such as sysout of
// SonataFlow. They reach nothing else, and have no result.
package log

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"unicode/utf8"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// MaxMessage is the limit log-message-bytes: what one record shows of a message.
const MaxMessage = 8 << 10

// Message is the message of every record. What the workflow says is an attribute: data must not pass for a message of
// the server.
const Message = "workflow log"

// Invoker writes records.
type Invoker struct{ log *slog.Logger }

var _ effect.Invoker = (*Invoker)(nil)

// New writes records to a log; nil: nowhere.
func New(log *slog.Logger) *Invoker {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Invoker{log}
}

// levels are those of the records. slog knows no level below debug.
var levels = map[string]slog.Level{
	"TRACE": slog.LevelDebug, "DEBUG": slog.LevelDebug, "INFO": slog.LevelInfo, "WARN": slog.LevelWarn, "ERROR": slog.LevelError,
}

// Invoke writes the argument message, or all arguments where there is none.
func (i *Invoker) Invoke(ctx context.Context, c effect.Call) effect.Outcome {
	b, _ := ir.BuiltinOf(c.Operation)
	level, ok := levels[strings.ToUpper(cmp.Or(b.Document, "INFO"))]
	if !ok {
		return effect.Fail(effect.Failure{Name: effect.NotFound, Detail: fmt.Sprintf(
			"function %q: the log has no level %q, only %s", c.Function, b.Document, strings.Join(ir.LogLevels, ", "))})
	}
	attrs := []slog.Attr{slog.String("function", c.Function)}
	if c.Instance != "" {
		attrs = append(attrs, slog.String("instance", c.Instance))
	}
	message, ok := c.Args.Get("message")
	if !ok {
		message = c.Args
	}
	i.log.LogAttrs(ctx, level, Message, append(attrs, slog.String("message", truncate(message)))...)
	return effect.Outcome{Value: expr.EmptyObject, None: true}
}

// truncate is a value as text, up to the limit.
func truncate(v expr.Value) string {
	text := v.Text()
	if len(text) <= MaxMessage {
		return text
	}
	end := MaxMessage
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + fmt.Sprintf("… (%d bytes, limit log-message-bytes)", len(text))
}
