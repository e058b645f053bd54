package jq

import (
	"maps"
	"slices"
	"strings"

	"github.com/itchyny/gojq"
)

// need is how much of a value an expression can look at: everything, or some members only.
// Where it is neither, the expression can only tell of which kind the value is. A nil need
// stands for a value that was computed, of which nothing is to be noted.
type need struct {
	whole    bool
	computed bool // a member is chosen by a computed name
	members  map[string]*need
	names    []string // of the members, sorted
}

// member notes that a member is selected.
func (n *need) member(name string) *need {
	if n == nil {
		return nil
	}
	of := n.members[name]
	if of == nil {
		of = &need{}
		if n.members == nil {
			n.members = map[string]*need{}
		}
		n.members[name] = of
		n.names = slices.Sorted(maps.Keys(n.members))
	}
	return of
}

// use notes that everything can be looked at.
func use(n *need) {
	if n != nil {
		n.whole = true
	}
}

// variable is one that an expression uses and does not bind itself.
type variable struct {
	name string // without $
	need *need
}

func namesOf(vars []variable) []string {
	out := make([]string, len(vars))
	for i, v := range vars {
		out[i] = v.name
	}
	return out
}

// survey finds out what an expression needs of its data and of the variables that it does not
// bind itself. It follows paths through pipes and simple bindings; everything else counts as a
// use of the whole value.
type survey struct {
	data    *need
	free    map[string]*need // variables by name, without $
	nesting int              // of terms inside each other, at most

	depth   int
	bound   []binding
	defines bool // the expression has functions of its own
}

type binding struct {
	name string // with $
	need *need
}

// look surveys an expression before it is rewritten.
func look(q *gojq.Query) *survey {
	s := &survey{data: &need{}, free: map[string]*need{}}
	use(s.query(q, s.data))
	return s
}

// variables are those that the expression does not bind, sorted.
func (s *survey) variables() []variable {
	var out []variable
	for _, name := range slices.Sorted(maps.Keys(s.free)) {
		out = append(out, variable{name, s.free[name]})
	}
	return out
}

// query returns the need of the value that q selects from dot, nil where it computes one.
func (s *survey) query(q *gojq.Query, dot *need) *need {
	if q == nil {
		return nil
	}
	for _, def := range q.FuncDefs {
		s.definition(def)
	}
	if q.Term != nil {
		return s.term(q.Term, dot)
	}
	switch q.Op {
	case gojq.OpPipe:
		left := s.query(q.Left, dot)
		if len(q.Patterns) == 0 {
			return s.query(q.Right, left)
		}
		before := len(s.bound)
		s.patterns(q.Patterns, left)
		right := s.query(q.Right, dot)
		s.bound = s.bound[:before]
		return right
	case gojq.OpAnd, gojq.OpOr: // the kind of a value tells whether it is true
		s.query(q.Left, dot)
		s.query(q.Right, dot)
	case gojq.OpAssign, gojq.OpModify, gojq.OpUpdateAdd, gojq.OpUpdateSub, gojq.OpUpdateMul, gojq.OpUpdateDiv, gojq.OpUpdateMod, gojq.OpUpdateAlt:
		use(dot)
		use(s.query(q.Left, nil))
		use(s.query(q.Right, nil))
	default:
		use(s.query(q.Left, dot))
		use(s.query(q.Right, dot))
	}
	return nil
}

func (s *survey) definition(def *gojq.FuncDef) {
	s.defines = true
	before := len(s.bound)
	for _, arg := range def.Args {
		if strings.HasPrefix(arg, "$") {
			s.bound = append(s.bound, binding{arg, nil})
		}
	}
	use(s.query(def.Body, nil))
	s.bound = s.bound[:before]
}

// patterns binds variables. A single name stands for the value itself.
func (s *survey) patterns(list []*gojq.Pattern, value *need) {
	if len(list) == 1 && list[0].Name != "" {
		s.bound = append(s.bound, binding{list[0].Name, value})
		return
	}
	use(value)
	for _, p := range list {
		s.pattern(p)
	}
}

func (s *survey) pattern(p *gojq.Pattern) {
	if p == nil {
		return
	}
	if p.Name != "" {
		s.bound = append(s.bound, binding{p.Name, nil})
	}
	for _, item := range p.Array {
		s.pattern(item)
	}
	for _, m := range p.Object {
		if strings.HasPrefix(m.Key, "$") {
			s.bound = append(s.bound, binding{m.Key, nil})
		}
		s.text(m.KeyString, nil)
		use(s.query(m.KeyQuery, nil))
		s.pattern(m.Val)
	}
}

func (s *survey) text(t *gojq.String, dot *need) {
	if t != nil {
		for _, q := range t.Queries {
			use(s.query(q, dot))
		}
	}
}

func (s *survey) term(t *gojq.Term, dot *need) *need {
	s.depth++
	s.nesting = max(s.nesting, s.depth)
	defer func() { s.depth-- }()
	v := s.base(t, dot)
	for _, x := range t.SuffixList {
		switch {
		case x.Index != nil:
			v = s.index(v, x.Index, dot)
		case x.Iter:
			use(v)
			v = nil
		}
	}
	return v
}

// index is what an index selects from v.
func (s *survey) index(v *need, x *gojq.Index, dot *need) *need {
	if key, ok := constantKey(x); ok {
		return v.member(key)
	}
	use(s.query(x.Start, dot))
	use(s.query(x.End, dot))
	s.text(x.Str, dot)
	use(v)
	if v != nil && !x.IsSlice && (x.Start == nil || !smallNumber(x.Start)) {
		v.computed = true
	}
	return nil
}

// constantKey is the name in .name, ."name" and .["name"].
func constantKey(x *gojq.Index) (string, bool) {
	if x.IsSlice {
		return "", false
	}
	if x.Name != "" {
		return x.Name, true
	}
	text := x.Str
	if q := x.Start; text == nil && q != nil && len(q.FuncDefs) == 0 && q.Term != nil && q.Term.Type == gojq.TermTypeString && len(q.Term.SuffixList) == 0 {
		text = q.Term.Str
	}
	if text == nil || text.Queries != nil {
		return "", false
	}
	return text.Str, true
}

func (s *survey) base(t *gojq.Term, dot *need) *need {
	switch t.Type {
	case gojq.TermTypeIdentity:
		return dot
	case gojq.TermTypeIndex:
		return s.index(dot, t.Index, dot)
	case gojq.TermTypeFunc:
		return s.call(t.Func, dot)
	case gojq.TermTypeQuery:
		before := len(s.bound)
		v := s.query(t.Query, dot)
		s.bound = s.bound[:before]
		return v
	case gojq.TermTypeRecurse:
		use(dot)
	case gojq.TermTypeObject:
		s.object(t.Object, dot)
	case gojq.TermTypeArray:
		use(s.query(t.Array.Query, dot))
	case gojq.TermTypeUnary:
		use(s.term(t.Unary.Term, dot))
	case gojq.TermTypeFormat:
		if t.Str == nil {
			use(dot)
		}
		s.text(t.Str, dot)
	case gojq.TermTypeString:
		s.text(t.Str, dot)
	default:
		s.control(t, dot)
	}
	return nil
}

func (s *survey) control(t *gojq.Term, dot *need) {
	before := len(s.bound)
	switch t.Type {
	case gojq.TermTypeIf:
		s.query(t.If.Cond, dot)
		use(s.query(t.If.Then, dot))
		for _, other := range t.If.Elif {
			s.query(other.Cond, dot)
			use(s.query(other.Then, dot))
		}
		if t.If.Else == nil {
			use(dot)
		}
		use(s.query(t.If.Else, dot))
	case gojq.TermTypeTry:
		use(s.query(t.Try.Body, dot))
		use(s.query(t.Try.Catch, nil))
	case gojq.TermTypeReduce:
		use(s.query(t.Reduce.Query, dot))
		use(s.query(t.Reduce.Start, dot))
		s.pattern(t.Reduce.Pattern)
		use(s.query(t.Reduce.Update, nil))
	case gojq.TermTypeForeach:
		use(s.query(t.Foreach.Query, dot))
		use(s.query(t.Foreach.Start, dot))
		s.pattern(t.Foreach.Pattern)
		use(s.query(t.Foreach.Update, nil))
		use(s.query(t.Foreach.Extract, nil))
	case gojq.TermTypeLabel:
		use(s.query(t.Label.Body, dot))
	}
	s.bound = s.bound[:before]
}

func (s *survey) object(o *gojq.Object, dot *need) {
	for _, m := range o.KeyVals {
		switch {
		case strings.HasPrefix(m.Key, "$"):
			use(s.variable(m.Key))
		case m.Val != nil:
		case m.Key != "":
			use(dot.member(m.Key))
		case m.KeyString != nil && m.KeyString.Queries == nil:
			use(dot.member(m.KeyString.Str))
		default: // {"\(.a)"} and {(.a)} select a member by a computed name
			use(dot)
		}
		s.text(m.KeyString, dot)
		use(s.query(m.KeyQuery, dot))
		use(s.query(m.Val, dot))
	}
}

// kindOnly are functions that tell no more of a value than its kind does, or nothing.
var kindOnly = []string{"not", "type", "empty", "now", "infinite", "nan"}

func (s *survey) call(f *gojq.Func, dot *need) *need {
	if strings.HasPrefix(f.Name, "$") {
		return s.variable(f.Name)
	}
	if s.defines || len(f.Args) > 0 || !slices.Contains(kindOnly, f.Name) {
		use(dot)
	}
	for _, arg := range f.Args { // what an argument sees comes from dot, which is used
		use(s.query(arg, nil))
	}
	return nil
}

func (s *survey) variable(name string) *need {
	for i := len(s.bound) - 1; i >= 0; i-- {
		if s.bound[i].name == name {
			return s.bound[i].need
		}
	}
	name = strings.TrimPrefix(name, "$")
	if s.free[name] == nil {
		s.free[name] = &need{}
	}
	return s.free[name]
}
