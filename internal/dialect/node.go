package dialect

import (
	"strconv"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// Node is one value of a document with its position. Nodes do not change after
// [Read]. All methods accept a nil Node, which is a missing value.
//
// The value of a YAML alias is copied for each use; the copies have the position of
// the anchor, where the text is.
type Node struct {
	Kind expr.Kind

	// Text is a string's decoded text, a number in JSON's grammar with the digits
	// that were written, "true" or "false", else "".
	Text string

	// Key is the key of the value in its object, a string node with its own
	// position. It is nil for the root and the items of an array.
	Key *Node

	Members []*Node // an object's members in the order written; each has its Key
	Items   []*Node // an array's items

	doc    *Document
	start  int // offset in doc.Source, after any YAML anchor or tag
	style  style
	byName map[string]*Node // of Members, if there are many
}

// style is how a scalar is spelled, which decides how offsets in its text map
// to offsets in the source.
type style uint8

const (
	stylePlain   style = iota // also every number and word of JSON
	styleEmpty                // a YAML value that is not written: `key:`
	styleQuoted               // a JSON string
	styleSingle               // YAML '…'
	styleDouble               // YAML "…"
	styleLiteral              // YAML |
	styleFolded               // YAML >
	styleFlow                 // a container in brackets
)

// Pos returns where the value begins.
func (n *Node) Pos() Pos {
	if n == nil {
		return Pos{}
	}
	return n.doc.pos(n.start)
}

// IRPos returns where the value begins, as a program keeps it.
func (n *Node) IRPos() ir.Pos {
	p := n.Pos()
	return ir.Pos{Line: p.Line, Column: p.Column}
}

// Span returns the range to mark for the value: the first line of a scalar, or the
// bracket or first character of a container.
func (n *Node) Span() Span {
	if n == nil {
		return Span{}
	}
	return n.doc.span(n.start, n.end())
}

// KeySpan returns the span of the value's key, or of the value itself if it has none.
func (n *Node) KeySpan() Span {
	if n == nil || n.Key == nil {
		return n.Span()
	}
	return n.Key.Span()
}

// File returns the name of the file that contains the value.
func (n *Node) File() string {
	if n == nil {
		return ""
	}
	return n.doc.File
}

// Raw returns a scalar as it is spelled in the source, with quotes and escapes,
// `0x1F` for the number 31. It is "" for containers.
func (n *Node) Raw() string {
	if n == nil || n.Kind == expr.KindObject || n.Kind == expr.KindArray {
		return ""
	}
	return string(n.doc.Source[n.start:n.end()])
}

// Literal returns a string's text, and any other scalar as it is spelled; "" for a
// container or a missing value.
func (n *Node) Literal() string {
	if text, ok := n.Str(); ok {
		return text
	}
	return n.Raw()
}

// Quoted returns a scalar as messages show it: a string in quotes.
func (n *Node) Quoted() string {
	if text, ok := n.Str(); ok {
		return strconv.Quote(text)
	}
	return n.Raw()
}

// JSON returns the value as JSON text, "" if it is missing.
func (n *Node) JSON() string {
	if n == nil {
		return ""
	}
	return n.Value().String()
}

// Name returns the text of the value's key, "" if it has none.
func (n *Node) Name() string {
	if n == nil || n.Key == nil {
		return ""
	}
	return n.Key.Text
}

// Get returns the member with that key, nil if there is none.
func (n *Node) Get(key string) *Node {
	if n == nil {
		return nil
	}
	if n.byName != nil {
		return n.byName[key]
	}
	for _, m := range n.Members {
		if m.Key.Text == key {
			return m
		}
	}
	return nil
}

// Lookup follows object keys and array indexes, as JSON Schema names them, and
// returns nil where the path leaves the document.
func (n *Node) Lookup(path ...string) *Node {
	for _, step := range path {
		if n != nil && n.Kind == expr.KindArray {
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(n.Items) {
				return nil
			}
			n = n.Items[i]
			continue
		}
		n = n.Get(step)
	}
	return n
}

// Is reports whether the value is present and of the kind.
func (n *Node) Is(kind expr.Kind) bool { return n != nil && n.Kind == kind }

// IsNull reports whether the value is missing or null.
func (n *Node) IsNull() bool { return n == nil || n.Kind == expr.KindNull }

// Str returns a string's text; ok is false for every other kind.
func (n *Node) Str() (text string, ok bool) {
	if !n.Is(expr.KindString) {
		return "", false
	}
	return n.Text, true
}

// Bool returns a boolean; ok is false for every other kind.
func (n *Node) Bool() (value, ok bool) {
	if !n.Is(expr.KindBool) {
		return false, false
	}
	return n.Text == "true", true
}

// Int returns a whole number that fits into an int64; ok is false for everything else.
func (n *Node) Int() (value int64, ok bool) {
	if !n.Is(expr.KindNumber) {
		return 0, false
	}
	return n.Value().Int()
}

// Value returns the value without positions.
func (n *Node) Value() expr.Value {
	if n == nil {
		return expr.Null
	}
	switch n.Kind {
	case expr.KindBool:
		return expr.Bool(n.Text == "true")
	case expr.KindNumber:
		v, _ := expr.Number(n.Text) // the reader checked the grammar
		return v
	case expr.KindString:
		return expr.String(n.Text)
	case expr.KindArray:
		items := make([]expr.Value, len(n.Items))
		for i, item := range n.Items {
			items[i] = item.Value()
		}
		return expr.Array(items...)
	case expr.KindObject:
		members := make([]expr.Member, len(n.Members))
		for i, m := range n.Members {
			members[i] = expr.Member{Key: m.Key.Text, Value: m.Value()}
		}
		return expr.Object(members...)
	default:
		return expr.Null
	}
}
