package effect

import "github.com/lockstep-workflows/lockstep/expr"

// Describe sets the fields of a failure from a body such as {name|error, code, message}, which may
// also be nested as {error: {…}}.
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
	f.Code = Text(body, "code")
	f.Type = Text(body, "type")
	f.Title = Text(body, "title")
	for _, key := range []string{"message", "detail", "error_description"} {
		if text := Text(body, key); text != "" {
			f.Detail = text
			break
		}
	}
}

// Name returns a member of an object if it is text, else "": a number is not a name.
func Name(v expr.Value, key string) string {
	m, _ := v.Get(key)
	return m.Str()
}

// Text returns a member of an object as text if it is text or a number, else "".
func Text(v expr.Value, key string) string {
	m, _ := v.Get(key)
	if m.Kind() == expr.KindNumber {
		return m.NumberText()
	}
	return m.Str()
}
