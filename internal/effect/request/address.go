package request

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/expr/uritemplate"
)

// address fills the {name} of a request's address with arguments. rest are those that it does not name.
func address(r described, args expr.Value, reserved ...string) (target *url.URL, rest expr.Value, err error) {
	t, err := uritemplate.Parse(r.URI)
	switch {
	case err != nil:
		return nil, rest, definitionf("its address %q: %v", r.URI, err)
	case !strings.Contains(r.URI, "://"):
		return nil, rest, definitionf("its address %q has no host", r.URI)
	case !t.FixedHost() && !r.guarded:
		return nil, rest, definitionf("its address %q lets data choose the host", r.URI)
	}
	names := t.Names()
	if err := checkNamed(r.URI, names, args, reserved); err != nil {
		return nil, rest, err
	}
	budget := expr.NewBudget()
	filled, err := t.Eval(args, &budget)
	if err != nil {
		return nil, rest, err
	}
	if target, err = parse(filled.Value.Str()); err != nil && t.FixedHost() {
		return nil, rest, definitionf("its address %q: %v", r.URI, err)
	} else if err != nil {
		return nil, rest, err
	}
	members := slices.DeleteFunc(slices.Clone(args.Members()), func(m expr.Member) bool {
		return slices.Contains(names, m.Key) || slices.Contains(reserved, m.Key)
	})
	return target, expr.Object(members...), checkSteps(target)
}

// checkNamed reports what an address needs and the arguments do not give.
func checkNamed(uri string, names []string, args expr.Value, reserved []string) error {
	path, _ := uritemplate.Parse(beforeQuery(uri)) // it is a part of one that was parsed
	for _, name := range names {
		v, _ := args.Get(name)
		switch {
		case slices.Contains(reserved, name):
			return definitionf("its address needs the argument %q, which has another meaning", name)
		case v.IsNull():
			return fmt.Errorf("the argument %q is missing, which the address needs", name)
		case v.Text() == "" && slices.Contains(path.Names(), name):
			// /orders/{id} without an id is the address of all of them.
			return fmt.Errorf("the argument %q is empty, and a part of the path cannot be", name)
		}
	}
	return nil
}

// beforeQuery is a template up to the ? of its query, which stands outside of braces.
func beforeQuery(uri string) string {
	inside := false
	for i, c := range uri {
		switch c {
		case '{', '}':
			inside = c == '{'
		case '?':
			if !inside {
				return uri[:i]
			}
		}
	}
	return uri
}

// parse reads an address.
func parse(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, errors.New("it is not valid")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, errors.New("it must be one such as https://host/path")
	case u.User != nil:
		return nil, errors.New("it holds a user or password; a definition must not contain credentials")
	}
	u.Fragment, u.RawFragment = "", ""
	return u, http.CheckPort(u)
}

// checkSteps reports a path that leaves its place. Servers read %2e as a dot, and some %2f and \ as a slash.
func checkSteps(u *url.URL) error {
	for part := range strings.SplitSeq(u.EscapedPath(), "/") {
		plain, err := url.PathUnescape(part)
		up := slices.ContainsFunc(strings.FieldsFunc(plain, isSlash), func(step string) bool { return step == "." || step == ".." })
		if err != nil || up {
			return fmt.Errorf("the path of the address would have the step %q", part)
		}
	}
	return nil
}

func isSlash(c rune) bool { return c == '/' || c == '\\' }

// escape makes text safe as a part of a path or a query.
func escape(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }
