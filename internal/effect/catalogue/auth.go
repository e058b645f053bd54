package catalogue

import (
	"errors"
	"strings"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/effect/auth"
	"github.com/lockstep-workflows/lockstep/internal/effect/http"
)

// authentication reads the policy of an http or an openapi function. Data never chooses credentials,
// nor who is asked for them.
func (r *reader) authentication(f *dialect.Fields) *template {
	n := f.Typed("authentication", expr.KindObject)
	if n == nil {
		return nil
	}
	if len(n.Members) != 1 {
		r.Errorf(n, codeValue, "authentication must have one of %s", strings.Join(auth.Schemes, ", "))
		return nil
	}
	if at := findText(n, func(text string) bool { return strings.Contains(text, "{{") }); at != nil {
		r.Errorf(at, codeValue, "authentication must be constant, apart from secrets: {{ }} is not allowed")
		return nil
	}
	_, err := auth.Parse(sample(n), nil)
	var refused *auth.Error
	if errors.As(err, &refused) && refused.Name == effect.Authentication { // else a secret has the members
		r.Errorf(n, codeValue, "%s", refused.Msg)
	}
	return r.template(n)
}

// sample is a policy with something in the place of secrets, to check the rest of it.
func sample(n *dialect.Node) expr.Value {
	policy, path := n.Value(), []string{n.Members[0].Name(), "authority"}
	authority, _ := policy.Lookup(path...)
	if at := secretRef.FindStringIndex(authority.Str()); at != nil && at[0] == 0 {
		policy = policy.WithPath(path, expr.String("https://id.example"+authority.Str()[at[1]:]))
	}
	v, err := expr.ParseJSON(secretRef.ReplaceAll(policy.AppendJSON(nil), []byte("x")))
	if err != nil {
		return n.Value()
	}
	return v
}

// findText is the first text of a value that has a property.
func findText(n *dialect.Node, has func(string) bool) *dialect.Node {
	if n.Is(expr.KindString) && has(n.Text) {
		return n
	}
	for _, list := range [][]*dialect.Node{n.Members, n.Items} {
		for _, inner := range list {
			if found := findText(inner, has); found != nil {
				return found
			}
		}
	}
	return nil
}

// policy is the authentication of one call; nil: there is none. Its secrets are masked as all others.
func (c *Catalogue) policy(t *template, s *secrets) (*auth.Policy, error) {
	if t == nil {
		return nil, nil
	}
	v, err := t.fill(expr.EmptyObject, s)
	if err != nil {
		return nil, err
	}
	p, err := auth.Parse(v, func(name string) (expr.Value, bool) {
		v, ok := c.options.Secrets(name)
		s.add(v)
		return v, ok
	})
	if err == nil {
		s.values = append(s.values, p.Sent())
	}
	return p, err
}

// add masks every text of a secret.
func (s *secrets) add(v expr.Value) {
	if v.Kind() == expr.KindString {
		s.values = append(s.values, v.Str())
	}
	for _, item := range v.Items() {
		s.add(item)
	}
	for _, m := range v.Members() {
		s.add(m.Value)
	}
}

// failedAuth is the outcome of a call without credentials.
func failedAuth(where string, err error) (effect.Outcome, error) {
	var refused *auth.Error
	if !errors.As(err, &refused) {
		return effect.Outcome{}, err
	}
	return http.Failed(where, err), nil
}
