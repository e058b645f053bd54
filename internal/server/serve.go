package server

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/server/wfx"
)

// methods are the routes of one path.
type methods map[string]*route

// ServeHTTP is never called: the mux only finds the routes of a path.
func (methods) ServeHTTP(http.ResponseWriter, *http.Request) {}

func byPath() map[string]methods {
	out := map[string]methods{}
	for i := range routes {
		rt := &routes[i]
		if out[rt.path] == nil {
			out[rt.path] = methods{}
		}
		out[rt.path][rt.method] = rt
	}
	return out
}

// allow lists the methods of a path.
func (m methods) allow() []string {
	out := []string{"OPTIONS"}
	for method := range m {
		out = append(out, method)
	}
	if m["GET"] != nil {
		out = append(out, "HEAD")
	}
	slices.Sort(out)
	return out
}

// serve is everything that is common to requests.
func (s *Server) serve(side wfx.Side, w http.ResponseWriter, r *http.Request) {
	begun := time.Now()
	trace := traceOf(r.Header.Get("Traceparent"))
	rec := &recorder{ResponseWriter: w, limits: &s.limits, hasBody: r.ProtoMajor < 2 && r.Body != nil && r.Body != http.NoBody}
	h := rec.Header()
	h.Set("Traceparent", trace.header())
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
	var rt *route
	var who identity
	defer func() { rec.visit.leave() }()
	err := guard(func() (err error) {
		if side == wfx.South || wfx.Serves(r.URL.Path) || r.URL.Path == "/" && !s.isPage(r) {
			rt, who, err = s.dispatchJobs(side, rec, r)
		} else {
			rt, who, err = s.dispatch(rec, r)
		}
		return err
	})
	whole := err == nil || s.fail(rec, r, err, trace)
	s.account(r, rec, rt, who, trace, time.Since(begun))
	if !whole {
		panic(http.ErrAbortHandler)
	}
}

// guard makes a panic of a handler its error.
func guard(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			if v == http.ErrAbortHandler {
				panic(v)
			}
			err = fmt.Errorf("%w: panic: %v\n%s", errInternal, v, debug.Stack())
		}
	}()
	return f()
}

// dispatch finds the route of a request, and lets it through to the handler if all is
// well with it.
func (s *Server) dispatch(w *recorder, r *http.Request) (rt *route, who identity, err error) {
	if err := s.checkHost(r); err != nil {
		return nil, who, err
	}
	found := s.find(r)
	if found == nil && s.isPage(r) {
		w.Header().Add("Vary", "Accept")
		s.cfg.Page.ServeHTTP(w, r)
		return pageRoute, anonymous, nil
	}
	if found == nil {
		return nil, who, problem(CodeNoRoute, fmt.Sprintf("nothing is served under %.200q", r.URL.Path)).hint("/openapi.yaml lists what is")
	}
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	rt = found[method]
	switch {
	case rt != nil:
	case r.Method == http.MethodOptions:
		w.Header().Set("Allow", strings.Join(found.allow(), ", "))
		w.WriteHeader(http.StatusNoContent)
		return nil, who, nil
	default:
		p := problem(CodeMethod, fmt.Sprintf("%.20s is not a method of this path; %s are", r.Method, strings.Join(found.allow(), ", ")))
		p.allow = found.allow()
		return nil, who, p
	}
	who = anonymous
	v := s.openVisit(r)
	if rt.roles != nil {
		if who, err = s.identify(r); err != nil {
			return rt, who, err
		}
		if err := rt.authorize(who); err != nil {
			return rt, who, err
		}
		v = s.newVisit(wfx.North, s.holderOf(who, r), r)
	}
	if err := s.origin.Check(r); err != nil {
		return rt, who, problem(CodeCrossOrigin, "a page of another site sent this")
	}
	query, err := rt.parseQuery(r.URL.RawQuery)
	if err == nil {
		err = rt.checkTexts(r, query)
	}
	if err != nil {
		return rt, who, err
	}
	if err := v.admit(w, r, rt.cost, s.bodyLimit(rt)); err != nil {
		return rt, who, err
	}
	return rt, who, rt.handle(s, w, &request{Request: r, who: who, query: query, visit: v})
}

// bodyLimit is how long the body of a request may be; 0: it has none, or none that is read.
func (s *Server) bodyLimit(rt *route) int64 {
	switch {
	case rt.method == http.MethodGet || rt.method == http.MethodDelete:
		return 0
	case rt.roles == nil:
		return s.limits.OpenBody
	case rt.operation == "deployDefinition":
		return s.limits.Definition
	case rt.operation == "sendEvents":
		return max(s.limits.Events.Event, s.limits.Events.Batch)
	}
	return s.limits.Body
}

// find looks for the routes of a path. One that is written in an unusual way (a//b,
// a/../b) is not found, rather than redirected.
func (s *Server) find(r *http.Request) methods {
	if at := r.URL.EscapedPath(); at != "/" && path.Clean(at) != at {
		return nil
	}
	h, pattern := s.mux.Handler(r)
	found, ok := h.(methods)
	if !ok {
		return nil
	}
	setPathValues(r, pattern)
	return found
}

// setPathValues gives the request the parts of its path, as the mux does for a request
// that it serves itself.
func setPathValues(r *http.Request, pattern string) {
	names, parts := strings.Split(pattern, "/"), strings.Split(r.URL.EscapedPath(), "/")
	for i, name := range names {
		if len(name) > 2 && name[0] == '{' && i < len(parts) {
			r.SetPathValue(name[1:len(name)-1], unescape(parts[i]))
		}
	}
}

// overUnixSocket reports whether a request came by a unix socket, which no page reaches.
func overUnixSocket(r *http.Request) bool {
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ok && addr.Network() == "unix"
}

// checkHost refuses names that are not this server's, where nothing but the address
// protects it: the page of another site can have its own name lead here.
func (s *Server) checkHost(r *http.Request) error {
	if s.cfg.Tokens != nil || overUnixSocket(r) {
		return nil
	}
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	name := strings.TrimSuffix(strings.ToLower(host), ".")
	if net.ParseIP(strings.Trim(host, "[]")) != nil || name == "localhost" || strings.HasSuffix(name, ".localhost") || slices.Contains(s.cfg.Hosts, name) {
		return nil
	}
	return problem(CodeHost, fmt.Sprintf("%.100q is not a name of this server", r.Host)).
		hint(fmt.Sprintf("if it is one, start the server with --host %.100s", name))
}

// checkSideHost is checkHost for a side. On the south, something better than an address may
// protect the server: then any name will do.
func (s *Server) checkSideHost(side wfx.Side, r *http.Request) error {
	if side == wfx.South && s.cfg.Client != nil {
		return nil
	}
	return s.checkHost(r)
}

func busy(limit string) *Problem {
	p := problem(CodeBusy, "the server has as many requests as it can serve (limit "+limit+")")
	p.Limit, p.retry = limit, 1
	return p
}

// fail answers with a problem, unless the answer has begun: then it must be cut off, so
// that the client does not take it for whole.
func (s *Server) fail(w *recorder, r *http.Request, err error, trace trace) (whole bool) {
	p := *problemOf(err)
	if p.Status >= http.StatusInternalServerError {
		level := slog.LevelError
		if r.Context().Err() != nil {
			level = slog.LevelDebug
		}
		s.log.LogAttrs(context.WithoutCancel(r.Context()), level, "request failed",
			slog.String("code", string(p.Code)), slog.Any("error", err), slog.String("trace_id", trace.id))
	}
	if w.status != 0 {
		return false
	}
	p.Instance, p.TraceID = r.URL.Path, trace.id
	p.write(w)
	return true
}
