package format

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// ErrRefused says that a document cannot be formatted without a risk to what it
// says. It is as it was.
var ErrRefused = errors.New("the document is left as it is")

// Source returns a document in the house layout. The keys of objects that order
// knows are sorted; without an order all keys stay where they are.
//
// Mistakes in the text come as [dialect.Diagnostics]. An [ErrRefused] comes with
// what stands in the way.
func Source(file string, src []byte, order *Order) ([]byte, error) {
	breaks := "\n"
	if i := bytes.IndexByte(src, '\n'); i > 0 && src[i-1] == '\r' {
		breaks = "\r\n"
	}
	plain := bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n"))
	plain = bytes.ReplaceAll(plain, []byte("\r"), []byte("\n"))
	doc, found := dialect.Read(file, plain)
	if found.HasErrors() {
		if _, found = dialect.Read(file, src); !found.HasErrors() { // with the places of the original
			return nil, fmt.Errorf("%w: its line breaks matter", ErrRefused)
		}
		return nil, found
	}
	out, err := settle(doc, order)
	if err != nil {
		return nil, err
	}
	if breaks != "\n" {
		out = bytes.ReplaceAll(out, []byte("\n"), []byte(breaks))
	}
	return out, nil
}

// settle formats until nothing changes any more, so that formatting twice has
// what formatting once gives. Once is nearly always enough.
func settle(doc *dialect.Document, order *Order) ([]byte, error) {
	for range 4 {
		out, err := format(doc, order)
		if err != nil && order != nil && doc.Format == dialect.YAML {
			// Sorted, an alias may stand before its anchor. The layout alone is safe.
			out, err = format(doc, nil)
		}
		if err != nil || bytes.Equal(out, doc.Source) {
			return out, err
		}
		doc, _ = dialect.Read(doc.File, out)
	}
	return nil, fmt.Errorf("%w: no layout of it is stable", ErrRefused)
}

const mark = "\ufeff"

// format formats and makes sure that nothing was lost.
func format(doc *dialect.Document, order *Order) ([]byte, error) {
	text, marked := strings.CutPrefix(string(doc.Source), mark)
	var out string
	var comments []string
	if doc.Format == dialect.JSON {
		out = jsonText(doc.Root, order)
	} else {
		tree, err := takeApart(doc)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrRefused, err)
		}
		comments = tree.comments()
		tree.sort(doc.Root, order)
		out = tree.String()
	}
	if out == text {
		return doc.Source, nil
	}
	if marked {
		out = mark + out
	}
	return []byte(out), same(doc, out, comments)
}

// same compares a document with its new text.
func same(doc *dialect.Document, text string, comments []string) error {
	again, found := dialect.Read(doc.File, []byte(text))
	switch {
	case found.HasErrors():
		return fmt.Errorf("%w: formatted it would no longer be readable", ErrRefused)
	case again.Format != doc.Format || !expr.Equal(doc.Root.Value(), again.Root.Value()):
		return fmt.Errorf("%w: formatted it would say something else", ErrRefused)
	case doc.Format == dialect.JSON:
		return nil
	}
	tree, err := takeApart(again)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	if !slices.Equal(slices.Sorted(slices.Values(comments)), slices.Sorted(slices.Values(tree.comments()))) {
		return fmt.Errorf("%w: formatted it would lose a comment", ErrRefused)
	}
	return nil
}
