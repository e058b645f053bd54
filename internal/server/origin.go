package server

import "net/http"

// Pages of other sites can make a browser send requests here. Where a token is required,
// that is no danger: a page has the token from its user, or it has none. Everything else
// that protects a server goes along by itself (the address that the browser can reach, a
// cookie, a certificate). Then only the server's own pages and those of Config.Origins may
// send requests, to read as well as to change something.

// allowOrigin is what Access-Control-Allow-Origin says to the page that sends a request, or
// that asks in a preflight whether it may; "": it may not. checkOrigin goes by the same rule,
// so that a preflight allows exactly what the request may do.
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

// checkOrigin refuses what a page of another site sent and may not send.
func (s *Server) checkOrigin(r *http.Request, who identity) error {
	if s.tokenRequired(r) && !who.cookie || s.trusts(r) {
		return nil
	}
	return problem(CodeCrossOrigin, "a page of another site sent this").
		hint("--origin SCHEME://HOST[:PORT] lets the pages of a site send requests")
}

// tokenRequired reports whether nothing but a token lets a request in.
func (s *Server) tokenRequired(r *http.Request) bool {
	return s.cfg.Tokens != nil && (r.TLS == nil || len(r.TLS.VerifiedChains) == 0)
}

// trusts reports whether no page sent a request, or the server's own, or one of
// Config.Origins. http.CrossOriginProtection lets every page read: where a browser says which
// page it is, that page is to be known for reading, too.
func (s *Server) trusts(r *http.Request) bool {
	if r.Header.Get("Origin") != "" {
		r = &http.Request{Method: http.MethodPost, Host: r.Host, URL: r.URL, Header: r.Header}
	}
	return s.origin.Check(r) == nil
}
