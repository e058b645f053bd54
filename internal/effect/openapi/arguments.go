package openapi

import (
	"fmt"
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	effecthttp "github.com/lockstep-workflows/lockstep/internal/effect/http"
)

// request makes a request of a call's arguments, and checks all of them before
// anything is sent. Arguments go by name: to the parameters that bear it, the others
// to the body. The argument `body`, where it is the only one for the body, is the
// body itself.
func (o *operation) request(args expr.Value, given http.Header) (effecthttp.Request, *effect.Failure) {
	r := effecthttp.Request{Method: o.method, Header: http.Header{}}
	if args.IsNull() {
		args = expr.EmptyObject
	}
	if !args.IsObject() {
		return r, o.invalid("the arguments must be an object, not %s", args.Kind().WithArticle())
	}
	if f := o.checkParameters(args, given); f != nil {
		return r, f
	}
	text, media, f := o.writeBody(args)
	if f != nil {
		return r, f
	}
	if text != nil {
		r.Body = text
		r.Header.Set("Content-Type", media)
	}
	query, f := o.place(args, r.Header, given)
	if f != nil {
		return r, f
	}
	add(r.Header, given)
	r.URL, f = o.address(args, query)
	return r, f
}

func (o *operation) invalid(format string, args ...any) *effect.Failure {
	return &effect.Failure{
		Name: effect.InvalidArguments, Code: effecthttp.CodeArguments,
		Detail: fmt.Sprintf("operation %q: ", o.id) + fmt.Sprintf(format, args...),
	}
}

// checkParameters checks what is there and what is missing; a header or a cookie that
// the operator gives counts.
func (o *operation) checkParameters(args expr.Value, given http.Header) *effect.Failure {
	for _, p := range o.parameters {
		if p.given(given) {
			continue // whatever the argument is, it is not sent
		}
		v, ok := args.Get(p.name)
		if !ok || v.IsNull() {
			if p.required {
				return o.invalid("the argument %q is missing (a required %s parameter)", p.name, p.in)
			}
			continue
		}
		if f := o.conform(p.check, v, fmt.Sprintf("the argument %q", p.name), "/"+pointerToken(p.name), textOnly(!p.json)); f != nil {
			return f
		}
	}
	return nil
}

func pointerToken(text string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(text)
}

// written says which parts of a value are sent as text.
type written uint8

const (
	asJSON   written = iota // none
	asText                  // all
	asFields                // those of a form: its fields that are not objects
)

func textOnly(text bool) written {
	if text {
		return asText
	}
	return asJSON
}

// conform checks a value that is to be sent. What is sent as text has no type: there
// 42 is as good as "42", also as an item of a list.
func (o *operation) conform(c *check, v expr.Value, what, at string, how written) *effect.Failure {
	found, err := c.violations(v)
	if err == nil && len(found) > 0 && how != asJSON {
		blamed := map[string]bool{}
		for _, one := range found {
			blamed[one.pointer] = true
		}
		if how == asFields {
			blamed = fieldsOf(v, blamed)
		}
		if again, err := c.violations(retype(v, "", blamed)); err == nil && len(again) == 0 {
			return nil
		}
	}
	if err != nil {
		return o.invalid("%s cannot be checked: %v", what, err)
	}
	if len(found) == 0 {
		return nil
	}
	for i := range found {
		found[i].pointer = at + found[i].pointer
	}
	return violated(fmt.Sprintf("operation %q: %s does not adhere to the document", o.id, what), codeSent, found, expr.Null)
}

// fieldsOf leaves out what stands inside of an object of a form, which is sent as JSON.
func fieldsOf(form expr.Value, blamed map[string]bool) map[string]bool {
	out := map[string]bool{}
	for _, m := range form.Members() {
		at := "/" + pointerToken(m.Key)
		out[at] = blamed[at]
		for i, item := range m.Value.Items() {
			if at := at + "/" + strconv.Itoa(i); !item.IsObject() {
				out[at] = blamed[at]
			}
		}
	}
	return out
}

// retype gives the simple values that a check blames the other type that their text
// could have.
func retype(v expr.Value, at string, blamed map[string]bool) expr.Value {
	switch v.Kind() {
	case expr.KindArray:
		items := make([]expr.Value, 0, v.Len())
		for i, item := range v.Items() {
			items = append(items, retype(item, at+"/"+strconv.Itoa(i), blamed))
		}
		return expr.Array(items...)
	case expr.KindObject:
		members := make([]expr.Member, 0, v.Len())
		for _, m := range v.Members() {
			members = append(members, expr.Member{Key: m.Key, Value: retype(m.Value, at+"/"+pointerToken(m.Key), blamed)})
		}
		return expr.Object(members...)
	}
	if other, ok := otherType(v); ok && blamed[at] {
		return other
	}
	return v
}

func otherType(v expr.Value) (expr.Value, bool) {
	switch v.Kind() {
	case expr.KindNumber, expr.KindBool:
		return expr.String(v.String()), true
	case expr.KindString:
		parsed, err := expr.ParseJSON([]byte(v.Str()))
		k := parsed.Kind()
		return parsed, err == nil && (k == expr.KindNumber || k == expr.KindBool)
	}
	return v, false
}

// Codes of SchemaViolation.
const (
	codeSent     = "request-schema"
	codeReceived = "response-schema"
)

// violated is the failure of a value that does not adhere to its schema; answer is what
// came back, if anything did.
func violated(what, code string, found []violation, answer expr.Value) *effect.Failure {
	const most = 5
	var reasons []string
	for _, v := range found[:min(len(found), most)] {
		reasons = append(reasons, v.String())
	}
	detail := what + ": " + strings.Join(reasons, "; ")
	if len(found) > most {
		detail += fmt.Sprintf(" and %d more", len(found)-most)
	}
	return &effect.Failure{Name: effect.SchemaViolation, Code: code, Detail: detail, Data: answer}
}

// rest are the arguments that no parameter takes.
func (o *operation) rest(args expr.Value) expr.Value {
	for _, p := range o.parameters {
		args = args.Without(p.name)
	}
	return args
}

func (o *operation) writeBody(args expr.Value) (text []byte, media string, f *effect.Failure) {
	rest := o.rest(args)
	if o.body == nil {
		if rest.Len() > 0 {
			return nil, "", o.unknown(rest.Members()[0].Key, nil)
		}
		return nil, "", nil
	}
	v, whole, given := o.body.pick(rest)
	if !given {
		if o.body.required {
			return nil, "", o.invalid("the request body is missing%s", o.body.wants())
		}
		return nil, "", nil
	}
	if o.body.strict || !whole && !o.body.open {
		for _, m := range v.Members() {
			if !slices.Contains(o.body.properties, m.Key) {
				return nil, "", o.unknown(m.Key, o.body.properties)
			}
		}
	}
	at := ""
	if whole {
		at = "/" + pointerToken(rest.Members()[0].Key)
	}
	if f := o.checkBody(v, at); f != nil {
		return nil, "", f
	}
	text, media, err := o.body.encoded(v)
	if err != nil {
		return nil, "", o.invalid("%v", err)
	}
	return text, media, nil
}

// pick finds the body among the arguments; whole: one argument is the body itself.
func (b *body) pick(rest expr.Value) (v expr.Value, whole, given bool) {
	if rest.Len() == 1 {
		only := rest.Members()[0]
		if (only.Key == "body" || only.Key == b.name) && !slices.Contains(b.properties, only.Key) {
			return only.Value, true, true
		}
	}
	return rest, false, rest.Len() > 0
}

// wants says which arguments make a body.
func (b *body) wants() string {
	if len(b.properties) == 0 {
		return ": give it as the argument \"body\""
	}
	return ": its properties are " + few(b.properties)
}

// checkBody checks the body, which is the argument at the pointer or all of them.
func (o *operation) checkBody(v expr.Value, at string) *effect.Failure {
	isForm := o.body.kind == bodyForm || o.body.kind == bodyMultipart
	if isForm && v.IsObject() {
		for _, name := range o.body.properties {
			f := o.body.fields[name]
			value, ok := v.Get(name)
			if !ok || value.IsNull() {
				if f.required {
					return o.invalid("the argument %q is missing (a required form field)", name)
				}
				continue
			}
			if bad := o.conform(f.check, value, fmt.Sprintf("the argument %q", name), at+"/"+pointerToken(name), asText); bad != nil {
				return bad
			}
		}
	}
	how := textOnly(o.body.kind == bodyText)
	if isForm {
		how = asFields
	}
	return o.conform(o.body.check, v, "the request body", at, how)
}

// unknown refuses an argument that has no place in the request: most likely it is
// misspelled.
func (o *operation) unknown(name string, properties []string) *effect.Failure {
	var names []string
	for _, p := range o.parameters {
		names = append(names, p.name)
	}
	names = append(names, properties...)
	f := o.invalid("there is no parameter %q", name)
	switch near := dialect.Suggest(name, names); {
	case near != "":
		f.Detail += fmt.Sprintf("; did you mean %q?", near)
	case len(names) > 0:
		f.Detail += "; there are " + few(names)
	default:
		f.Detail += "; it takes no arguments"
	}
	return f
}

// place writes the parameters of headers, cookies and the query, and returns the
// latter.
func (o *operation) place(args expr.Value, header, given http.Header) (query []string, f *effect.Failure) {
	var cookies []string
	for _, p := range o.parameters {
		v, ok := args.Get(p.name)
		if !ok || v.IsNull() || p.in == inPath || p.given(given) {
			continue
		}
		var err error
		var more []string
		switch p.in {
		case inQuery:
			value := escape
			if p.reserved {
				value = escapeReserved
			}
			more, err = p.pairs(v, escape, value)
			query = append(query, more...)
		case inCookie:
			more, err = p.pairs(v, escape, escape)
			cookies = append(cookies, slices.DeleteFunc(more, func(pair string) bool {
				name, _, _ := strings.Cut(pair, "=")
				return hasCookie(given, name)
			})...)
		case inHeader:
			var text string
			if text, err = p.inline(v, asIs); err == nil {
				if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
					return nil, o.invalid("the argument %q: a header cannot hold a line break or another control character", p.name)
				}
				header.Set(textproto.CanonicalMIMEHeaderKey(p.name), text)
			}
		}
		if err != nil {
			return nil, o.invalid("the argument %q: %v", p.name, err)
		}
	}
	if len(cookies) > 0 {
		header.Set("Cookie", strings.Join(cookies, "; "))
	}
	return query, nil
}
