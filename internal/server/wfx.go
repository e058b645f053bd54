package server

import (
	"context"
	"errors"
	"net/http"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/server/wfx"
)

// newJobs makes the view of jobs for clients of wfx. It shares the tail of the feed and the places of
// streams with this package.
func (s *Server) newJobs() *wfx.View {
	client := s.cfg.Client
	if client == nil {
		client = wfx.HeaderClient
	}
	return wfx.New(wfx.Config{
		Engine: s.engine, Registry: s.cfg.Registry, Tail: s.tail, Clock: s.cfg.Clock, Stopping: s.stopping,
		Stream: enterStream, Heavy: enterHeavy, Client: client, AllowOrigin: s.allowOrigin,
		Version: s.cfg.Version, Commit: s.cfg.Commit,
		Compiling: func(ctx context.Context) (*dialect.Budget, func(), error) {
			ctx, cancel := context.WithTimeout(ctx, deployTime)
			work, err := s.compiling(ctx, visitOf(ctx).who, "deploy-time", deployTime)
			if err != nil {
				cancel()
				return nil, nil, err
			}
			return work.budget(), func() { work.leave(); cancel() }, nil
		},
		Limits: wfx.Limits{
			Definition: s.limits.Definition, Body: s.limits.Body, DeviceBody: s.limits.DeviceBody,
			WriteTimeout: s.limits.WriteTimeout, Heartbeat: s.limits.Heartbeat,
		},
	})
}

// access maps the operations of the wfx API to roles, on the north, if there are tokens. On the south the
// device decides, see Config.Client.
var access = map[wfx.Access][]Role{
	wfx.Open:    nil,
	wfx.Read:    readers,
	wfx.Start:   starters,
	wfx.Operate: operators,
	wfx.Author:  authors,
}

// dispatchJobs is dispatch for the wfx API.
func (s *Server) dispatchJobs(side wfx.Side, w *recorder, r *http.Request) (rt *route, who identity, err error) {
	if err := s.checkSideHost(side, r); err != nil {
		return nil, who, err
	}
	if side == wfx.South {
		if err := s.checkCertificate(r); err != nil {
			return nil, who, refused(w, err)
		}
	}
	rt, who = &route{operation: "wfx.none"}, anonymous
	match := s.jobs.Find(r)
	op := match.Route
	if op != nil {
		rt = &route{method: r.Method, operation: "wfx." + op.ID, roles: access[op.Access], cost: jobCost(op, r)}
	}
	first := s.openVisit(r)
	v := &first
	done := &deed{}
	if side == wfx.North && rt.roles != nil {
		if who, err = s.identify(r); err != nil {
			return rt, who, err
		}
		if jobAudited(op, r) {
			s.audit(w, r, rt.operation, who, done)
		}
		if err := rt.authorize(who); err != nil {
			return rt, who, err
		}
		*v = s.newVisit(side, s.holderOf(who, r), r)
		v.allowed = func() bool { return s.stillAllowed(rt, who, r) }
	}
	if op != nil {
		if err := s.checkOrigin(r, who); err != nil {
			return rt, who, err
		}
	}
	r = r.WithContext(context.WithValue(r.Context(), visitKey{}, v))
	err = s.jobs.Serve(side, w, r, match, wfx.Hooks{
		Admit: func(client string) error {
			if side == wfx.South && rt.roles != nil {
				holder := s.deviceHolder(client, r)
				who.name = holder.Key
				*v = s.newVisit(side, holder, r)
				v.allowed = func() bool { return s.deviceStillAllowed(client, r) }
			}
			if err := v.admit(w, r, rt.cost, s.jobBodyLimit(side, op)); err != nil || op.ID != "createJob" {
				return err
			}
			return v.start(1)
		},
		Changed: func(before, after string) { done.before, done.after = before, after },
	})
	if _, over := errors.AsType[*engine.QuotaError](err); over {
		err = problemOf(err)
	}
	if p, ok := errors.AsType[*problemError](err); ok && p.Code == api.CodeBusy && w.status == 0 { // as clients of wfx expect it
		w.Header().Set("Retry-After", itoa(int64(p.retry)))
		(&wfx.Refusal{Status: p.Status, Message: p.Detail}).Write(w)
		err = nil
	}
	return rt, who, err
}

// deviceStillAllowed is stillAllowed for the south.
func (s *Server) deviceStillAllowed(client string, r *http.Request) bool {
	err := s.checkCertificate(r)
	if err == nil && s.cfg.Client != nil {
		var id string
		var restricted bool
		if id, restricted, err = s.cfg.Client(r); err == nil && restricted && id != client {
			return false
		}
	}
	e, refused := errors.AsType[*wfx.Refusal](err)
	return !refused || e.Status >= http.StatusInternalServerError
}

// refused answers as clients of wfx expect a refusal.
func refused(w http.ResponseWriter, err error) error {
	if e, ok := errors.AsType[*wfx.Refusal](err); ok {
		e.Write(w)
		return nil
	}
	return err
}

// jobCost is the cost of an operation. Histories and response filters are heavy; the view accounts for
// these itself.
func jobCost(op *wfx.Operation, r *http.Request) cost {
	switch {
	case op.Stream || op.Access == wfx.Open:
		return free
	case r.Method == http.MethodGet || r.Method == http.MethodHead || op.ID == "deleteJob" || op.ID == "deleteWorkflow":
		return light
	}
	return normal
}

// jobBodyLimit is the maximum length of an operation's body.
func (s *Server) jobBodyLimit(side wfx.Side, op *wfx.Operation) int64 {
	switch {
	case !op.Body():
		return 0
	case op.ID == "createWorkflow":
		return s.limits.Definition
	case side == wfx.South:
		return s.limits.DeviceBody
	}
	return s.limits.Body
}

// enterHeavy and enterStream take places for the request that a context belongs to.
func enterHeavy(ctx context.Context) (release func(), err error) {
	v := visitOf(ctx)
	if err := v.enterHeavy(ctx); err != nil {
		return nil, err
	}
	return v.heavy.Release, nil
}

func enterStream(ctx context.Context) (release func(), allowed func() bool, err error) {
	v := visitOf(ctx)
	place, err := v.pools.streams.Take(v.who, 1)
	if err != nil {
		return nil, nil, full(err)
	}
	return place.Release, v.allowed, nil
}
