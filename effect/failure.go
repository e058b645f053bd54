package effect

import "github.com/lockstep-workflows/lockstep/expr"

// Describe takes from a body what it says about a failure: {name|error, code,
// message}, also one level down in {error: {…}}.
func (f *Failure) Describe(body expr.Value) {
	if inner, ok := body.Get("error"); ok && inner.IsObject() {
		body = inner
	}
	for _, key := range []string{"name", "error"} {
		if name := Name(body, key); name != "" {
			f.Name = name
			break
		}
	}
	f.Code, f.Type, f.Title = Text(body, "code"), Text(body, "type"), Text(body, "title")
	for _, key := range []string{"message", "detail", "error_description"} {
		if text := Text(body, key); text != "" {
			f.Detail = text
			break
		}
	}
}

// Name is a member of an object, if it is text: a number names nothing.
func Name(v expr.Value, key string) string {
	m, _ := v.Get(key)
	return m.Str()
}

// Text is a member of an object as text, if it is text or a number.
func Text(v expr.Value, key string) string {
	m, _ := v.Get(key)
	if m.Kind() == expr.KindNumber {
		return m.NumberText()
	}
	return m.Str()
}
