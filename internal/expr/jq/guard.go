package jq

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/itchyny/gojq"

	"github.com/lockstep-workflows/lockstep/expr"
)

// guard rewrites the tree of a filter in place.
type guard struct {
	src     string
	natives map[string]bool // that the filter uses
	needed  map[string]bool // definitions of the prelude that it uses
	scope   []string        // functions that are defined where we are, name/arity
	nodes   int             // visited so far: how large the parts of a filter are
	assigns int             // assignments among them
	trusted bool            // it is the prelude that is rewritten
	failed  error           // the first thing that is not allowed
}

// program rewrites a whole filter.
func (g *guard) program(q *gojq.Query) error {
	if q.Meta != nil || len(q.Imports) > 0 {
		return &expr.SyntaxError{Offset: find(g.src, "import", "include", "module"), Msg: "a filter cannot use modules"}
	}
	g.query(q)
	return g.failed
}

// withPrelude puts the definitions that a filter needs in front of it. Those need others,
// which come before them.
func (g *guard) withPrelude(q *gojq.Query) *gojq.Query {
	g.trusted = true
	var defs []*gojq.FuncDef
	for i := len(prelude) - 1; i >= 0; i-- {
		if !g.needed[prelude[i].name] {
			continue
		}
		parsed, err := gojq.Parse(prelude[i].source + " .")
		if err != nil {
			g.failed = fmt.Errorf("%s: %w", prelude[i].name, err)
			return q
		}
		g.scope = nil
		g.definition(parsed.FuncDefs[0])
		defs = append(defs, parsed.FuncDefs[0])
	}
	slices.Reverse(defs)
	if len(defs) == 0 {
		return q
	}
	return &gojq.Query{FuncDefs: defs, Term: &gojq.Term{Type: gojq.TermTypeQuery, Query: q}}
}

// refuse notes what is not allowed, at the place where its name first stands.
func (g *guard) refuse(name, msg string) {
	if g.failed == nil {
		g.failed = &expr.SyntaxError{Offset: find(g.src, name), Msg: msg}
	}
}

// signs are the operators that functions carry out.
var signs = map[gojq.Operator]string{
	gojq.OpAdd: "+", gojq.OpSub: "-", gojq.OpMul: "*", gojq.OpDiv: "/", gojq.OpMod: "%",
	gojq.OpEq: "==", gojq.OpNe: "!=", gojq.OpGt: ">", gojq.OpLt: "<", gojq.OpGe: ">=", gojq.OpLe: "<=",
}

// updates are the operators that an update contains: a += b.
var updates = map[gojq.Operator]gojq.Operator{
	gojq.OpUpdateAdd: gojq.OpAdd, gojq.OpUpdateSub: gojq.OpSub, gojq.OpUpdateMul: gojq.OpMul,
	gojq.OpUpdateDiv: gojq.OpDiv, gojq.OpUpdateMod: gojq.OpMod, gojq.OpUpdateAlt: gojq.OpAlt,
}

// Variables that no filter can write.
const (
	operand = "$ operand"
	found   = "$ paths"
)

// assignment pays for the value that is changed, the paths to its parts and what is put
// there: a |= b is [path(a)] as $paths | getpath($paths[]) |= b.
func assignment(q *gojq.Query) *gojq.Query {
	paths := &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeArray, Array: &gojq.Array{Query: pathsOf(q.Left)}}}
	each := call(found)
	each.Term.SuffixList = []*gojq.Suffix{{Iter: true}}
	change := &gojq.Query{Op: q.Op, Left: call("getpath", each), Right: pipe(q.Right, call(wrapped("whole")))}
	change = pipe(call(wrapped("copies"), call(found)), change)
	return &gojq.Query{FuncDefs: q.FuncDefs, Op: gojq.OpPipe, Left: call(wrapped("whole")), Right: bind(paths, found, change)}
}

// pathsOf are the paths that a query takes, paid by their length.
func pathsOf(q *gojq.Query) *gojq.Query {
	return pipe(call("path", q), call(wrapped("breadth")))
}

func (g *guard) query(q *gojq.Query) {
	if q == nil || g.failed != nil {
		return
	}
	g.nodes++
	scope := len(g.scope)
	for _, def := range q.FuncDefs {
		g.definition(def)
	}
	for _, p := range q.Patterns {
		g.pattern(p)
	}
	if inner, ok := updates[q.Op]; ok { // a += b is b as $x | a |= . + $x
		q.Right = bind(q.Right, operand, &gojq.Query{
			Op: gojq.OpModify, Left: q.Left,
			Right: &gojq.Query{Op: inner, Left: identity(), Right: call(operand)},
		})
		q.Op, q.Left, q.Patterns, q.Right = q.Right.Op, q.Right.Left, q.Right.Patterns, q.Right.Right
	}
	g.query(q.Left)
	g.query(q.Right)
	g.term(q.Term)
	switch sign, isSign := signs[q.Op]; {
	case isSign:
		g.useNative(sign + "/2")
		*q = gojq.Query{FuncDefs: q.FuncDefs, Term: call(wrapped(sign+"/2"), q.Left, q.Right).Term}
	case q.Op == gojq.OpAssign || q.Op == gojq.OpModify:
		*q = *assignment(q)
		g.assigns++
	}
	g.scope = g.scope[:scope]
}

// definition rewrites a function. Where it is large it pays whenever it begins, for the
// variables that it keeps.
func (g *guard) definition(def *gojq.FuncDef) {
	g.scope = append(g.scope, def.Name+"/"+strconv.Itoa(len(def.Args)))
	scope := len(g.scope)
	for _, arg := range def.Args {
		g.scope = append(g.scope, strings.TrimPrefix(arg, "$")+"/0")
	}
	def.Body = g.sized(def.Body)
	g.scope = g.scope[:scope]
}

// sized rewrites what runs as a function of its own.
func (g *guard) sized(body *gojq.Query) *gojq.Query {
	const small = 16
	before := g.nodes
	g.query(body)
	if size := g.nodes - before; size > small {
		return pipe(call(wrapped("pay"), number(size)), body)
	}
	return body
}

func (g *guard) pattern(p *gojq.Pattern) {
	if p == nil {
		return
	}
	g.nodes++
	for _, item := range p.Array {
		g.pattern(item)
	}
	for _, member := range p.Object {
		g.query(member.KeyQuery)
		if s := member.KeyString; s != nil && s.Queries != nil {
			member.KeyString, member.KeyQuery = nil, g.text(s, "tostring/0")
		}
		if member.KeyQuery != nil {
			member.KeyQuery = pipe(member.KeyQuery, call(wrapped("index")))
		}
		g.pattern(member.Val)
	}
}

// useNative lets the filter call a native function through its wrapper.
func (g *guard) useNative(name string) { g.natives[name] = true }

// Small trees.

func identity() *gojq.Query {
	return &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeIdentity}}
}

func call(name string, args ...*gojq.Query) *gojq.Query {
	return &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeFunc, Func: &gojq.Func{Name: name, Args: args}}}
}

func number(n int) *gojq.Query {
	return &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeNumber, Number: strconv.Itoa(n)}}
}

func pipe(left, right *gojq.Query) *gojq.Query {
	if left.Term == nil || len(left.FuncDefs) > 0 {
		left = &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeQuery, Query: left}}
	}
	return &gojq.Query{Op: gojq.OpPipe, Left: left, Right: right}
}

func bind(value *gojq.Query, name string, body *gojq.Query) *gojq.Query {
	return &gojq.Query{Op: gojq.OpPipe, Left: value, Patterns: []*gojq.Pattern{{Name: name}}, Right: body}
}
