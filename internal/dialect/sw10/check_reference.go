package sw10

import (
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/calendar"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// component is what use can refer to.
type component interface {
	use()
	expressions() []*expression
}

func (s *shared) use() { s.used = true }

func (a *authentication) expressions() []*expression { return []*expression{a.properties} }
func (t *timeout) expressions() []*expression        { return durations(t.after) }
func (e *errorDef) expressions() []*expression       { return []*expression{e.typ, e.title, e.detail} }

func (r *retry) expressions() []*expression {
	return append(durations(r.delay, r.attempt, r.within, r.jitterFrom, r.jitterTo), r.when, r.exceptWhen)
}

func durations(list ...*duration) []*expression {
	var out []*expression
	for _, d := range list {
		if d != nil && d.expr != nil {
			out = append(out, d.expr)
		}
	}
	return out
}

// resolve finds what a use refers to, and checks the variables of what it finds: they are those of
// the place where it is used. The likely target of a name that does not exist counts as used: one mistake is reported once.
func resolve[T any, P interface {
	*T
	component
}](c *checker, u *use[T], in *names[T],
) {
	if u == nil || u.name == nil {
		return
	}
	if one := in.by[u.name.Text]; one != nil {
		u.def = one
		P(one).use()
		for _, e := range P(one).expressions() {
			if e != nil {
				c.declared(e.vars, u.scope)
			}
		}
		return
	}
	d := c.Errorf(u.name, in.code, "no %s is named %q", in.what, u.name.Text)
	if near := in.by[c.DidYouMean(d, u.name.Text, in.list)]; near != nil {
		P(near).use()
	} else {
		listNames(d, in.what, in.list)
	}
}

// few is how many names a message lists.
const few = 6

// listNames adds what there is as a hint, where it is not much.
func listNames(d *dialect.Diagnostic, what string, list []string) {
	const letters = 120
	if len(list) == 0 {
		plural := what + "s"
		if stem, ok := strings.CutSuffix(what, "retry"); ok {
			plural = stem + "retries"
		}
		d.WithHint("define it in use.%s", plural)
		return
	}
	if text := quoteAll(list[:min(few, len(list))]); len(list) <= few && len(text) <= letters {
		d.WithHint("defined here: %s", text)
	}
}

// timeout resolves a timeout. A duration in the place of a name is a common mistake.
func (c *checker) timeout(u *use[timeout]) {
	if u.name != nil && c.timeouts.by[u.name.Text] == nil {
		if _, err := calendar.ParseDuration(u.name.Text); err == nil {
			c.Errorf(u.name, codeNoTimeout, "no timeout is named %q", u.name.Text).WithHint("for a duration write {after: %s}", u.name.Text)
			return
		}
	}
	resolve(c, u, &c.timeouts)
}

func (c *checker) raised(u *use[errorDef]) { resolve(c, u, &c.errors) }
func (c *checker) retry(u *use[retry])     { resolve(c, u, &c.retries) }

func (c *checker) auth(u *use[authentication]) { resolve(c, u, &c.authentications) }

func (c *checker) endpointUse(e *endpoint) {
	if e != nil {
		c.auth(&e.auth)
	}
}

func (c *checker) resourceUse(r *resource) {
	if r != nil {
		c.endpointUse(r.endpoint)
	}
}

// call resolves what a call refers to.
func (c *checker) call(b *callTask, in *function) {
	if b.custom != nil {
		c.custom(b, in)
		return
	}
	switch a := b.args.(type) {
	case *httpCall:
		c.endpointUse(a.endpoint)
	case *openapiCall:
		c.auth(&a.auth)
		c.resourceUse(a.document)
	case *grpcCall:
		c.auth(&a.auth)
		c.resourceUse(a.proto)
	case *asyncapiCall:
		c.auth(&a.auth)
		c.resourceUse(a.document)
	case *a2aCall:
		c.endpointUse(a.server)
		c.resourceUse(a.agentCard)
	case *mcpCall:
		c.endpointUse(a.http)
	}
}

// custom resolves the call of a function that is not built in. What the server has under the whole
// name comes first. One that is not defined may be in the server's catalogue, hence only a warning.
func (c *checker) custom(b *callTask, in *function) {
	k, name := b.custom, b.function.Text
	switch f := c.functions.by[name]; {
	case f != nil:
		k.function = f
		f.used = true
		if in != nil {
			c.calls[in] = append(c.calls[in], b)
		}
	case c.catalogue[name]:
		if at := c.catalogs.by[k.catalog]; at != nil {
			at.used = true
		}
	case k.address != "":
		c.fetch(b)
	case k.catalogued && k.catalog == defaultCatalog && c.catalogs.by[k.catalog] == nil:
	case k.catalogued:
		c.catalogued(b)
	case strings.ContainsAny(name, ":@ "): // reported
	default:
		d := c.Warnf(b.function, codeNoFunction, "function %q is not defined here; the server's catalogue must have it", name)
		if near := c.functions.by[c.DidYouMean(d, name, c.callable)]; near != nil {
			near.used = true
		}
	}
}

// catalogued resolves NAME:VERSION@CATALOG.
func (c *checker) catalogued(b *callTask) {
	k := b.custom
	if k.def = c.catalogs.by[k.catalog]; k.def != nil {
		k.def.used = true
		c.fetch(b)
		return
	}
	text := b.function.Text
	at := b.function.SpanIn(len(text)-len(k.catalog), len(text))
	d := c.Errorf(at, codeNoCatalog, "no catalog is named %q", k.catalog)
	if near := c.catalogs.by[c.DidYouMean(d, k.catalog, c.catalogs.list)]; near != nil {
		near.used = true
	} else if c.DidYouMean(d, k.catalog, []string{defaultCatalog}) == "" {
		listNames(d, c.catalogs.what, c.catalogs.list)
	}
}

// recursion refuses functions that call themselves, directly or through others: they would never
// end.
func (c *checker) recursion() {
	const (
		open = 1 + iota
		done
	)
	state, depth := map[*function]int{}, map[*function]int{}
	var path []string
	var visit func(*function)
	visit = func(f *function) {
		state[f], depth[f] = open, len(path)
		path = append(path, f.name.Text)
		for _, b := range c.calls[f] {
			switch to := b.custom.function; state[to] {
			case 0:
				visit(to)
			case open:
				chain := slices.Clip(path[depth[to]:])
				if len(chain) > few {
					chain = append(slices.Clip(chain[:few]), "…")
				}
				c.Errorf(b.function, codeRecursion, "function %q calls itself: %s", to.name.Text, strings.Join(append(chain, to.name.Text), " → "))
			}
		}
		path = path[:len(path)-1]
		state[f] = done
	}
	for _, f := range c.def.use.functions {
		if state[f] == 0 {
			visit(f)
		}
	}
}
