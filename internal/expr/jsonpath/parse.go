package jsonpath

import (
	"fmt"
	"strings"
)

// parseSource parses a whole source text: a path, or one {{ path }}.
func parseSource(src string) (*path, error) {
	s := &scanner{src: src}
	s.blank()
	wrapped := s.accept("{{")
	open := s.pos - 2
	if len(strings.TrimSpace(src)) > MaxSource {
		return nil, fail(s.pos, "", "the expression is longer than %d bytes (limit expression-source)", MaxSource)
	}
	if wrapped {
		p, err := s.embedded(open)
		if err != nil {
			return nil, err
		}
		if s.blank(); !s.atEnd() {
			return nil, fail(s.pos, "a single path is expected here; remove the text around {{ }}", "found %s after the expression", s.found())
		}
		p.weight = s.weight
		return p, nil
	}
	if s.atEnd() {
		return nil, fail(s.pos, "a path starts with $, as in $.name", "the path is empty")
	}
	p, err := s.path()
	if err != nil {
		return nil, err
	}
	if s.blank(); !s.atEnd() {
		return nil, s.afterPath("the end of the path")
	}
	p.weight = s.weight
	return p, nil
}

// embedded parses the path after a "{{" at open, and the "}}".
func (s *scanner) embedded(open int) (*path, error) {
	start := s.pos
	p, err := s.embeddedPath()
	switch {
	case s.pos-start > MaxSource:
		return nil, fail(start, "", "the expression is longer than %d bytes (limit expression-source)", MaxSource)
	case err != nil && !strings.Contains(s.src[start:], "}}"),
		err == nil && s.atEnd():
		return nil, fail(open, `close it with }}; for a literal {{ write \{{`, "the expression that starts here has no closing }}")
	case err != nil:
		return nil, err
	case !s.accept("}}"):
		return nil, s.afterPath("}}")
	}
	return p, nil
}

func (s *scanner) embeddedPath() (*path, error) {
	s.blank()
	if s.has("}}") {
		return nil, fail(s.pos, "write a path, as in {{ $.name }}", "the expression is empty")
	}
	p, err := s.path()
	s.blank()
	return p, err
}

// afterPath explains what stands where the path should be over.
func (s *scanner) afterPath(what string) error {
	hint := ""
	switch c := s.peek(); {
	case strings.IndexByte("<>=!~&|", c) >= 0:
		hint = "conditions stand inside a filter, as in $.items[?(@.price > 10)]"
	case s.has("{{"):
		hint = "a path holds no {{ }}; it is one expression by itself"
	case c == '}' && !s.has("}}"):
		hint = "an expression ends with two braces: }}"
	case c == '$' || c == '@':
		hint = "one path is expected; text with several is written {{ $.a }} {{ $.b }}"
	case c == ')' || c == ']':
		hint = fmt.Sprintf("remove the %c, or open it before", c)
	case s.pos > 0 && isBlank(s.src[s.pos-1]) && s.word() != "":
		hint = "a name with blanks stands in brackets and quotes, as in $['first name']"
	case c == '\'' || c == '"':
		hint = "quoted names stand in brackets, as in $['name']"
	}
	return s.expected(what, hint)
}

// path parses from $ or @ to where the path ends.
func (s *scanner) path() (*path, error) {
	start := s.pos
	p := &path{definite: true}
	switch s.peek() {
	case '$':
	case '@':
		p.current = true
	default:
		return nil, s.noRoot()
	}
	root := s.src[s.pos : s.pos+1]
	s.pos++
	if w := s.word(); w != "" {
		return nil, s.expected("'.' or '[' after "+root, fmt.Sprintf("write %s.%s", root, w))
	}
	if root == "$" && s.has("{") && !s.has("{{") {
		return nil, s.expected("'.' or '[' after $", "${ } belongs to later versions of the language; write {{ $.name }}")
	}
	levels := 0
	defer func() { s.depth -= levels }()
	for {
		seg, fn, err := s.segment()
		if err != nil {
			return nil, err
		}
		if seg == nil && fn == nil {
			p.src = s.src[start:s.pos]
			p.settle()
			return p, nil
		}
		if p.fn != nil { // a path goes on after a function
			levels++
			if err := s.enter(); err != nil {
				return nil, err
			}
			p.settle()
			p = &path{definite: true, inner: p, current: p.current}
		}
		if fn != nil {
			p.fn = fn
		} else {
			p.segs = append(p.segs, *seg)
		}
	}
}

func (s *scanner) noRoot() error {
	hint := "a path starts with $, as in $.name"
	switch w := s.word(); {
	case s.has("{{"):
		hint = "a path holds no {{ }}; it is one expression by itself"
	case s.has("{"):
		hint = "two braces are enough: {{ $.name }}"
	case s.has("."):
		rest, _, _ := strings.Cut(s.src[s.pos:], "}}")
		hint = "write $" + strings.TrimSpace(strings.ToValidUTF8(rest[:min(len(rest), 20)], ""))
	case w != "":
		hint = fmt.Sprintf("did you mean $.%s?", w)
	}
	return s.expected("$ or @", hint)
}

// settle decides whether the segments are definite. Several names at the end
// give one object of them; elsewhere each is followed (Jayway).
func (p *path) settle() {
	p.overlaps = p.inner != nil && p.inner.overlaps || p.fn != nil && p.fn.fn.name == "append"
	for i := range p.segs {
		seg := &p.segs[i]
		p.overlaps = p.overlaps || seg.deep || seg.repeats()
		switch {
		case seg.deep, seg.kind == segIndexes, seg.kind == segSlice, seg.kind == segAll, seg.kind == segFilter:
			p.definite = false
		case seg.kind == segNames && i < len(p.segs)-1:
			p.definite = false
		}
	}
}

// repeats reports whether the segment may select something twice.
func (s *segment) repeats() bool {
	seen := map[string]bool{}
	for _, n := range s.names {
		if seen[n] {
			return true
		}
		seen[n] = true
	}
	signs := map[bool]bool{}
	at := map[int]bool{}
	for _, i := range s.indexes {
		if at[i] {
			return true
		}
		at[i], signs[i < 0] = true, true
	}
	return len(signs) > 1
}

// segment parses one segment or function; both are nil where the path ends.
func (s *scanner) segment() (*segment, *call, error) {
	start := s.pos
	switch {
	case s.accept(".."):
		if s.peek() == '.' {
			return nil, nil, s.expected("a name, * or [", "at most two dots follow each other")
		}
		seg, fn, err := s.member(start)
		if fn != nil {
			return nil, nil, fail(start, "write one dot before a function", "a function cannot follow '..'")
		}
		if seg != nil {
			seg.deep = true
		}
		return seg, nil, err
	case s.accept("."):
		return s.member(start)
	case s.peek() == '[':
		seg, err := s.bracket()
		return seg, nil, err
	}
	return nil, nil, nil
}

// member parses what follows one or two dots.
func (s *scanner) member(dot int) (*segment, *call, error) {
	switch s.peek() {
	case '[':
		seg, err := s.bracket()
		return seg, nil, err
	case '*':
		s.pos++
		return &segment{kind: segAll}, nil, nil
	}
	at := s.pos
	name := s.name()
	switch {
	case name == "" && (s.atEnd() || isBlank(s.peek()) || s.has("}}")):
		return nil, nil, fail(dot, "write a name after it, or remove it", "the path ends with a dot")
	case name == "" && (s.peek() == '\'' || s.peek() == '"'):
		return nil, nil, s.expected("a name", "quoted names stand in brackets, as in $['name']")
	case name == "":
		return nil, nil, s.expected("a name, * or [", "names with special characters stand in brackets and quotes, as in $['a.b']")
	case s.peek() == '(':
		fn, err := s.call(name, at)
		return nil, fn, err
	}
	return &segment{kind: segName, name: name}, nil, nil
}

// bracket parses […].
func (s *scanner) bracket() (*segment, error) {
	open := s.pos
	s.pos++
	s.blank()
	seg := &segment{}
	var err error
	switch c := s.peek(); {
	case c == '*':
		s.pos++
		seg.kind = segAll
	case c == '?':
		seg.kind = segFilter
		seg.filter, err = s.filter(open)
	case c == '\'' || c == '"':
		err = s.names(seg)
	case c == '-' || c == ':' || c >= '0' && c <= '9':
		err = s.indexes(seg)
	case c == ']':
		return nil, s.expected("a name, an index, * or ?(", "write [*] for all items")
	case c == '(':
		return nil, s.expected("a name, an index, * or ?(", "script expressions are not supported; count from the end with [-1]")
	case s.atEnd():
		return nil, fail(open, "", "the bracket is not closed")
	default:
		hint := ""
		if w := s.word(); w != "" {
			hint = fmt.Sprintf("names in brackets have quotes: ['%s']", w)
		}
		return nil, s.expected("a quoted name, an index, * or ?(", hint)
	}
	if err != nil {
		return nil, err
	}
	if s.blank(); !s.accept("]") {
		if s.atEnd() {
			return nil, fail(open, "close it with ]", "the bracket is not closed")
		}
		return nil, s.expected("]", "")
	}
	return seg, nil
}

// names parses 'a','b'.
func (s *scanner) names(seg *segment) error {
	for {
		if c := s.peek(); c != '\'' && c != '"' {
			return s.expected("a quoted name", "names and indexes cannot be mixed in one bracket")
		}
		name, err := s.quoted()
		if err != nil {
			return err
		}
		seg.names = append(seg.names, name)
		if s.blank(); !s.accept(",") {
			break
		}
		s.blank()
	}
	seg.kind = segNames
	if len(seg.names) == 1 {
		seg.kind, seg.name, seg.names = segName, seg.names[0], nil
	}
	return nil
}

// indexes parses 0 or 0,2 or 1:3 or 1:3:2.
func (s *scanner) indexes(seg *segment) error {
	var parts [3]int
	var given [3]bool
	n := 0
	for ; ; n++ {
		if n == len(parts) {
			return s.expected("]", "a slice is [from:to] or [from:to:step]")
		}
		if c := s.peek(); c != ':' && c != ']' {
			i, err := s.integer()
			if err != nil {
				return err
			}
			parts[n], given[n] = i, true
		}
		s.blank()
		if n == 0 && s.peek() == ',' {
			return s.indexList(seg, parts[0])
		}
		if !s.accept(":") {
			break
		}
		s.blank()
	}
	if n == 0 {
		seg.kind, seg.index = segIndex, parts[0]
		return nil
	}
	seg.kind = segSlice
	seg.slice = slice{from: parts[0], hasFrom: given[0], to: parts[1], hasTo: given[1], step: 1}
	if given[2] {
		if seg.slice.step = parts[2]; seg.slice.step == 0 {
			return fail(s.pos-1, "", "the step of a slice cannot be 0")
		}
	}
	return nil
}

func (s *scanner) indexList(seg *segment, first int) error {
	seg.kind, seg.indexes = segIndexes, []int{first}
	for s.accept(",") {
		s.blank()
		if c := s.peek(); c == '\'' || c == '"' {
			return s.expected("a whole number", "names and indexes cannot be mixed in one bracket")
		}
		i, err := s.integer()
		if err != nil {
			return err
		}
		seg.indexes = append(seg.indexes, i)
		s.blank()
	}
	if s.peek() == ':' {
		return s.expected("]", "slices and indexes cannot be mixed in one bracket")
	}
	return nil
}
