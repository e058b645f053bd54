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
	"github.com/lockstep-workflows/lockstep/internal/effect/auth"
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
	Secrets   auth.Secret                               // nil: there are none
}

// Read reads a catalogue. Everything wrong in it is reported in one pass; the catalogue
// is nil when that includes an error.
func Read(ctx context.Context, file string, text []byte, o Options) (*Catalogue, *dialect.Document, dialect.Diagnostics) {
	if o.Env == nil {
		o.Env = os.LookupEnv
	}
	if o.Secrets == nil {
		o.Secrets = func(string) (expr.Value, bool) { return expr.Null, false }
	}
	if o.Bundle == nil {
		o.Bundle = dialect.NoBundle
	}
	doc, found := dialect.Read(file, text)
	r := &reader{ctx: ctx, options: o, Reader: &dialect.Reader{Reporter: &dialect.Reporter{File: file}, Strict: true, Codes: fieldCodes}}
	c := &Catalogue{options: o, entries: map[string]entry{}, kinds: map[string]string{}}
	if doc.Root != nil {
		r.functions(doc.Root, c)
	}
	found = append(found, append(r.Diagnostics(), r.documents...)...)
	found.Sort()
	if found.HasErrors() {
		return nil, doc, found
	}
	c.names = slices.Sorted(maps.Keys(c.entries))
	return c, doc, found
}

// reader reads a catalogue; see [dialect.Reader] for the checks that all files share.
type reader struct {
	*dialect.Reader
	ctx       context.Context
	options   Options
	documents dialect.Diagnostics // of OpenAPI
}

var fieldCodes = dialect.FieldCodes{
	Type: codeType, Missing: codeMissing, Empty: codeValue, Choice: codeValue, Unknown: codeKey, Both: codeKind,
}

var kinds = []string{"http", "openapi", "exec", "builtin"}

func (r *reader) functions(root *dialect.Node, c *Catalogue) {
	f := r.Fields(root, "a catalogue")
	if f == nil {
		return
	}
	list := f.Typed("functions", expr.KindObject)
	if f.Peek("functions") == nil {
		f.Missing("functions").WithHint("write functions: {NAME: {http: …}}")
	}
	f.Done()
	if list == nil {
		return
	}
	for _, n := range list.Members {
		if n.Name() == "" {
			r.Errorf(n.KeySpan(), codeValue, "the name of a function must not be empty")
		}
		r.function(n, c)
	}
}

// function reads one function, which is of exactly one kind.
func (r *reader) function(n *dialect.Node, c *Catalogue) {
	f := r.Fields(n, fmt.Sprintf("function %q", n.Name()))
	if f == nil {
		return
	}
	f.Get("description")
	var given *dialect.Node
	for _, kind := range kinds {
		m := f.Get(kind)
		if m == nil {
			continue
		}
		if given != nil {
			f.Both(given, m)
		}
		given = m
		if e := r.entry(n.Name(), m); e != nil {
			c.entries[n.Name()] = e
			c.kinds[n.Name()] = kind
		}
	}
	f.Done()
	unknown := slices.ContainsFunc(n.Members, func(m *dialect.Node) bool { return !slices.Contains(f.Keys(), m.Name()) })
	if given == nil && !unknown { // else the unknown key was most likely meant
		r.Errorf(n.KeySpan(), codeKind, "function %q needs one of %s", n.Name(), strings.Join(kinds, ", "))
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

// constant returns the text of a member that holds neither {{ }} nor secrets.
func (r *reader) constant(f *dialect.Fields, key string) *dialect.Node {
	m := f.Str(key)
	if m == nil {
		return nil
	}
	if strings.Contains(m.Text, "{{") || looksSecret(m.Text) {
		r.Errorf(m, codeValue, "%s must be constant: {{ }} and secrets are not allowed", key)
		return nil
	}
	return m
}

// longest timeout that a function may have.
const longest = 24 * time.Hour

func (r *reader) timeout(f *dialect.Fields) time.Duration {
	if n := f.Peek("timeout"); n.Is(expr.KindNumber) {
		f.Get("timeout")
		r.Expected(n, "timeout", "a duration").WithHint("for seconds write PT%sS", n.Raw())
		return 0
	}
	m := r.constant(f, "timeout")
	if m == nil {
		return 0
	}
	d, err := calendar.ParseDuration(m.Text)
	span := duration(d)
	if err != nil || span <= 0 || span > longest {
		r.Errorf(m, codeValue, "timeout must be a duration such as PT10S, at most a day")
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
