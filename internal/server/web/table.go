// Package web is what both HTTP interfaces of a server have in common: they find the route of a request
// (table.go), read its body (body.go), and fill in the limits that are not set (defaults.go).
package web

import (
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
)

// Table finds the route of a request. The patterns of paths are those of [http.ServeMux] whose wildcards are whole
// segments. It is not a ServeMux, which redirects, answers 404 and 405 in its own words, and allocates for each request.
type Table[R any] struct {
	root segment[R]
}

// segment is what may follow a path.
type segment[R any] struct {
	methods  methods[R]             // of the path that ends here
	literals map[string]*segment[R] // by the next segment
	any      *segment[R]            // for every other one, which is the value of name
	name     string
}

// methods are the routes of a path.
type methods[R any] map[string]*R

// Add adds a route under a method and a path.
func (t *Table[R]) Add(method, path string, route *R) {
	if strings.Count(path, "{") > maxWildcards {
		panic(fmt.Sprintf("%s: a path has at most %d wildcards", path, maxWildcards))
	}
	at := &t.root
	for part := range strings.SplitSeq(strings.TrimPrefix(strings.TrimSuffix(path, "{$}"), "/"), "/") {
		at = at.child(path, part)
	}
	if at.methods == nil {
		at.methods = methods[R]{}
	}
	at.methods[method] = route
}

// child returns what follows a segment of a pattern.
func (s *segment[R]) child(pattern, part string) *segment[R] {
	if name, wild := strings.CutPrefix(part, "{"); wild {
		name = strings.TrimSuffix(name, "}")
		if s.any == nil {
			s.any, s.name = new(segment[R]), name
		}
		if s.name != name {
			panic(fmt.Sprintf("%s: the segment is {%s} in another route", pattern, s.name))
		}
		return s.any
	}
	if s.literals == nil {
		s.literals = map[string]*segment[R]{}
	}
	if s.literals[part] == nil {
		s.literals[part] = new(segment[R])
	}
	return s.literals[part]
}

// Values are the segments of a path that stand for the wildcards of a pattern.
type Values struct {
	names, values [maxWildcards]string
	count         int
}

// maxWildcards is how many wildcards a pattern has at most.
const maxWildcards = 2

// PathValue returns the segment for a wildcard; "": the pattern has none of this name.
func (v *Values) PathValue(name string) string {
	if i := slices.Index(v.names[:v.count], name); i >= 0 {
		return v.values[i]
	}
	return ""
}

// Unless returns the name of the first value that is not ok; "": all are.
func (v *Values) Unless(ok func(string) bool) string {
	for i := range v.count {
		if !ok(v.values[i]) {
			return v.names[i]
		}
	}
	return ""
}

// find finds the rest of a path. A literal segment comes before a wildcard.
func (s *segment[R]) find(rest string, more bool, v *Values) methods[R] {
	if !more {
		return s.methods
	}
	part, rest, more := strings.Cut(rest, "/")
	if text, err := url.PathUnescape(part); err == nil {
		part = text
	}
	if next := s.literals[part]; next != nil {
		if found := next.find(rest, more, v); found != nil {
			return found
		}
	}
	if s.any == nil || part == "" {
		return nil
	}
	v.names[v.count], v.values[v.count] = s.name, part
	v.count++
	found := s.any.find(rest, more, v)
	if found == nil {
		v.count--
	}
	return found
}

// Match is what a table has for a request.
type Match[R any] struct {
	Route *R // nil: the path does not exist, or not with this method
	Values
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

// Find returns the route of a request. A path in an unusual form (a//b, a/../b) is not found, rather than redirected.
func (t *Table[R]) Find(r *http.Request) (m Match[R]) {
	at := r.URL.EscapedPath()
	if at != "/" && path.Clean(at) != strings.TrimSuffix(at, "/") {
		return m
	}
	m.methods = t.root.find(strings.TrimPrefix(at, "/"), true, &m.Values)
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	m.Route = m.methods[method]
	return m
}
