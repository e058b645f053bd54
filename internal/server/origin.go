package server

import (
	"net/http"

	"github.com/lockstep-workflows/lockstep/api"
)

// Pages of other sites can make a browser send requests here. If a token is required, that is no danger: a
// page does not have the token unless its user gave it one. All other protection works for every page of
// the browser (an address that the browser can reach, a cookie, a certificate). Then only the server's own
// pages and those of Config.Origins may send requests, to read as well as to change something.

// allowOrigin returns the Access-Control-Allow-Origin header for the page that sends a request or a
// preflight; "": the page may not. checkOrigin uses the same rule, so that a preflight allows exactly what
// the request may do.
func (s *Server) allowOrigin(r *http.Request) string {
	origin := r.Header.Get("Origin")
	switch {
	case origin != "" && s.tokenRequired(r):
		return "*"
	case origin != "" && s.trusts(r):
		return origin
	}
	return ""
}

// checkOrigin refuses a request from a page of another site that may not send it.
func (s *Server) checkOrigin(r *http.Request, who identity) error {
	if s.tokenRequired(r) && !who.cookie || s.trusts(r) {
		return nil
	}
	return problem(api.CodeCrossOrigin, "the request comes from a page of another site").
		hint("--origin SCHEME://HOST[:PORT] lets the pages of a site send requests")
}

// tokenRequired reports whether a token is the only credential that a request can have.
func (s *Server) tokenRequired(r *http.Request) bool {
	return s.cfg.Tokens != nil && (r.TLS == nil || len(r.TLS.VerifiedChains) == 0)
}

// trusts reports whether a request comes from no page, from the server's own, or from one of
// Config.Origins. http.CrossOriginProtection lets every page read; here a page that the browser names must
// be trusted for reading, too.
func (s *Server) trusts(r *http.Request) bool {
	if r.Header.Get("Origin") != "" {
		r = &http.Request{Method: http.MethodPost, Host: r.Host, URL: r.URL, Header: r.Header}
	}
	return s.origin.Check(r) == nil
}
