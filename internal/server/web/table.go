// Package web is what both HTTP interfaces of a server have in common: they find the route of a request
// (table.go), read its body (body.go), and fill in the limits that are not set (defaults.go).
package web

import (
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
)

// Table finds the route of a request. The patterns of paths are those of [http.ServeMux], whose own
// dispatch is not used: it redirects, and answers 404 and 405 in its own words.
type Table[R any] struct {
	mux   http.ServeMux
	paths map[string]methods[R]
}

// methods are the routes of a path. They are a handler only for the mux to return them.
type methods[R any] map[string]*R

func (methods[R]) ServeHTTP(http.ResponseWriter, *http.Request) {}

// Add adds a route under a method and a path.
func (t *Table[R]) Add(method, path string, route *R) {
	if t.paths == nil {
		t.paths = map[string]methods[R]{}
	}
	if t.paths[path] == nil {
		t.paths[path] = methods[R]{}
		t.mux.Handle(path, t.paths[path])
	}
	t.paths[path][method] = route
}

// Match is what a table has for a request.
type Match[R any] struct {
	Route   *R // nil: the path does not exist, or not with this method
	methods methods[R]
}

// PathExists reports whether the path has a route for some method.
func (m Match[R]) PathExists() bool { return m.methods != nil }

// Allow lists the methods of the path, as the Allow header does.
func (m Match[R]) Allow() string {
	out := []string{http.MethodOptions}
	for method := range m.methods {
		out = append(out, method)
	}
	if m.methods[http.MethodGet] != nil {
		out = append(out, http.MethodHead)
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// Find returns the route of a request and sets the request's path values. A path in an unusual form
// (a//b, a/../b) is not found, rather than redirected.
func (t *Table[R]) Find(r *http.Request) Match[R] {
	at := r.URL.EscapedPath()
	if at != "/" && path.Clean(at) != strings.TrimSuffix(at, "/") {
		return Match[R]{}
	}
	handler, pattern := t.mux.Handler(r)
	found, ok := handler.(methods[R])
	if !ok {
		return Match[R]{}
	}
	setPathValues(r, pattern, at)
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	return Match[R]{found[method], found}
}

// setPathValues does what the mux does for a request that it serves itself.
func setPathValues(r *http.Request, pattern, at string) {
	for more := true; more; {
		var name, part string
		name, pattern, more = strings.Cut(pattern, "/")
		var there bool
		part, at, there = strings.Cut(at, "/")
		more = more && there
		if len(name) <= 2 || name[0] != '{' || name == "{$}" {
			continue
		}
		value, err := url.PathUnescape(part)
		if err != nil {
			value = part
		}
		r.SetPathValue(name[1:len(name)-1], value)
	}
}
