// Package resource reads what definitions refer to: documents that hold parts of them, and JSON Schemas.
package resource

import (
	"errors"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonschema"
)

// Reader reads the resources of one definition.
type Reader struct {
	*dialect.Reader
	Source dialect.Source
	// The front-end's codes: for a document that cannot be fetched, and for a schema that is not valid.
	NotFetched, BadSchema string
	// Place gives the reference as bundles take it. If nil, it is as it is written.
	Place func(ref string) string

	schemas map[string]string // by reference; "": not valid
}

// Document fetches the document that a definition refers to by URI. Diagnostics about its contents name its own
// file.
func (r *Reader) Document(ref *dialect.Node, what string) *dialect.Node {
	if r.NonEmpty(ref, what) == nil {
		return nil
	}
	at := ref.Text
	if r.Place != nil {
		at = r.Place(at)
	}
	doc, found, err := r.Source.Read(at)
	if err != nil {
		r.Unopened(ref, r.NotFetched, what, err)
		return nil
	}
	r.Include(found)
	return doc.Root
}

// SchemaAt returns the text of the schema at a URI, or "" after reporting why there is none.
func (r *Reader) SchemaAt(ref *dialect.Node, what string) string {
	if _, fragment, _ := strings.Cut(ref.Text, "#"); fragment != "" {
		r.Errorf(ref, r.BadSchema, "%s refers to a part of a document (#%s); only whole schemas can be used", what, fragment)
		return ""
	}
	if text, known := r.schemas[ref.Text]; known {
		return text
	}
	root := r.Document(ref, what)
	if root == nil {
		return ""
	}
	text := r.Schema(root)
	if r.schemas == nil {
		r.schemas = map[string]string{}
	}
	r.schemas[ref.Text] = text
	return text
}

// Schema returns the text of a schema, or "" after reporting why it is not valid.
func (r *Reader) Schema(root *dialect.Node) string {
	text := root.Value().String()
	r.Budget.Spend(len(text))
	program, err := jsonschema.Compiler{}.Compile(text)
	if err != nil {
		r.schemaError(root, err)
		return ""
	}
	if w, ok := program.(expr.Weighed); ok {
		r.Budget.Weigh(root, w.Weight())
	}
	return text
}

// schemaError reports what is wrong with a schema, in its own file.
func (r *Reader) schemaError(at *dialect.Node, err error) {
	var syntax *expr.SyntaxError
	if !errors.As(err, &syntax) {
		r.Errorf(at, r.BadSchema, "not a valid JSON Schema: %v", err)
		return
	}
	d := r.Errorf(at, r.BadSchema, "%s", syntax.Msg)
	if syntax.Hint != "" {
		d.WithHint("%s", syntax.Hint)
	}
}
