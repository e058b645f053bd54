package catalogue

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/calendar"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/effect/openapi"
)

// Options say what the functions of a catalogue may do, and through what.
type Options struct {
	AllowExec bool
	Dir       string         // of the file: commands run there
	Bundle    dialect.Bundle // for OpenAPI documents; nil: there are none
	Client    *http.Client
	OpenAPI   *openapi.Invoker
	Log       func(function string, message expr.Value) // of the built-in log; nil: nowhere
	Env       func(name string) (string, bool)          // of secrets; nil: os.LookupEnv
}

// Read reads a catalogue. Everything wrong in it is reported in one pass; the catalogue
// is nil when that includes an error.
func Read(ctx context.Context, file string, text []byte, o Options) (*Catalogue, *dialect.Document, dialect.Diagnostics) {
	if o.Env == nil {
		o.Env = os.LookupEnv
	}
	if o.Bundle == nil {
		o.Bundle = dialect.NoBundle
	}
	doc, found := dialect.Read(file, text)
	r := &reader{ctx: ctx, options: o, report: dialect.Reporter{File: file}}
	c := &Catalogue{options: o, entries: map[string]entry{}, kinds: map[string]string{}}
	if doc.Root != nil {
		r.functions(doc.Root, c)
	}
	found = append(found, append(r.report.Diagnostics(), r.documents...)...)
	found.Sort()
	if found.HasErrors() {
		return nil, doc, found
	}
	c.names = slices.Sorted(maps.Keys(c.entries))
	return c, doc, found
}

type reader struct {
	ctx       context.Context
	options   Options
	report    dialect.Reporter
	documents dialect.Diagnostics // of OpenAPI
}

var kinds = []string{"http", "openapi", "exec", "builtin"}

func (r *reader) functions(root *dialect.Node, c *Catalogue) {
	if !r.object(root, "a catalogue", "functions") {
		return
	}
	list := root.Get("functions")
	if list == nil {
		r.report.Errorf(root, codeMissing, "a catalogue has the key \"functions\"").WithHint("write functions: {NAME: {http: …}}")
		return
	}
	if !r.kind(list, expr.KindObject, "functions") {
		return
	}
	for _, n := range list.Members {
		if n.Name() == "" {
			r.report.Errorf(n.KeySpan(), codeValue, "a function has a name, and this one is empty")
		}
		if !r.object(n, fmt.Sprintf("function %q", n.Name()), append([]string{"description"}, kinds...)...) {
			continue
		}
		var given []string
		others := 0
		for _, m := range n.Members {
			if !slices.Contains(kinds, m.Name()) {
				if m.Name() != "description" {
					others++
				}
				continue
			}
			given = append(given, m.Name())
			if e := r.entry(n.Name(), m); e != nil {
				c.entries[n.Name()] = e
				c.kinds[n.Name()] = m.Name()
			}
		}
		switch {
		case len(given) > 1:
			r.report.Errorf(n.KeySpan(), codeKind, "function %q is %s, and must be one of them", n.Name(), strings.Join(given, " and "))
		case len(given) == 0 && others == 0: // else the key that is not known was most likely meant
			r.report.Errorf(n.KeySpan(), codeKind, "function %q does not say what it is", n.Name()).WithHint("it is one of %s", strings.Join(kinds, ", "))
		}
	}
}

func (r *reader) entry(name string, n *dialect.Node) entry {
	switch n.Name() {
	case "http":
		return r.http(n)
	case "openapi":
		return r.openapi(name, n)
	case "exec":
		return r.exec(n)
	}
	return r.builtin(n)
}

// object checks that a node is an object of these keys.
func (r *reader) object(n *dialect.Node, what string, keys ...string) bool {
	if !r.kind(n, expr.KindObject, what) {
		return false
	}
	for _, m := range n.Members {
		if !slices.Contains(keys, m.Name()) {
			r.report.Errorf(m.KeySpan(), codeKey, "%s has no key %q", what, m.Name()).
				WithHint("its keys are %s", strings.Join(keys, ", ")).DidYouMean(m.Name(), keys)
		}
	}
	return true
}

func (r *reader) kind(n *dialect.Node, want expr.Kind, what string) bool {
	if n.Is(want) {
		return true
	}
	d := r.report.Errorf(n, codeType, "%s must be %s, not %s", what, kindName(want), kindName(n.Kind))
	switch {
	case want == expr.KindString && what == "timeout" && n.Is(expr.KindNumber):
		d.WithHint("of seconds: write PT%sS", n.Raw())
	case want == expr.KindString && (n.Is(expr.KindNumber) || n.Is(expr.KindBool)):
		d.WithHint("write %q", n.Raw())
	}
	return false
}

func kindName(k expr.Kind) string {
	switch k {
	case expr.KindArray:
		return "a list"
	case expr.KindObject:
		return "an object"
	case expr.KindNull:
		return "null"
	}
	return "a " + k.String()
}

// required returns a member that is a text.
func (r *reader) required(n *dialect.Node, key string) *dialect.Node {
	m := n.Get(key)
	if m == nil {
		r.report.Errorf(n.KeySpan(), codeMissing, "%s needs %q", n.Name(), key)
		return nil
	}
	if !r.kind(m, expr.KindString, key) {
		return nil
	}
	return m
}

// constant returns the text of a member that holds neither {{ }} nor secrets.
func (r *reader) constant(n *dialect.Node, key string) *dialect.Node {
	m := n.Get(key)
	if m == nil || !r.kind(m, expr.KindString, key) {
		return nil
	}
	if strings.Contains(m.Text, "{{") || looksSecret(m.Text) {
		r.report.Errorf(m, codeValue, "%s is constant: it holds no {{ }} and no secret", key)
		return nil
	}
	return m
}

// longest timeout that a function may have.
const longest = 24 * time.Hour

func (r *reader) timeout(n *dialect.Node) time.Duration {
	m := r.constant(n, "timeout")
	if m == nil {
		return 0
	}
	d, err := calendar.ParseDuration(m.Text)
	span := duration(d)
	if err != nil || span <= 0 || span > longest {
		r.report.Errorf(m, codeValue, "timeout is a duration such as PT10S, at most a day")
		return 0
	}
	return span
}

// duration of a span without months; 0 where it is too long or has them.
func duration(d calendar.Duration) time.Duration {
	if d.Months != 0 || d.Days > 3650 || d.Days < 0 {
		return 0
	}
	return time.Duration(d.Days)*24*time.Hour + time.Duration(d.Nanos)
}
