package sim

import (
	"strings"
)

// pathShape is what the filters must know of a path without evaluating it.
type pathShape struct {
	root     bool     // $ alone
	definite bool     // selects one value, not a list of matches
	depth    int      // segments
	first    string   // the first segment, if a name
	name     string   // the last name
	keys     []string // the names of a path of plain names
}

// describe reads a path, with or without braces, segment by segment.
func describe(path string) pathShape {
	s := strings.TrimSpace(path)
	if inner, _, ok := cutExpression(s); ok && strings.HasPrefix(s, "{{") {
		s = inner
	}
	p := pathShape{definite: true}
	s = strings.TrimPrefix(s, "$")
	for s != "" {
		var segment string
		switch {
		case strings.HasPrefix(s, ".."):
			p.definite = false
			s = strings.TrimPrefix(s, ".")
			if strings.HasPrefix(s, ".[") {
				s = s[1:]
			}
			continue
		case strings.HasPrefix(s, ".["):
			s = s[1:]
			continue
		case s[0] == '.':
			segment, s = cutName(s[1:])
			if strings.HasPrefix(s, "(") {
				return p.function()
			}
			p.add(segment, segment != "*", segment)
		case s[0] == '[':
			segment, s = cutBracket(s)
			p.bracket(segment)
		default:
			panic("sim: path " + path)
		}
	}
	p.root = p.depth == 0
	return p
}

// function is a path that ends in a call: it gives one value.
func (p pathShape) function() pathShape {
	p.definite = true
	return p
}

func (p *pathShape) bracket(inner string) {
	switch {
	case strings.HasPrefix(inner, "'") && !strings.Contains(inner, ","):
		name := strings.Trim(inner, "'")
		p.add(name, true, name)
	default:
		p.add("", isIndex(inner), "")
	}
}

func (p *pathShape) add(key string, definite bool, name string) {
	p.definite = p.definite && definite
	if !definite {
		name = ""
	}
	if p.depth == 0 && p.definite {
		p.first = key
	}
	p.depth++
	if name != "" {
		p.name = name
		p.keys = append(p.keys, name)
	}
}

func isIndex(s string) bool {
	s = strings.TrimPrefix(s, "-")
	return s != "" && strings.Trim(s, "0123456789") == ""
}

func cutName(s string) (name, rest string) {
	if i := strings.IndexAny(s, ".[("); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

// cutBracket takes a [...] off the front; brackets inside it count.
func cutBracket(s string) (inner, rest string) {
	depth := 0
	for i, c := range s {
		switch c {
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return s[1:i], s[i+1:]
			}
		}
	}
	panic("sim: path " + s)
}
