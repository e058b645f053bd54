package openapi

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonschema"
)

// schemas are those of a library for one version and direction, as JSON Schema. Each is
// translated and compiled once, when the first operation needs it: in a large document
// nearly everything refers to nearly everything.
type schemas struct {
	lib     *library
	version version
	way     direction
	set     *jsonschema.Set
	parts   sync.Map // of the set: jsonschema.Part by name; calls look for them while others are added
	byKey   map[string]*translated
	oneWay  map[string][]string // see onlyOther; by key of a place
}

// translated is one schema.
type translated struct {
	name   string // in the set
	source place
	lax    []string // properties that it must not require, whatever it says itself

	done   bool
	values int           // that it has
	parts  int           // schemas inside of it
	refs   []*translated // that it refers to
	same   []*translated // those of them that are about the same value
	err    error         // why it cannot be used
	loop   loopState
}

type loopState uint8

const (
	loopOpen loopState = iota + 1
	loopNone
)

func (l *library) schemasFor(v version, way direction) *schemas {
	key := string(way) + strconv.Itoa(int(v))
	s := l.schemas[key]
	if s == nil {
		s = &schemas{lib: l, version: v, way: way, byKey: map[string]*translated{}, oneWay: map[string][]string{}}
		s.set = jsonschema.NewSet(s.part)
		l.schemas[key] = s
	}
	return s
}

func (s *schemas) part(name string) (jsonschema.Part, bool) {
	p, ok := s.parts.Load(name)
	if !ok {
		return jsonschema.Part{}, false
	}
	return p.(jsonschema.Part), true
}

var errEndless = errors.New("it refers to itself endlessly")

// program checks values against a schema. spent counts the values of it and of all that
// it refers to.
func (s *schemas) program(p place, spent *int) (expr.Program, error) {
	first := s.find(p, nil)
	seen := map[*translated]bool{first: true}
	for list := []*translated{first}; len(list) > 0; list = list[1:] {
		t := list[0]
		if err := s.lib.ctx.Err(); err != nil {
			return nil, err
		}
		s.translate(t)
		if *spent += t.values; *spent > maxSchemaValues {
			return nil, fmt.Errorf("the schemas have more than %d values (limit openapi-schema-values)", maxSchemaValues)
		}
		if t.err != nil && t != first {
			return nil, fmt.Errorf("%s: %w", t.source.key(), t.err)
		}
		if t.err != nil {
			return nil, t.err
		}
		for _, next := range t.refs {
			if !seen[next] {
				seen[next] = true
				list = append(list, next)
			}
		}
	}
	for t := range seen {
		if t.endless() {
			return nil, errEndless
		}
	}
	return s.set.Program(first.name), nil
}

// endless finds a schema that applies itself to the same value again: checking would
// blame every value, and it is the document that is wrong.
func (t *translated) endless() bool {
	switch {
	case t.err != nil:
		return t.err == errEndless
	case t.loop == loopNone:
		return false
	case t.loop == loopOpen:
		return true
	}
	t.loop = loopOpen
	if slices.ContainsFunc(t.same, (*translated).endless) {
		t.err = errEndless
		return true
	}
	t.loop = loopNone
	return false
}

// find returns the schema at a place, which must not require the lax properties.
func (s *schemas) find(p place, lax []string) *translated {
	key := p.key()
	if key == "" { // it stands where it is used: equal texts are equal schemas
		sum := sha256.Sum256([]byte(p.doc.ref + "\x00" + p.Value.String()))
		key = string(sum[:])
	}
	if len(lax) > 0 {
		own := s.onlyOther(p) // it does not require those by itself
		lax = slices.DeleteFunc(slices.Clone(lax), func(name string) bool { return slices.Contains(own, name) })
	}
	if len(lax) > 0 {
		key += "\x00" + strings.Join(lax, "\x00")
	}
	t := s.byKey[key]
	if t == nil {
		t = &translated{name: "s" + strconv.Itoa(len(s.byKey)), source: p, lax: lax}
		s.byKey[key] = t
	}
	return t
}

func (s *schemas) translate(t *translated) {
	if t.done {
		return
	}
	t.done = true
	w := translation{s, t}
	v, err := w.schema(t.source, scope{same: true, lax: t.lax})
	if err == nil {
		var part jsonschema.Part
		part, err = jsonschema.NewPart(v)
		s.parts.Store(t.name, part)
	}
	if syntax := (*expr.SyntaxError)(nil); errors.As(err, &syntax) {
		err = errors.New(syntax.Msg)
	}
	t.err = err
}

// onlyOther lists the properties of the object that a schema describes which only go the
// other way, wherever it says so: in its own properties, in what its $ref names, or in a
// part of allOf. They are never required.
func (s *schemas) onlyOther(p place) []string {
	key := p.key()
	if known, ok := s.oneWay[key]; ok && key != "" {
		return known
	}
	if key != "" {
		s.oneWay[key] = nil // a schema that comes back to itself adds nothing
	}
	var out []string
	if ref, ok := p.Get("$ref"); ok && ref.Kind() == expr.KindString {
		if target, err := s.lib.resolve(p.doc, ref.Str()); err == nil {
			out = append(out, s.onlyOther(target)...)
		}
		if s.version != v31 {
			return out
		}
	}
	properties, _ := p.member("properties")
	for _, m := range properties.Members() {
		if s.goesOnlyOther(place{p.doc, "", m.Value}, map[string]bool{}) {
			out = append(out, m.Key)
		}
	}
	parts, _ := p.member("allOf")
	for _, part := range parts.Items() {
		out = append(out, s.onlyOther(place{p.doc, "", part})...)
	}
	slices.Sort(out)
	out = slices.Compact(out)
	if key != "" {
		s.oneWay[key] = out
	}
	return out
}

func (s *schemas) goesOnlyOther(p place, seen map[string]bool) bool {
	for _, one := range s.lib.same(p, s.version) {
		if key := one.key(); key != "" {
			if seen[key] {
				continue
			}
			seen[key] = true
		}
		if other, _ := one.Get(string(s.way)); other.Bool() {
			return true
		}
		parts, _ := one.member("allOf")
		for _, part := range parts.Items() {
			if s.goesOnlyOther(place{one.doc, "", part}, seen) {
				return true
			}
		}
	}
	return false
}
