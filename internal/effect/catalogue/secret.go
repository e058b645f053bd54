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

// secretRef is a reference to a secret: an environment variable, or a text of the operator's secrets.
var secretRef = regexp.MustCompile(`\$\{(env:[A-Za-z_][A-Za-z0-9_]*|secret:[A-Za-z0-9_.-]+(?:/[^/{}"\\]+)*)\}`)

// looksSecret also finds references that are not well-formed.
func looksSecret(text string) bool {
	return strings.Contains(text, "${env:") || strings.Contains(text, "${secret:")
}

// lookup is the value of env:NAME or secret:NAME/member.
func (o *Options) lookup(ref string) (string, bool) {
	if name, ok := strings.CutPrefix(ref, "env:"); ok {
		return o.Env(name)
	}
	path := strings.Split(strings.TrimPrefix(ref, "secret:"), "/")
	v, ok := o.Secrets(path[0])
	if ok {
		v, ok = v.Lookup(path[1:]...)
	}
	return v.Str(), ok
}

// secrets are the values that one call uses.
type secrets struct {
	lookup func(string) (string, bool)
	values []string
}

// missing is the reference to a secret that is not set in the process that makes the call.
type missing string

func (m missing) Error() string {
	kind, name, _ := strings.Cut(string(m), ":")
	if kind == "secret" {
		return fmt.Sprintf("there is no secret %s with text in it; give it with --secrets, --secrets-dir or --secrets-env", name)
	}
	return fmt.Sprintf("the environment variable %s of the catalogue is not set", name)
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

// shortest is the length of the shortest secret that is masked: masking shorter ones would
// destroy unrelated data.
const shortest = 4

const blot = "[secret]"

// redact removes the values of secrets from an outcome, in all the forms in which they may have
// been sent.
func (s *secrets) redact(o effect.Outcome) effect.Outcome {
	r := s.replacer()
	if r == nil {
		return o
	}
	o.Value = redactValue(r, o.Value)
	if o.Failure != nil {
		f := *o.Failure
		for _, text := range []*string{&f.Name, &f.Code, &f.Title, &f.Type, &f.Detail} {
			*text = r.Replace(*text)
		}
		f.Data = redactValue(r, f.Data)
		o.Failure = &f
	}
	if o.Exchange != nil {
		x := *o.Exchange
		x.Address = r.Replace(x.Address)
		x.RequestHeaders, x.Headers = redactHeaders(r, x.RequestHeaders), redactHeaders(r, x.Headers)
		o.Exchange = &x
	}
	return o
}

// redactHeaders takes the values that have a secret in them out of headers.
func redactHeaders(r *strings.Replacer, all []effect.Header) []effect.Header {
	out := slices.Clone(all)
	for i, h := range out {
		if r.Replace(h.Value) != h.Value {
			out[i].Value = ""
		}
	}
	return out
}

// replacer masks secrets; nil: there are none. Each line of a secret with several lines is a
// secret, too, because programs report errors line by line.
func (s *secrets) replacer() *strings.Replacer {
	var values []string
	for _, v := range s.values {
		values = append(values, v)
		values = append(values, strings.Split(v, "\n")...)
	}
	slices.SortFunc(values, func(a, b string) int { return len(b) - len(a) }) // a secret may contain another
	var pairs []string
	for _, v := range values {
		v = strings.TrimSpace(v)
		if len(v) < shortest {
			continue
		}
		quoted := string(expr.AppendQuoted(nil, v))
		inJSON := quoted[1 : len(quoted)-1]
		for _, form := range []string{
			v, url.QueryEscape(v), url.PathEscape(v), escape(v),
			inJSON, url.QueryEscape(inJSON), url.PathEscape(inJSON), escape(inJSON),
			base64.StdEncoding.EncodeToString([]byte(v)), base64.RawStdEncoding.EncodeToString([]byte(v)),
			base64.URLEncoding.EncodeToString([]byte(v)), base64.RawURLEncoding.EncodeToString([]byte(v)),
		} {
			pairs = append(pairs, form, blot)
		}
	}
	if len(pairs) == 0 {
		return nil
	}
	return strings.NewReplacer(pairs...)
}

// longest is the length of the longest secret.
func (s *secrets) longest() int {
	n := 0
	for _, v := range s.values {
		n = max(n, len(v))
	}
	return n
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
