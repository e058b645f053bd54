package process

import (
	"fmt"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/effect/exec"
)

// reader reads the arguments of a call. What is constant in a definition was checked with it; an expression may give
// anything. Its first error is kept.
type reader struct {
	args   expr.Value
	kind   string
	holds  func(expr.Value) bool
	limits exec.Limits // of each process
	err    error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

func (r *reader) get(name string) expr.Value {
	v, _ := r.args.Get(name)
	return v
}

// text reads an optional text.
func (r *reader) text(name string) string {
	v := r.get(name)
	if !v.IsNull() && v.Kind() != expr.KindString {
		r.fail("%s must be a text, not %s", name, v.Kind().WithArticle())
	}
	return v.Str()
}

func (r *reader) need(name string) string {
	text := r.text(name)
	if text == "" {
		r.fail("%s must be a text that is not empty", name)
	}
	return text
}

func (r *reader) await() bool {
	v, given := r.args.Get("await")
	return !given || v.Bool()
}

// stdin reads what the program reads: a text as it is, other values as JSON.
func (r *reader) stdin() []byte {
	v := r.get("stdin")
	if v.IsNull() {
		return nil
	}
	return []byte(v.Text())
}

// arguments reads the arguments of a program: a list since 1.0.3. Before, it is an object, which is returned as it is.
func (r *reader) arguments() (list []string, named expr.Value) {
	v := r.get("arguments")
	switch {
	case v.IsNull():
		return nil, expr.Null
	case v.IsObject():
		return nil, v
	case !v.IsArray():
		r.fail("arguments must be a list of texts, not %s", v.Kind().WithArticle())
	}
	for i, item := range v.Items() {
		list = append(list, r.argument(fmt.Sprintf("arguments[%d]", i), item))
	}
	return list, expr.Null
}

// argument reads one argument: everybody on the machine can read it.
func (r *reader) argument(place string, v expr.Value) string {
	text := v.Text()
	switch {
	case v.IsNull():
		r.fail("%s is null", place)
	case strings.ContainsRune(text, 0):
		r.fail("%s holds the character U+0000", place)
	case r.holds != nil && r.holds(v):
		r.fail("%s holds a secret, which lists of processes would show; pass it by environment or stdin", place)
	}
	return text
}

// environment reads the variables of a program, as NAME=value.
func (r *reader) environment() (out []string) {
	v := r.get("environment")
	if !v.IsNull() && !v.IsObject() {
		r.fail("environment must be an object, not %s", v.Kind().WithArticle())
	}
	for _, m := range v.Members() {
		switch text := m.Value.Text(); {
		case m.Key == "" || strings.ContainsAny(m.Key, "=\x00"):
			r.fail("%q is not the name of an environment variable", m.Key)
		case m.Key == keyVariable || m.Key == "TMPDIR":
			r.fail("the environment variable %s is set by Lockstep, for each call", m.Key)
		case strings.ContainsRune(text, 0):
			r.fail("the environment variable %s holds the character U+0000", m.Key)
		case !m.Value.IsNull():
			out = append(out, m.Key+"="+text)
		}
	}
	return out
}
