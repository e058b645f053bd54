package server

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/server/wfx"
	"github.com/lockstep-workflows/lockstep/internal/trace"
)

// serve handles a request: trace, dispatch, error, log.
func (s *Server) serve(side wfx.Side, w http.ResponseWriter, r *http.Request) {
	begun, body := time.Now(), r.Body
	at, r := traceOf(r)
	x := new(exchange)
	rec := &x.recorder
	*rec = recorder{ResponseWriter: w, limits: &s.limits, hasBody: r.ProtoMajor < 2 && r.Body != nil && r.Body != http.NoBody}
	h := rec.Header()
	h["Traceparent"] = rec.value(at.String())
	s.protect(h, r)
	h["Content-Security-Policy"] = sandboxed
	var rt *route
	var who identity
	defer func() { rec.visit.leave() }()
	err := guard(func() (err error) {
		if side == wfx.South || wfx.Serves(r.URL.Path) || r.URL.Path == "/" && !s.isPage(r) {
			rt, who, err = s.dispatchJobs(side, rec, r)
		} else {
			rt, who, err = s.dispatch(x, r)
		}
		return err
	})
	r.Body = body // net/http looks for the rest of one that is not its own
	whole := err == nil || s.fail(rec, r, err, at)
	s.account(r, rec, rt, who, at, time.Since(begun))
	if !whole {
		panic(http.ErrAbortHandler)
	}
	rec.linger(body)
}

// guard turns a panic of a handler into an error.
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

// dispatch finds the route of a request, checks the request, and calls the handler.
func (s *Server) dispatch(x *exchange, r *http.Request) (rt *route, who identity, err error) {
	w := &x.recorder
	if err := s.checkHost(r); err != nil {
		return nil, who, err
	}
	match := s.routes.Find(r)
	rt = match.Route
	switch {
	case rt != nil:
	case !match.PathExists() && s.isPage(r):
		w.Header().Add("Vary", "Accept")
		s.cfg.Page.ServeHTTP(w, r)
		return pageRoute, anonymous, nil
	case !match.PathExists():
		p := problem(api.CodeNoRoute, fmt.Sprintf("nothing is served under %.200q", r.URL.Path))
		return nil, who, p.hint("/openapi.yaml lists all paths")
	case r.Method == http.MethodOptions:
		w.Header().Set("Allow", match.Allow())
		w.WriteHeader(http.StatusNoContent)
		return nil, who, nil
	default:
		w.Header().Set("Allow", match.Allow())
		return nil, who, problem(api.CodeMethod, fmt.Sprintf("%.20s is not a method of this path; %s are", r.Method, match.Allow()))
	}
	who = anonymous
	if rt.roles != nil {
		if who, err = s.identify(r); err != nil {
			return rt, who, err
		}
	}
	in, v := &x.request, &x.visit
	*in = request{Request: r, route: rt, who: who, path: match.Values, visit: v, deed: &x.deed}
	if rt.isAudited(r) {
		if id := in.PathValue("instance"); id != "" {
			in.deed.target = instancePath(id)
		}
		s.audit(w, r, rt.operation, who, in.deed)
	}
	if rt.roles == nil {
		*v = s.openVisit(r)
	} else {
		if err := rt.authorize(who); err != nil {
			return rt, who, err
		}
		*v = s.newVisit(wfx.North, s.holderOf(who, r), r)
	}
	if err := s.origin.Check(r); err != nil {
		return rt, who, problem(api.CodeCrossOrigin, "the request comes from a page of another site")
	}
	if in.query, err = rt.parseQuery(r.URL.RawQuery, x.params[:0]); err == nil {
		err = in.checkTexts()
	}
	if err != nil {
		return rt, who, err
	}
	if rt.operation == "startInstance" || rt.operation == "startInstances" {
		v.starts = in.PathValue("definition")
	}
	if err := v.admit(w, r, rt.cost, s.bodyLimit(rt)); err != nil {
		return rt, who, err
	}
	return rt, who, s.suggest(who, rt.handle(s, w, in))
}

// exchange is what a request takes, in one piece of memory.
type exchange struct {
	recorder recorder
	request  request
	visit    visit
	deed     deed
	params   [4]param // for as many as most requests have
}

// stillAllowed reports whether the sender of a request may still make it. Where the store cannot tell, it may.
func (s *Server) stillAllowed(rt *route, was identity, r *http.Request) bool {
	who, err := s.identify(r)
	if err != nil {
		return problemOf(err).Code != api.CodeUnauthorized
	}
	return who.name == was.name && rt.authorize(who) == nil
}

// bodyLimit is the maximum length of a request's body; 0: it is not read.
func (s *Server) bodyLimit(rt *route) int64 {
	switch {
	case rt.method == http.MethodGet || rt.method == http.MethodDelete:
		return 0
	case rt.roles == nil:
		return s.limits.OpenBody
	case rt.operation == "deployDefinition":
		return s.limits.Definition
	case rt.operation == "deployBundle":
		return s.limits.Bundle
	case rt.operation == "sendEvents":
		return max(s.limits.Events.Event, s.limits.Events.Batch)
	}
	return s.limits.Body
}

// overUnixSocket reports whether a request came over a unix socket, which no page can reach.
func overUnixSocket(r *http.Request) bool {
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ok && addr.Network() == "unix"
}

// checkHost refuses a Host that is not this server's, if only the address protects the server: the domain
// of another site can resolve to this address (DNS rebinding).
func (s *Server) checkHost(r *http.Request) error {
	if s.cfg.Tokens != nil || overUnixSocket(r) {
		return nil
	}
	name := hostOf(r)
	if addr, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil && addr.Zone() == "" || isLocalhost(name) || slices.Contains(s.cfg.Hosts, name) {
		return nil
	}
	return problem(api.CodeHost, fmt.Sprintf("%.100q is not a name of this server (Host header)", r.Host)).
		hint(fmt.Sprintf("if it is one, start the server with --host %.100s", name))
}

// hostOf is the host that a request names, without the port.
func hostOf(r *http.Request) string {
	host := r.Host
	if strings.Contains(host, ":") { // else looking for a port would make an error
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
	}
	return strings.TrimSuffix(strings.ToLower(host), ".")
}

func isLocalhost(name string) bool {
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}

// checkSideHost is checkHost for a side. If devices on the south are authenticated, any name is accepted.
func (s *Server) checkSideHost(side wfx.Side, r *http.Request) error {
	if side == wfx.South && s.cfg.Client != nil {
		return nil
	}
	return s.checkHost(r)
}

func busy(limit string) *problemError {
	p := problem(api.CodeBusy, "the server has reached its limit of requests (limit "+limit+")")
	p.Limit, p.retry = limit, 1
	return p
}

// fail answers with a problem, unless the response has begun: then the connection must be cut, so that the
// client does not take the response for complete.
func (s *Server) fail(w *recorder, r *http.Request, err error, at trace.Context) (whole bool) {
	p := *problemOf(err)
	if p.Status >= http.StatusInternalServerError {
		level := slog.LevelError
		if r.Context().Err() != nil {
			level = slog.LevelDebug
		}
		s.log.LogAttrs(context.WithoutCancel(r.Context()), level, "request failed",
			slog.String("code", string(p.Code)), slog.Any("error", err), slog.String("trace_id", at.Trace.String()))
	}
	if w.status != 0 {
		return false
	}
	p.Instance, p.TraceID = r.URL.Path, at.Trace.String()
	p.write(w)
	return true
}
