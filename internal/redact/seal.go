package redact

import (
	"fmt"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/expr/texts"
)

// A reference is ‹secret NAME›, or ‹secret NAME/member› for a text inside of a secret. In sealed
// text, ‹secret › without a name stands for the characters "‹secret " themselves: that makes a text
// that looks like a reference another one. None of these forms can begin inside of another, since
// the first character of begin occurs in it once, and end is not in begin: what is between them
// stays as it is, and is read as it was written.
const (
	begin = "‹secret "
	end   = "›"
)

// escapeStep writes a key as a step of a reference.
var escapeStep = strings.NewReplacer("~", "~0", "/", "~1", "›", "~2")

// MissingError is a reference to a secret that does not exist any more.
type MissingError struct{ Ref string }

func (e *MissingError) Error() string {
	return fmt.Sprintf("there is no secret %q, and data that holds it cannot be read without", e.Ref)
}

// Seal replaces the values of secrets in every text of a value, keys included, by references.
func (r *Redactor) Seal(v expr.Value) expr.Value {
	if r == nil {
		r = nothing
	}
	out, _ := texts.Map(v, func(text string) (string, error) { return r.seal.replace(text), nil }) // it never fails
	return out
}

// Open restores what Seal has sealed. A secret that changed since then has its new value. The error
// is a *[MissingError].
func (r *Redactor) Open(v expr.Value) (expr.Value, error) {
	if r == nil {
		r = nothing
	}
	return texts.Map(v, r.openText)
}

// nothing seals only what looks like a reference.
var nothing = NewRedactor(nil)

// Refers reports whether a value may have a reference in it.
func Refers(v expr.Value) bool {
	return texts.Any(v, func(text string) bool { return strings.Contains(text, begin) })
}

func (r *Redactor) openText(text string) (string, error) {
	before, rest, ok := strings.Cut(text, begin)
	if !ok {
		return text, nil
	}
	var out strings.Builder
	for ok {
		out.WriteString(before)
		ref, after, closed := strings.Cut(rest, end)
		value, known := r.texts[ref]
		switch {
		case !closed:
			return "", fmt.Errorf("a reference to a secret has no end")
		case ref == "":
			value = begin
		case !known:
			return "", &MissingError{ref}
		}
		out.WriteString(value)
		before, rest, ok = strings.Cut(after, begin)
	}
	out.WriteString(before)
	return out.String(), nil
}
