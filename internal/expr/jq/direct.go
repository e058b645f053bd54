package jq

import (
	"slices"
	"strconv"
	"strings"

	"github.com/itchyny/gojq"

	"github.com/lockstep-workflows/lockstep/expr"
)

// Most expressions are a path, a comparison, a sum, or an object of those, and give one value.
// They are evaluated directly on [expr.Value]s, without the interpreter and without converting
// the data. Direct evaluation knows the usual case of every operation only. What is unusual,
// errors above all, it leaves to the interpreter, which then evaluates the whole expression: so
// there is one source of jq's errors and of its less obvious rules.

// op is what a node does.
type op uint8

const (
	opConstant op = iota
	opIdentity
	opVariable
	opPath      // args[0], followed by steps
	opObject    // keys, and args as their values
	opArray     // args
	opText      // args, joined
	opPipe      // args[1] of args[0]
	opIf        // condition and value in turns, and the last value
	opAnd       // args[0] and args[1]
	opOr        //
	opAlternate // args[0] // args[1]
	opCompare   // args[0] and args[1], by sign
	opCompute   // args[0] and args[1], by sign
	opNot
	opLength
	opType
	opToString
)

// node is an expression that can be evaluated directly.
type node struct {
	op    op
	sign  gojq.Operator
	at    int // of a variable: its number
	value expr.Value
	steps []step
	keys  []string // sorted
	args  []node
}

// step selects a member, or an item.
type step struct {
	key    string
	index  int
	isItem bool
}

// direct turns an expression into a node, nil if it cannot. vars are its variables.
func direct(q *gojq.Query, vars []string) *node {
	l := lowering{vars}
	n, ok := l.query(q)
	if !ok {
		return nil
	}
	return &n
}

type lowering struct{ vars []string }

func (l lowering) query(q *gojq.Query) (node, bool) {
	switch {
	case q == nil || q.Meta != nil || len(q.Imports)+len(q.FuncDefs)+len(q.Patterns) > 0:
		return node{}, false
	case q.Term != nil:
		return l.term(q.Term)
	}
	n := node{sign: q.Op}
	switch q.Op {
	case gojq.OpPipe:
		n.op = opPipe
	case gojq.OpAnd:
		n.op = opAnd
	case gojq.OpOr:
		n.op = opOr
	case gojq.OpAlt:
		n.op = opAlternate
	case gojq.OpEq, gojq.OpNe, gojq.OpLt, gojq.OpLe, gojq.OpGt, gojq.OpGe:
		n.op = opCompare
	case gojq.OpAdd, gojq.OpSub, gojq.OpMul, gojq.OpDiv, gojq.OpMod:
		n.op = opCompute
	default:
		return node{}, false
	}
	return l.with(n, q.Left, q.Right)
}

// with gives a node its arguments.
func (l lowering) with(n node, list ...*gojq.Query) (node, bool) {
	n.args = make([]node, len(list))
	for i, q := range list {
		var ok bool
		if n.args[i], ok = l.query(q); !ok {
			return node{}, false
		}
	}
	return n, true
}

func (l lowering) term(t *gojq.Term) (node, bool) {
	n, ok := l.base(t)
	if !ok {
		return node{}, false
	}
	var steps []step
	if t.Type == gojq.TermTypeIndex {
		s, ok := stepOf(t.Index)
		if !ok {
			return node{}, false
		}
		steps = append(steps, s)
	}
	for _, x := range t.SuffixList {
		if x.Optional { // what it is there for is left to the interpreter
			continue
		}
		if x.Index == nil {
			return node{}, false
		}
		s, ok := stepOf(x.Index)
		if !ok {
			return node{}, false
		}
		steps = append(steps, s)
	}
	if len(steps) == 0 {
		return n, true
	}
	return node{op: opPath, steps: steps, args: []node{n}}, true
}

// stepOf is an index that is written down.
func stepOf(x *gojq.Index) (step, bool) {
	if key, ok := constantKey(x); ok {
		return step{key: key}, true
	}
	if x.IsSlice || x.Str != nil || x.Start == nil || x.Start.Term == nil || len(x.Start.FuncDefs) > 0 || len(x.Start.Term.SuffixList) > 0 {
		return step{}, false
	}
	t, sign := x.Start.Term, 1
	if t.Type == gojq.TermTypeUnary && t.Unary.Op == gojq.OpSub && len(t.Unary.Term.SuffixList) == 0 {
		t, sign = t.Unary.Term, -1
	}
	if t.Type != gojq.TermTypeNumber {
		return step{}, false
	}
	i, err := strconv.Atoi(t.Number)
	return step{index: sign * i, isItem: true}, err == nil
}

func (l lowering) base(t *gojq.Term) (node, bool) {
	switch t.Type {
	case gojq.TermTypeIdentity, gojq.TermTypeIndex:
		return node{op: opIdentity}, true
	case gojq.TermTypeNull:
		return node{}, true
	case gojq.TermTypeTrue, gojq.TermTypeFalse:
		return node{value: expr.Bool(t.Type == gojq.TermTypeTrue)}, true
	case gojq.TermTypeNumber:
		v, ok := literal(t.Number)
		return node{value: v}, ok
	case gojq.TermTypeUnary:
		if t.Unary.Op != gojq.OpSub || t.Unary.Term.Type != gojq.TermTypeNumber || len(t.Unary.Term.SuffixList) > 0 {
			return node{}, false
		}
		v, ok := literal("-" + t.Unary.Term.Number)
		return node{value: v}, ok
	case gojq.TermTypeString:
		return l.text(t.Str)
	case gojq.TermTypeQuery:
		return l.query(t.Query)
	case gojq.TermTypeFunc:
		return l.call(t.Func)
	case gojq.TermTypeObject:
		return l.object(t.Object)
	case gojq.TermTypeArray:
		if t.Array.Query == nil {
			return node{value: expr.Array()}, true
		}
		return l.array(t.Array.Query)
	case gojq.TermTypeIf:
		list := []*gojq.Query{t.If.Cond, t.If.Then}
		for _, other := range t.If.Elif {
			list = append(list, other.Cond, other.Then)
		}
		if t.If.Else == nil {
			return l.with(node{op: opIf}, append(list, identity())...)
		}
		return l.with(node{op: opIf}, append(list, t.If.Else)...)
	}
	return node{}, false
}

// literal is a number as the interpreter reads it.
func literal(text string) (expr.Value, bool) {
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return expr.Int(i), true
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !strings.ContainsAny(text, ".eE") {
		return expr.Null, false
	}
	return float(f), true
}

func (l lowering) text(s *gojq.String) (node, bool) {
	if s.Queries == nil {
		return node{value: expr.String(s.Str)}, true
	}
	return l.with(node{op: opText}, s.Queries...)
}

func (l lowering) call(f *gojq.Func) (node, bool) {
	if name, ok := strings.CutPrefix(f.Name, "$"); ok {
		at := slices.Index(l.vars, name)
		return node{op: opVariable, at: at}, at >= 0 && !isForbidden(f.Name)
	}
	if len(f.Args) > 0 {
		return node{}, false
	}
	is, ok := functionOps[f.Name]
	return node{op: is}, ok
}

var functionOps = map[string]op{"not": opNot, "length": opLength, "type": opType, "tostring": opToString}

// object takes members whose names are written down, each once.
func (l lowering) object(o *gojq.Object) (node, bool) {
	type member struct {
		key   string
		value node
	}
	list := make([]member, 0, len(o.KeyVals))
	for _, m := range o.KeyVals {
		key, value := m.Key, m.Val
		switch {
		case strings.HasPrefix(key, "$"):
			if value != nil {
				return node{}, false
			}
			key, value = key[1:], call(key)
		case key == "" && m.KeyString != nil && m.KeyString.Queries == nil:
			key = m.KeyString.Str
		case key == "":
			return node{}, false
		}
		if value == nil {
			value = &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeIndex, Index: &gojq.Index{Str: &gojq.String{Str: key}}}}
		}
		n, ok := l.query(value)
		if !ok {
			return node{}, false
		}
		list = append(list, member{key, n})
	}
	slices.SortFunc(list, func(a, b member) int { return strings.Compare(a.key, b.key) })
	n := node{op: opObject}
	for i, m := range list {
		if i > 0 && list[i-1].key == m.key {
			return node{}, false
		}
		n.keys, n.args = append(n.keys, m.key), append(n.args, m.value)
	}
	return folded(n), true
}

func (l lowering) array(q *gojq.Query) (node, bool) {
	var list []*gojq.Query
	for ; q.Term == nil && q.Op == gojq.OpComma && len(q.FuncDefs) == 0; q = q.Left {
		list = append(list, q.Right)
	}
	list = append(list, q)
	slices.Reverse(list)
	n, ok := l.with(node{op: opArray}, list...)
	return folded(n), ok
}

// folded is a container, as a constant if everything in it is constant.
func folded(n node) node {
	values := make([]expr.Value, len(n.args))
	for i := range n.args {
		if n.args[i].op != opConstant {
			return n
		}
		values[i] = n.args[i].value
	}
	return node{value: container(n.keys, n.op == opObject, values)}
}

func container(keys []string, isObject bool, values []expr.Value) expr.Value {
	if !isObject {
		return expr.Array(values...)
	}
	members := make([]expr.Member, len(keys))
	for i, key := range keys {
		members[i] = expr.Member{Key: key, Value: values[i]}
	}
	return expr.Object(members...)
}
