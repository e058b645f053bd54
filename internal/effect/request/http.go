package request

import (
	"errors"
	"fmt"
	nethttp "net/http"
	"net/textproto"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/effect/http"
)

// reserved are the arguments of http that are no parameters (0.9 §Using functions for HTTP Service Invocations).
var reserved = []string{"body", "cookies", "headers"}

// bodyMethods are those whose arguments are a body where there is no other place for them.
var bodyMethods = []string{"POST", "PUT", "PATCH"}

// methods are those of a request. CONNECT and TRACE, which 0.9 lists as well, are none of a service.
var methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}

// method reads the method of a request.
func method(r described) (string, error) {
	m := strings.ToUpper(r.Method)
	if !slices.Contains(methods, m) {
		return "", definitionf("its method is %q, and must be one of %s", r.Method, strings.Join(methods, ", "))
	}
	return m, nil
}

// objectOf is arguments as an object; null is an empty one.
func objectOf(args expr.Value) (expr.Value, error) {
	switch {
	case args.IsNull():
		return expr.EmptyObject, nil
	case !args.IsObject():
		return args, errors.New("the arguments must be an object, not " + args.Kind().WithArticle())
	}
	return args, nil
}

func httpCall(r described, args expr.Value) (c call, err error) {
	if c.Method, err = method(r); err != nil {
		return c, err
	}
	if args, err = objectOf(args); err != nil {
		return c, err
	}
	var query expr.Value
	if c.URL, query, err = address(r, args, reserved...); err != nil {
		return c, err
	}
	if err := http.AddQuery(c.URL, query); err != nil {
		return c, err
	}
	if c.Header, err = headers(r, args); err != nil {
		return c, err
	}
	body, _ := args.Get("body")
	c.secrets = body
	c.Body, err = encode(c.Header, body)
	return c, err
}

// headers are those of the definition, with those of the arguments and the cookies of both.
func headers(r described, args expr.Value) (nethttp.Header, error) {
	given, _ := args.Get("headers")
	merged, err := merge("headers", r.Headers, given, textproto.CanonicalMIMEHeaderKey)
	if err != nil {
		return nil, err
	}
	out, err := http.ReadHeaders(merged)
	if err != nil {
		return nil, err
	}
	given, _ = args.Get("cookies")
	merged, err = merge("cookies", r.Cookies, given, strings.Clone)
	if err != nil {
		return nil, err
	}
	all := out["Cookie"]
	for _, m := range merged.Members() {
		switch {
		case m.Value.IsNull():
			continue
		case m.Value.IsObject() || m.Value.IsArray():
			return nil, fmt.Errorf("the cookie %q must be text, a number or a boolean, not %s", m.Key, m.Value.Kind().WithArticle())
		case m.Key == "" || strings.ContainsFunc(m.Key, notInCookieName):
			return nil, fmt.Errorf("%q is not the name of a cookie", m.Key)
		case strings.ContainsFunc(m.Value.Text(), notInCookie):
			return nil, fmt.Errorf("the cookie %q would hold a character that no cookie can have; escape it", m.Key)
		}
		all = append(all, m.Key+"="+m.Value.Text())
	}
	if len(all) > 0 {
		out.Set("Cookie", strings.Join(all, "; "))
	}
	return out, nil
}

// merge is an object of what the definition says and of the arguments, which win. Names are compared in the form that
// canonical gives them.
func merge(what string, text []byte, given expr.Value, canonical func(string) string) (expr.Value, error) {
	own := expr.Null
	if len(text) > 0 {
		var err error
		if own, err = expr.ParseJSON(text); err != nil {
			return own, definitionf("its %s: %v", what, err)
		}
	}
	for _, v := range []expr.Value{own, given} {
		if !v.IsNull() && !v.IsObject() {
			return v, errors.New(what + " must be an object, not " + v.Kind().WithArticle())
		}
	}
	members := slices.Clone(given.Members())
	for _, m := range own.Members() {
		if !slices.ContainsFunc(members, func(g expr.Member) bool { return canonical(g.Key) == canonical(m.Key) }) {
			members = append(members, m)
		}
	}
	return expr.Object(members...), nil
}

// notInCookie reports what cannot stand in the value of a cookie (RFC 6265 §4.1.1).
func notInCookie(c rune) bool { return c <= ' ' || c >= 0x7f || strings.ContainsRune(`",;\`, c) }

// notInCookieName reports what cannot stand in a name: all that is not in a token of HTTP.
func notInCookieName(c rune) bool { return notInCookie(c) || strings.ContainsRune(`()<>@:/[]?={}`, c) }

// encode writes a body as the header Content-Type says, and sets one where there is none: text is text, all else JSON.
func encode(h nethttp.Header, body expr.Value) ([]byte, error) {
	media := h.Get("Content-Type")
	switch {
	case body.IsNull():
		return nil, nil
	case body.Kind() == expr.KindString:
		if media == "" {
			h.Set("Content-Type", "text/plain; charset=utf-8")
		}
		return []byte(body.Str()), nil
	case media == "":
		h.Set("Content-Type", "application/json")
		return body.AppendJSON(nil), nil
	}
	return http.Encode(media, body)
}

func restCall(r described, args expr.Value) (c call, err error) {
	if c.Method, err = method(r); err != nil {
		return c, err
	}
	var rest expr.Value
	if c.URL, rest, err = address(r, args); err != nil {
		return c, err
	}
	if !slices.Contains(bodyMethods, c.Method) {
		if _, err := objectOf(args); err != nil {
			return c, err
		}
		return c, http.AddQuery(c.URL, rest)
	}
	if !args.IsNull() && !args.IsObject() {
		rest = args // a list or a text is the body as a whole
	}
	c.secrets, c.Body = rest, rest.AppendJSON(nil)
	c.Header = nethttp.Header{"Content-Type": {"application/json"}}
	return c, nil
}
