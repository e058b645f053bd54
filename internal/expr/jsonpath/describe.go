package jsonpath

// Shape is what a front-end must know about a path without evaluating it.
type Shape struct {
	Root     bool     // "$" alone
	Definite bool     // gives a value, not a list of matches
	Depth    int      // number of segments; a function does not count
	Name     string   // the last property name; `$.items[0]` → "items"
	First    string   // the name of the first segment, "" where that is not one plain name
	Keys     []string // the property names of a path made of plain names only, else nil; "$" has none, and not nil
	Function string   // the function at the end, "" if none
	Weight   int      // of its regular expressions, see [expr.Weighed]
}

// Describe parses a path, bare or as {{ path }}.
func Describe(src string) (Shape, error) {
	p, err := parseSource(src)
	if err != nil {
		return Shape{}, err
	}
	shape := Shape{Definite: !p.isList(), Keys: []string{}, Weight: p.weight}
	if p.fn != nil {
		shape.Function = p.fn.fn.name
	}
	shape.add(p)
	shape.Root = shape.Depth == 0 && p.fn == nil && p.inner == nil
	return shape, nil
}

// add counts the path's segments after those before it.
func (h *Shape) add(p *path) {
	if p.inner != nil {
		h.add(p.inner)
	}
	for i := range p.segs {
		seg := &p.segs[i]
		plain := seg.kind == segName && !seg.deep
		if seg.kind == segName {
			h.Name = seg.name
		}
		if plain && h.Depth == 0 && p.inner == nil {
			h.First = seg.name
		}
		if plain && h.Keys != nil {
			h.Keys = append(h.Keys, seg.name)
		} else {
			h.Keys = nil
		}
		h.Depth++
	}
	if p.fn != nil {
		h.Keys = nil
	}
}
