package server

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/internal/trace"
)

// traceOf continues the trace of the headers traceparent and tracestate, or begins a new one. What the request starts continues
// the trace of the header, with the caller's span as its parent.
func traceOf(r *http.Request) (trace.Context, *http.Request) {
	at, given := trace.Context{}, false
	if parent := r.Header.Get("Traceparent"); parent != "" {
		at, given = trace.ParseBoth(parent, strings.Join(r.Header.Values(trace.StateHeader), ","))
	}
	if given {
		r = r.WithContext(effect.WithTracestate(effect.WithTraceparent(r.Context(), at.String()), at.State))
	} else {
		_, _ = rand.Read(at.Trace[:]) // never fails
		at.Flags = 0
	}
	_, _ = rand.Read(at.Span[:])
	return at, r
}

// account logs and counts a request. Queries are not logged: they may contain data.
func (s *Server) account(r *http.Request, w *recorder, rt *route, who identity, t trace.Context, took time.Duration) {
	operation := "none"
	if rt != nil {
		operation = rt.operation
	}
	s.figures.request(operation, w.status, took)
	level := slog.LevelInfo
	if rt != nil && rt.cost == free && w.status < http.StatusBadRequest {
		level = slog.LevelDebug
	}
	if !s.log.Enabled(r.Context(), level) {
		return
	}
	ctx := context.WithoutCancel(r.Context())
	s.log.LogAttrs(ctx, level, "request",
		slog.String("method", r.Method), slog.String("path", r.URL.Path), slog.String("operation", operation),
		slog.Int("status", w.status), slog.Int64("bytes", w.bytes), slog.Duration("took", took),
		slog.String("who", who.name), slog.String("address", s.remote(r)), slog.String("trace_id", t.Trace.String()))
}

// remote is the address that a request comes from; "local" over a unix socket. Behind a proxy that ends TLS it is
// what the proxy says, in the last item of X-Forwarded-For.
func (s *Server) remote(r *http.Request) string {
	if s.cfg.BehindTLS {
		if values := r.Header.Values("X-Forwarded-For"); len(values) > 0 {
			last := values[len(values)-1]
			if addr, err := netip.ParseAddr(strings.TrimSpace(last[strings.LastIndex(last, ",")+1:])); err == nil {
				return addr.String()
			}
		}
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return "local"
	}
	return host
}

// secure reports whether the client sent a request over TLS, to this server or to the proxy in front of it.
func (s *Server) secure(r *http.Request) bool { return r.TLS != nil || s.cfg.BehindTLS }

// Values of headers that many responses have. They are shared: a header gets another value by Set or Add, which make a new one.
var (
	noSniffing = []string{"nosniff"}
	sameOrigin = []string{"same-origin"}
	sandboxed  = []string{"default-src 'none'; style-src 'unsafe-inline'; sandbox"}
	notStored  = []string{"no-store"}
	inJSON     = []string{mediaJSON}
)

const mediaJSON = "application/json"

// protect sets the headers that every response has.
func (s *Server) protect(h http.Header, r *http.Request) {
	h["X-Content-Type-Options"] = noSniffing
	h["Cross-Origin-Resource-Policy"] = sameOrigin
	if s.secure(r) && !isLocalhost(hostOf(r)) { // there, other programs may serve without TLS
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
}
