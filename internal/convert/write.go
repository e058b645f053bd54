package convert

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw05"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw10"
	"github.com/lockstep-workflows/lockstep/internal/format"
)

// Text writes a definition in the house layout. JSON has no comments, so there only the report
// lists what could not be converted.
func (r Result) Text(d Definition, f dialect.Format) ([]byte, error) {
	schema := sw05.FrontEnd{}.Schema()
	if r.To == To10 {
		schema = sw10.FrontEnd{}.Schema()
	}
	order, err := format.OrderOf(schema)
	if err != nil {
		return nil, err
	}
	if f == dialect.JSON {
		return format.Source(d.ID+".json", append(d.Value.AppendJSON(nil), '\n'), order)
	}
	w := &writer{}
	for _, line := range d.head {
		w.comment(0, line)
	}
	for _, l := range r.Lost {
		if l.State == "" {
			w.comment(0, "NOT KEPT: "+l.What+": "+l.Why+".")
		}
	}
	for _, m := range d.Value.Members() {
		if m.Key != d.list {
			w.key(0, m.Key, m.Value)
		}
	}
	w.WriteString(d.list + ":\n")
	for _, it := range d.items {
		r.notes(w, d, it)
		w.item(0, it.Value)
	}
	return format.Source(d.ID+".yaml", w.Bytes(), order)
}

// notes writes the comments of a state.
func (r Result) notes(w *writer, d Definition, it Item) {
	for _, line := range it.Comments {
		w.comment(0, line)
	}
	for _, l := range r.Lost {
		if l.State == it.Name && l.State != "" && slices.Contains(d.names(), l.State) {
			w.comment(0, "NOT KEPT: "+l.What+": "+l.Why+".")
		}
	}
}

func (d Definition) names() []string {
	var out []string
	for _, it := range d.items {
		out = append(out, it.Name)
	}
	return out
}

// writer writes block-style YAML. Short values go on the line of their key.
type writer struct{ bytes.Buffer }

func (w *writer) indent(depth int) { w.WriteString(strings.Repeat("  ", depth)) }

func (w *writer) comment(depth int, text string) {
	for line := range strings.Lines(text) {
		w.indent(depth)
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			w.WriteString("#\n")
			continue
		}
		fmt.Fprintf(w, "# %s\n", strings.Map(func(r rune) rune {
			if r < ' ' || unicode.Is(unicode.Bidi_Control, r) {
				return ' '
			}
			return r
		}, line))
	}
}

func (w *writer) key(depth int, key string, v expr.Value) {
	w.indent(depth)
	w.Write(expr.AppendQuoted(nil, key))
	w.WriteByte(':')
	switch {
	case short(v):
		w.WriteByte(' ')
		w.Write(v.AppendJSON(nil))
		w.WriteByte('\n')
	case v.IsObject():
		w.WriteByte('\n')
		for _, m := range v.Members() {
			w.key(depth+1, m.Key, m.Value)
		}
	default:
		w.WriteByte('\n')
		for _, it := range v.Items() {
			w.item(depth, it)
		}
	}
}

// item writes an item of a list, which is not indented below its key.
func (w *writer) item(depth int, v expr.Value) {
	w.indent(depth)
	w.WriteByte('-')
	if !v.IsObject() || v.Len() == 0 {
		w.WriteByte(' ')
		w.Write(v.AppendJSON(nil))
		w.WriteByte('\n')
		return
	}
	for i, m := range v.Members() {
		if i == 0 {
			w.WriteByte(' ')
			line := &writer{}
			line.key(depth+1, m.Key, m.Value)
			w.WriteString(strings.TrimLeft(line.String(), " "))
			continue
		}
		w.key(depth+1, m.Key, m.Value)
	}
}

// short reports whether a value goes on the line of its key: a scalar, an empty container, or
// a short array without objects.
func short(v expr.Value) bool {
	switch {
	case v.Len() == 0 || !v.IsObject() && !v.IsArray():
		return true
	case v.IsArray():
		return !slices.ContainsFunc(v.Items(), func(it expr.Value) bool { return it.IsObject() }) && len(v.AppendJSON(nil)) < 100
	}
	return false
}
