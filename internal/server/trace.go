package server

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"net/http"
	"strings"
	"time"
)

// trace is the W3C trace that a request belongs to.
type trace struct {
	id, span, flags string
}

// traceOf continues the trace of a traceparent header, or begins a new one.
func traceOf(header string) trace {
	t := trace{id: randomHex(16), span: randomHex(8), flags: "00"}
	parts := strings.Split(strings.TrimSpace(header), "-")
	if len(parts) < 4 || parts[0] == "00" && len(parts) != 4 {
		return t
	}
	version, id, parent, flags := parts[0], parts[1], parts[2], parts[3]
	for _, p := range []struct {
		text string
		size int
	}{{version, 2}, {id, 32}, {parent, 16}, {flags, 2}} {
		if len(p.text) != p.size || strings.Trim(p.text, "0123456789abcdef") != "" {
			return t
		}
	}
	if version == "ff" || strings.Trim(id, "0") == "" || strings.Trim(parent, "0") == "" {
		return t
	}
	t.id, t.flags = id, flags
	return t
}

func (t trace) header() string { return "00-" + t.id + "-" + t.span + "-" + t.flags }

func randomHex(bytes int) string {
	b := make([]byte, bytes)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// account logs and counts a request. Queries are not logged: they may contain data.
func (s *Server) account(r *http.Request, w *recorder, rt *route, who identity, t trace, took time.Duration) {
	operation := "none"
	if rt != nil {
		operation = rt.operation
	}
	s.figures.request(operation, w.status, took)
	level := slog.LevelInfo
	if rt != nil && rt.cost == free && w.status < http.StatusBadRequest {
		level = slog.LevelDebug
	}
	ctx := context.WithoutCancel(r.Context())
	if !s.log.Enabled(ctx, level) {
		return
	}
	s.log.LogAttrs(ctx, level, "request",
		slog.String("method", r.Method), slog.String("path", r.URL.Path), slog.String("operation", operation),
		slog.Int("status", w.status), slog.Int64("bytes", w.bytes), slog.Duration("took", took),
		slog.String("who", who.name), slog.String("trace_id", t.id))
}
