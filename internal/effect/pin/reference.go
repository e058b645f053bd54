package pin

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/effect/route"
)

// Point follows the fragment of a reference in a document: nothing, or a JSON pointer, which it returns unescaped.
func Point(root expr.Value, fragment string) (pointer string, v expr.Value, err error) {
	pointer, err = url.PathUnescape(fragment)
	switch {
	case err != nil || pointer == "":
		return pointer, root, err
	case pointer[0] != '/':
		return pointer, root, errors.New("it is an anchor, and only JSON pointers (#/…) are followed")
	}
	v, err = walk(root, strings.Split(pointer[1:], "/"))
	return pointer, v, err
}

func walk(v expr.Value, tokens []string) (expr.Value, error) {
	for _, token := range tokens {
		token = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		var ok bool
		if v.IsArray() {
			i, err := strconv.Atoi(token)
			if ok = err == nil && i >= 0 && i < v.Len(); ok {
				v = v.Items()[i]
			}
		} else {
			v, ok = v.Get(token)
		}
		if !ok {
			return expr.Null, fmt.Errorf("there is no %q", token)
		}
	}
	return v, nil
}

// Join resolves a reference in a document relative to that document, so that the bundle can open
// it. A document from the network cannot refer to local files.
func Join(base, ref string) (string, error) {
	if route.Remote(ref) {
		return route.LowerScheme(ref), nil
	}
	target, err := url.Parse(ref)
	if err != nil {
		return "", errors.New("it is not a URI")
	}
	if route.Remote(base) {
		if target.Scheme != "" {
			return "", fmt.Errorf("a document from the network cannot refer to %q", target.Scheme+":")
		}
		from, err := url.Parse(base)
		if err != nil {
			return "", err
		}
		return from.ResolveReference(target).String(), nil
	}
	if target.Scheme != "" || strings.HasPrefix(ref, "/") {
		return ref, nil // the bundle decides whether to open it
	}
	for _, prefix := range []string{"file://", "file:"} {
		if rest, ok := strings.CutPrefix(base, prefix); ok {
			base = rest
			if strings.HasPrefix(rest, "/") {
				ref = "file://" + path.Join(path.Dir(rest), ref)
				return ref, nil
			}
			break
		}
	}
	return path.Join(path.Dir(base), ref), nil
}
