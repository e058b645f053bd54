package server

import (
	"net/http"

	"github.com/lockstep-workflows/lockstep/server/wfx"
)

// newJobs makes the view of jobs that clients of wfx have. It shares the tail of the feed
// and the places of streams with this package's own.
func (s *Server) newJobs() (*wfx.View, error) {
	return wfx.New(wfx.Config{
		Engine: s.engine, Registry: s.cfg.Registry, Tail: s.tail, Clock: s.cfg.Clock, Stopping: s.stopping, Streams: s.streams,
		Client: s.cfg.Client, Version: s.cfg.Version, Commit: s.cfg.Commit,
		Limits: wfx.Limits{
			Definition: s.limits.Definition, Body: s.limits.Body,
			WriteTimeout: s.limits.WriteTimeout, Heartbeat: s.limits.Heartbeat,
		},
	})
}

// access is who may do what of wfx's interface on the north, where there are tokens. On
// the south it is the device that counts, see Config.Client.
var access = map[wfx.Access][]Role{
	wfx.Open:    nil,
	wfx.Read:    readers,
	wfx.Start:   starters,
	wfx.Operate: operators,
	wfx.Author:  authors,
}

// dispatchJobs is dispatch for wfx's interface.
func (s *Server) dispatchJobs(side wfx.Side, w *recorder, r *http.Request) (rt *route, who identity, err error) {
	if side == wfx.North || s.cfg.Client == nil { // else something better than an address protects it
		if err := s.checkHost(r); err != nil {
			return nil, who, err
		}
	}
	rt, who = &route{operation: "wfx.none"}, anonymous
	op := s.jobs.Find(r)
	if op != nil {
		rt = &route{method: r.Method, operation: "wfx." + op.ID, roles: access[op.Access], exempt: op.Stream || op.Access == wfx.Open}
	}
	if side == wfx.North && rt.roles != nil {
		if who, err = s.identify(r); err != nil {
			return rt, who, err
		}
		if err := rt.authorize(who); err != nil {
			return rt, who, err
		}
	}
	// A page of another site may read, as with wfx. It may change something where tokens
	// tell who it acts for, or where its origin is trusted; a cookie comes along by itself,
	// and tells nothing.
	if (s.cfg.Tokens == nil || who.cookie) && op != nil {
		if err := s.origin.Check(r); err != nil {
			return rt, who, problem(CodeCrossOrigin, "a page of another site sent this")
		}
	}
	_, done, err := s.admit(rt, r)
	if err != nil {
		return rt, who, err
	}
	defer done()
	return rt, who, s.jobs.Serve(side, w, r)
}
