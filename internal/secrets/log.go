package secrets

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/internal/redact"
)

// Handler is a log handler that redacts what it writes.
func Handler(inner slog.Handler, s *Store) slog.Handler {
	if s == nil {
		return inner
	}
	return handler{inner, s}
}

type handler struct {
	inner slog.Handler
	store *Store
}

// Enabled asks the inner handler.
func (h handler) Enabled(ctx context.Context, l slog.Level) bool { return h.inner.Enabled(ctx, l) }

// Handle writes a record without the values of secrets.
func (h handler) Handle(ctx context.Context, r slog.Record) error {
	redactor := h.store.Redactor()
	out := slog.NewRecord(r.Time, r.Level, redactor.Text(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		out.AddAttrs(attr(redactor, a))
		return true
	})
	return h.inner.Handle(ctx, out)
}

// WithAttrs redacts the attributes.
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	redactor := h.store.Redactor()
	out := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		out[i] = attr(redactor, a)
	}
	return handler{h.inner.WithAttrs(out), h.store}
}

// WithGroup keeps redacting.
func (h handler) WithGroup(name string) slog.Handler {
	return handler{h.inner.WithGroup(name), h.store}
}

func attr(r *redact.Redactor, a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindString:
		v = slog.StringValue(r.Text(v.String()))
	case slog.KindGroup:
		group := v.Group()
		out := make([]slog.Attr, len(group))
		for i, inner := range group {
			out[i] = attr(r, inner)
		}
		v = slog.GroupValue(out...)
	case slog.KindAny:
		v = attrValue(r, v)
	}
	return slog.Attr{Key: r.Text(a.Key), Value: v}
}

// attrValue replaces a value whose text has a secret in it by that text, redacted.
func attrValue(r *redact.Redactor, v slog.Value) slog.Value {
	text := ""
	switch inner := v.Any().(type) {
	case error:
		text = inner.Error()
	case []byte:
		text = string(inner)
	case fmt.Stringer:
		text = inner.String()
	default:
		text = fmt.Sprintf("%+v", inner)
		if asJSON, err := json.Marshal(inner); err == nil { // how the handler for JSON writes it
			text += string(asJSON)
		}
	}
	if out := r.Text(text); out != text {
		return slog.StringValue(out)
	}
	return v
}

// Writer is a writer that redacts each text that is written to it. A value that is written in pieces
// is not found.
func Writer(inner io.Writer, s *Store) io.Writer {
	if s == nil {
		return inner
	}
	return writer{inner, s}
}

type writer struct {
	inner io.Writer
	store *Store
}

// Write writes all of text, or nothing.
func (w writer) Write(text []byte) (int, error) {
	if _, err := io.WriteString(w.inner, w.store.Redactor().Text(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}

// Invoker redacts what the failures of calls say: people read it. Values stay as they are, since
// the workflow goes on with them.
func Invoker(inner effect.Invoker, s *Store) effect.Invoker {
	if s == nil {
		return inner
	}
	return effect.Func(func(ctx context.Context, c effect.Call) effect.Outcome { return s.redacted(inner.Invoke(ctx, c)) })
}

func (s *Store) redacted(out effect.Outcome) effect.Outcome {
	if out.Failure != nil {
		f := s.Redactor().Failure(*out.Failure)
		out.Failure = &f
	}
	if wait := out.Wait; wait != nil {
		out.Wait = func(ctx context.Context) effect.Outcome { return s.redacted(wait(ctx)) }
	}
	return out
}
