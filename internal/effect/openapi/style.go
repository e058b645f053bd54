package openapi

import (
	"fmt"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
)

// style is how a parameter is written (OpenAPI 3.1.1 §Style Values, which follow
// RFC 6570).
type style uint8

const (
	simple style = iota + 1
	label
	matrix
	form
	spaced
	piped
	deep
	tabbed // only in 2.0
)

var styles = map[string]struct {
	style style
	in    []string
}{
	"simple":         {simple, []string{inPath, inHeader}},
	"label":          {label, []string{inPath}},
	"matrix":         {matrix, []string{inPath}},
	"form":           {form, []string{inQuery, inCookie}},
	"spaceDelimited": {spaced, []string{inQuery}},
	"pipeDelimited":  {piped, []string{inQuery}},
	"deepObject":     {deep, []string{inQuery}},
}

var separators = map[style]string{spaced: " ", piped: "|", tabbed: "\t"}

// escaper makes text safe for the place where it goes.
type escaper func(string) string

// flat is a value as texts: one, those of a list, or keys and texts of an object.
type flat struct {
	kind  expr.Kind
	keys  []string
	texts []string
}

// flatten takes a value apart. Null items are left out; what nests deeper has no form
// in any style but deepObject.
func flatten(v expr.Value) (flat, error) {
	f := flat{kind: v.Kind()}
	switch f.kind {
	case expr.KindArray:
		for i, item := range v.Items() {
			if item.IsNull() {
				continue
			}
			if item.IsArray() || item.IsObject() {
				return f, fmt.Errorf("item %d is %s, and only an array of simple values can be written", i, item.Kind().WithArticle())
			}
			f.texts = append(f.texts, item.Text())
		}
	case expr.KindObject:
		for _, m := range v.Members() {
			if m.Value.IsNull() {
				continue
			}
			if m.Value.IsArray() || m.Value.IsObject() {
				return f, fmt.Errorf("%q is %s, and only an object of simple values can be written", m.Key, m.Value.Kind().WithArticle())
			}
			f.keys = append(f.keys, m.Key)
			f.texts = append(f.texts, m.Value.Text())
		}
	default:
		f.texts = []string{v.Text()}
	}
	return f, nil
}

// apart reports a text that holds what stands between the texts: they could not be taken
// apart again.
func (f flat) apart(sep string) error {
	if f.kind != expr.KindArray && f.kind != expr.KindObject {
		return nil
	}
	name := map[string]string{" ": "a blank", "\t": "a tab", ",": "a comma"}[sep]
	if name == "" {
		name = fmt.Sprintf("%q", sep)
	}
	for i, text := range f.texts {
		what := fmt.Sprintf("item %d", i)
		if f.kind == expr.KindObject {
			what = fmt.Sprintf("the member %q", f.keys[i])
			text = f.keys[i] + text
		}
		if strings.Contains(text, sep) {
			return fmt.Errorf("%s, %q, holds %s, which separates the items here", what, f.texts[i], name)
		}
	}
	return nil
}

// list joins the texts: a list as it is, an object as key,value or key=value.
func (f flat) list(sep string, explode bool, esc escaper) string {
	var out []string
	for i, text := range f.texts {
		switch {
		case f.kind != expr.KindObject:
			out = append(out, esc(text))
		case explode:
			out = append(out, esc(f.keys[i])+"="+esc(text))
		default:
			out = append(out, esc(f.keys[i]), esc(text))
		}
	}
	return strings.Join(out, sep)
}

// inline writes a parameter of the path or a header.
func (p *parameter) inline(v expr.Value, esc escaper) (string, error) {
	if p.json {
		return esc(v.String()), nil
	}
	f, err := flatten(v)
	if err != nil {
		return "", err
	}
	switch p.style {
	case label:
		sep := ","
		if p.explode {
			sep = "."
		}
		return "." + f.list(sep, p.explode, esc), nil
	case matrix:
		return f.matrix(esc(p.name), p.explode, esc), nil
	}
	sep := ","
	if s := separators[p.style]; s != "" {
		sep = s
	}
	if sep != "," || esc(",") == "," { // else one inside of a text is escaped
		if err := f.apart(sep); err != nil {
			return "", err
		}
	}
	if sep != "," {
		sep = esc(sep)
	}
	return f.list(sep, p.explode, esc), nil
}

func (f flat) matrix(name string, explode bool, esc escaper) string {
	pair := func(key, text string) string {
		if text == "" {
			return ";" + key
		}
		return ";" + key + "=" + text
	}
	if !explode || f.kind != expr.KindArray && f.kind != expr.KindObject {
		return pair(name, f.list(",", false, esc))
	}
	var out strings.Builder
	for i, text := range f.texts {
		key := name
		if f.kind == expr.KindObject {
			key = esc(f.keys[i])
		}
		out.WriteString(pair(key, esc(text)))
	}
	return out.String()
}

// pairs writes a parameter of the query or a cookie, or a field of a form, as a list
// of name=value.
func (p *parameter) pairs(v expr.Value, key, value escaper) ([]string, error) {
	if p.json {
		return []string{key(p.name) + "=" + value(v.String())}, nil
	}
	if p.style == deep {
		if !v.IsObject() {
			return nil, fmt.Errorf("deepObject needs an object, not %s", v.Kind().WithArticle())
		}
		return deepPairs(nil, p.name, v, key, value)
	}
	f, err := flatten(v)
	if err != nil {
		return nil, err
	}
	if len(f.texts) == 0 { // an empty list is as good as none
		if p.required {
			return []string{key(p.name) + "="}, nil
		}
		return nil, nil
	}
	if p.explode && (f.kind == expr.KindArray || f.kind == expr.KindObject) {
		var out []string
		for i, text := range f.texts {
			name := p.name
			if f.kind == expr.KindObject {
				name = f.keys[i]
			}
			out = append(out, key(name)+"="+value(text))
		}
		return out, nil
	}
	sep := ","
	switch s := separators[p.style]; {
	case s != "":
		if err := f.apart(s); err != nil {
			return nil, err
		}
		sep = key(s)
	case f.kind == expr.KindArray || f.kind == expr.KindObject:
		inner := value
		value = func(text string) string { return strings.ReplaceAll(inner(text), ",", "%2C") }
	}
	return []string{key(p.name) + "=" + f.list(sep, false, value)}, nil
}

// deepPairs writes name[key]=value. How lists and inner objects are written is not
// specified; a list repeats its name, and an object adds brackets, as most readers
// expect.
func deepPairs(out []string, name string, v expr.Value, key, value escaper) ([]string, error) {
	var err error
	switch v.Kind() {
	case expr.KindNull:
	case expr.KindObject:
		for _, m := range v.Members() {
			if out, err = deepPairs(out, name+"["+m.Key+"]", m.Value, key, value); err != nil {
				return nil, err
			}
		}
	case expr.KindArray:
		for i, item := range v.Items() {
			if item.IsArray() || item.IsObject() {
				return nil, fmt.Errorf("%s: item %d is %s, and only an array of simple values can be written", name, i, item.Kind().WithArticle())
			}
			if !item.IsNull() {
				out = append(out, key(name)+"="+value(item.Text()))
			}
		}
	default:
		out = append(out, key(name)+"="+value(v.Text()))
	}
	return out, nil
}

const unreserved = "-._~"

// percent escapes everything but letters, digits and the given characters.
func percent(text, keep string) string {
	const hex = "0123456789ABCDEF"
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte(keep, c) >= 0:
			out.WriteByte(c)
		default:
			out.WriteByte('%')
			out.WriteByte(hex[c>>4])
			out.WriteByte(hex[c&15])
		}
	}
	return out.String()
}

func escape(text string) string { return percent(text, unreserved) }

// escapeReserved keeps reserved characters (allowReserved), except those that would
// end the value or the query.
func escapeReserved(text string) string { return percent(text, unreserved+":/?@!$'()*,;=") }

// escapeForm is for bodies of HTML forms.
func escapeForm(text string) string {
	return strings.ReplaceAll(percent(text, unreserved+" "), " ", "+")
}

func escapeReservedForm(text string) string {
	return strings.ReplaceAll(percent(text, unreserved+":/?@!$'()*,;= "), " ", "+")
}

func asIs(text string) string { return text }
