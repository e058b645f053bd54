package catalogue

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
)

var secretRef = regexp.MustCompile(`\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}`)

// looksSecret finds references that are not well-formed, too.
func looksSecret(text string) bool { return strings.Contains(text, "${env:") }

// secrets are the values that one call uses.
type secrets struct {
	lookup func(string) (string, bool)
	values []string
}

// missing is a secret that is not set where the call is made.
type missing string

func (m missing) Error() string {
	return fmt.Sprintf("the environment variable %s, to which the catalogue refers, is not set", string(m))
}

func (s *secrets) resolve(name string) (string, error) {
	value, ok := s.lookup(name)
	if !ok || value == "" {
		return "", missing(name)
	}
	if !slices.Contains(s.values, value) {
		s.values = append(s.values, value)
	}
	return value, nil
}

// shortest secret that is blotted out: shorter ones are no secrets, and would blot out
// half of the data.
const shortest = 4

const blot = "[secret]"

// redact takes the values of secrets out of what comes back, in all the forms in which
// they went out.
func (s *secrets) redact(o effect.Outcome) effect.Outcome {
	var pairs []string
	values := slices.Clone(s.values)
	slices.SortFunc(values, func(a, b string) int { return len(b) - len(a) }) // a secret may hold another
	for _, v := range values {
		if len(v) < shortest {
			continue
		}
		for _, form := range []string{v, url.QueryEscape(v), url.PathEscape(v), escape(v), base64.StdEncoding.EncodeToString([]byte(v))} {
			pairs = append(pairs, form, blot)
		}
	}
	if len(pairs) == 0 {
		return o
	}
	r := strings.NewReplacer(pairs...)
	o.Value = redactValue(r, o.Value)
	if o.Failure != nil {
		f := *o.Failure
		for _, text := range []*string{&f.Name, &f.Code, &f.Title, &f.Type, &f.Detail} {
			*text = r.Replace(*text)
		}
		f.Data = redactValue(r, f.Data)
		o.Failure = &f
	}
	return o
}

func redactValue(r *strings.Replacer, v expr.Value) expr.Value {
	switch v.Kind() {
	case expr.KindString:
		return expr.String(r.Replace(v.Str()))
	case expr.KindArray:
		items := make([]expr.Value, 0, v.Len())
		for _, item := range v.Items() {
			items = append(items, redactValue(r, item))
		}
		return expr.Array(items...)
	case expr.KindObject:
		members := make([]expr.Member, 0, v.Len())
		for _, m := range v.Members() {
			members = append(members, expr.Member{Key: r.Replace(m.Key), Value: redactValue(r, m.Value)})
		}
		return expr.Object(members...)
	case expr.KindNumber:
		if text := v.NumberText(); r.Replace(text) != text {
			return expr.String(blot)
		}
	}
	return v
}
