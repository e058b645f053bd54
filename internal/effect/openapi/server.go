package openapi

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	effecthttp "github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/effect/route"
)

// server finds where the operation is served: its own servers, those of its path,
// those of the document, in this order; the first of a list. Variables take their
// defaults: data never chooses where a call goes.
func (c *compiler) server(op, item place) (*url.URL, error) {
	text := "/"
	for _, p := range []place{op, item, {doc: c.root, Value: c.root.root}} {
		list, _ := p.Get("servers")
		if list.Len() > 0 && list.IsArray() {
			var err error
			if text, err = c.fillServer(list.Items()[0]); err != nil {
				return nil, err
			}
			break
		}
	}
	return c.absolute(text)
}

func (c *compiler) fillServer(v expr.Value) (string, error) {
	text := effect.Text(v, "url")
	if text == "" {
		return "", broken("its server has no url")
	}
	variables, _ := v.Get("variables")
	var out strings.Builder
	for {
		before, rest, ok := strings.Cut(text, "{")
		out.WriteString(before)
		if !ok {
			return out.String(), nil
		}
		name, after, ok := strings.Cut(rest, "}")
		variable, known := variables.Get(name)
		if !ok || !known {
			return "", broken("the server's url has the variable %q, which is not described", name)
		}
		value, _ := variable.Get("default")
		if value.Kind() != expr.KindString && value.Kind() != expr.KindNumber {
			return "", broken("the server's variable %q has no default", name)
		}
		if values, ok := variable.Get("enum"); ok && c.version == v31 && !slices.Contains(textsOf(values), effect.Text(variable, "default")) {
			return "", broken("the server's variable %q has the default %q, which is not among its enum (%s)", name, effect.Text(variable, "default"), strings.Join(textsOf(values), ", "))
		}
		out.WriteString(effect.Text(variable, "default"))
		text = after
	}
}

// absolute is a server's URL, relative to where the document came from.
func (c *compiler) absolute(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, broken("the server %q is not a URL", text)
	}
	if route.Remote(c.root.ref) {
		if from, err := url.Parse(c.root.ref); err == nil {
			u = from.ResolveReference(u)
		}
	}
	switch {
	case u.Scheme == "" && u.Host != "":
		return nil, broken("the server %q has no scheme, and the document is a file; write https:%s", text, text)
	case u.Scheme == "" || u.Host == "":
		return nil, broken("no server is known: %q has no host, and the document is a file; add servers: [{url: https://host/path}]", text)
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, broken("the server's scheme is %q, and only http and https can be called", u.Scheme)
	case effecthttp.CheckPort(u) != nil:
		return nil, broken("the server's url %q: %v", text, effecthttp.CheckPort(u))
	case u.User != nil:
		return nil, broken("the server's url holds a user or password; a document must not contain credentials")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, broken("the server's url %q has a query or a fragment", text)
	case upward(u.EscapedPath()) != "":
		return nil, broken("the server's url %q has the step %q", text, upward(u.EscapedPath()))
	}
	return u, nil
}

// server2 finds where an operation of a 2.0 document is served.
func (c *compiler) server2(op place) (*url.URL, error) {
	root := c.root.root
	host, base := effect.Text(root, "host"), effect.Text(root, "basePath")
	if strings.ContainsAny(host, "/{}@?#") {
		return nil, broken("the host %q is not a host", host)
	}
	if base != "" && !strings.HasPrefix(base, "/") {
		base = "/" + base
	}
	if host == "" {
		base = cmp.Or(base, "/")
		return c.absolute(base)
	}
	schemes, ok := op.Get("schemes")
	if !ok {
		schemes, _ = root.Get("schemes")
	}
	var names []string
	for _, s := range schemes.Items() {
		names = append(names, s.Str())
	}
	scheme := "https"
	switch {
	case slices.Contains(names, "https"):
	case slices.Contains(names, "http"):
		scheme = "http"
	case len(names) > 0:
		return nil, broken("its schemes are %s, and only http and https can be called", strings.Join(names, ", "))
	case strings.HasPrefix(c.root.ref, "http:"):
		scheme = "http"
	}
	return c.absolute(scheme + "://" + host + base)
}
