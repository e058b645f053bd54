package jsonschema

import (
	"strings"

	lib "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/lockstep-workflows/lockstep/expr"
)

// Violation is one thing that is wrong with a value.
type Violation struct {
	Pointer string // a JSON pointer to the part that is wrong
	Message string
	Missing []string // of an object: the properties that it must have and does not
}

// Certain lists what is wrong with data whatever the values at the open pointers turn out to be: those are not known
// yet, and null stands for them in data. The program is one of this package.
func Certain(p expr.Program, data expr.Value, open []string, b *expr.Budget) ([]Violation, error) {
	found, err := p.(interface {
		check(expr.Value, openParts, *expr.Budget) ([]violation, error)
	}).check(data, open, b)
	out := make([]Violation, len(found))
	for i, v := range found {
		out[i] = Violation{v.pointer, v.message, nil}
		if v.missing != "" {
			out[i].Missing = strings.Split(v.missing, "\x00")
		}
	}
	return out, err
}

// openParts are pointers to values that are not known.
type openParts []string

// in reports whether the value at a pointer is not known, or a part of it.
func (o openParts) in(at string) bool {
	for _, one := range o {
		if one == at || strings.HasPrefix(one, at+"/") {
			return true
		}
	}
	return false
}

// hides reports whether the error might not be there with other values for the open parts. What a keyword says about
// the value as a whole needs all of it; that it is an object, and which members it has, is known without them.
func (o openParts) hides(e *lib.ValidationError) bool {
	if len(o) == 0 {
		return false
	}
	_, place, _ := strings.Cut(e.SchemaURL, "#")
	for _, keyword := range dependent {
		if strings.Contains(place, "/"+keyword) {
			return true
		}
	}
	at := pointer(e.InstanceLocation)
	if !o.in(at) {
		return false
	}
	switch k := e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf, *kind.ContentSchema:
		return len(e.Causes) == 0 // else the causes decide
	case *kind.Required, *kind.AdditionalProperties, *kind.Type, *kind.FalseSchema:
	case *kind.Format:
		if _, ok := k.Err.(wrongType); !ok {
			return true
		}
	default:
		return true
	}
	for _, one := range o {
		if one == at {
			return true
		}
	}
	return false
}

// dependent are the keywords whose schemas apply depending on other parts of the value.
var dependent = []string{"then", "else", "unevaluated", "dependentSchemas", "dependencies"}
