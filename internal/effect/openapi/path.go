package openapi

import (
	"net/url"
	"strings"
	"unicode"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
)

// checkPath sees to it that every placeholder has a parameter and every parameter of
// the path a placeholder, and that nothing but data could spoil the address.
func (o *operation) checkPath() error {
	if !strings.HasPrefix(o.path, "/") {
		return broken("the path %q does not begin with /", o.path)
	}
	if strings.ContainsFunc(o.path, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || r == '#' }) {
		return broken("the path %q holds a blank, a # or a control character", o.path)
	}
	template, fixed, _ := strings.Cut(o.path, "?")
	if strings.ContainsAny(fixed, "{}") {
		return broken("the path %q has a placeholder in a query, where nothing fills it; describe it as a parameter with in: query", o.path)
	}
	used := map[string]bool{}
	for _, piece := range pieces(template) {
		switch {
		case piece.name == "":
			if strings.ContainsAny(piece.text, "{}") {
				return broken("the path %q has a brace without its other half, or nothing between them", o.path)
			}
		case o.parameter(piece.name) == nil:
			return broken("the path %q has the placeholder {%s}, for which there is no parameter", o.path, piece.name)
		}
		used[piece.name] = true
	}
	for _, p := range o.parameters {
		if p.in == inPath && !used[p.name] {
			return broken("parameter %q goes into the path, and the path %q has no placeholder {%s}", p.name, o.path, p.name)
		}
	}
	// A placeholder is never a . of its own: what fills it is judged for each call.
	if step := upward(template); step != "" {
		return broken("the path %q has the step %q", o.path, step)
	}
	return nil
}

// upward finds a step of an escaped path that servers take for . or .., also where it
// is written with %2e.
func upward(path string) string {
	for _, step := range strings.Split(path, "/") {
		plain, err := url.PathUnescape(step)
		if err != nil {
			plain = step
		}
		if plain == "." || plain == ".." {
			return step
		}
	}
	return ""
}

// parameter finds one of the path.
func (o *operation) parameter(name string) *parameter {
	for _, p := range o.parameters {
		if p.in == inPath && p.name == name {
			return p
		}
	}
	return nil
}

// piece is a part of a path: text, or a placeholder.
type piece struct{ text, name string }

func pieces(path string) []piece {
	var out []piece
	for {
		before, rest, ok := strings.Cut(path, "{")
		if before != "" {
			out = append(out, piece{text: before})
		}
		if !ok {
			return out
		}
		name, after, ok := strings.Cut(rest, "}")
		if !ok || name == "" {
			return append(out, piece{text: "{" + rest})
		}
		out = append(out, piece{name: name})
		path = after
	}
}

// address is the URL with the path filled in. An argument never adds a step to the
// path, and never goes up.
func (o *operation) address(args expr.Value, query []string) (*url.URL, *effect.Failure) {
	template, fixed, _ := strings.Cut(o.path, "?")
	path := strings.TrimSuffix(o.base.EscapedPath(), "/")
	for _, piece := range pieces(template) {
		if piece.name == "" {
			path += literal(piece.text)
			continue
		}
		p := o.parameter(piece.name)
		v, _ := args.Get(piece.name)
		text, err := p.inline(v, escape)
		if err != nil {
			return nil, o.invalid("the argument %q: %v", p.name, err)
		}
		if text == "" {
			return nil, o.invalid("the argument %q is empty, and a part of the path cannot be", p.name)
		}
		path += text
	}
	if step := upward(path); step != "" {
		return nil, o.invalid("the path %q would have the step %q", path, step)
	}
	if fixed != "" {
		query = append([]string{fixed}, query...)
	}
	u := *o.base
	var err error
	if u.Path, err = url.PathUnescape(path); err != nil {
		return nil, o.invalid("the path %q is not valid", path)
	}
	u.RawPath, u.RawQuery = path, strings.Join(query, "&")
	return &u, nil
}

// literal is text of a path template; escapes that are there already stay.
func literal(text string) string {
	if _, err := url.PathUnescape(text); err != nil {
		return percent(text, unreserved+"/:@!$&'()*+,;=")
	}
	return percent(text, unreserved+"/:@!$&'()*+,;=%")
}
