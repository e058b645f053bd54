package sim

import (
	"fmt"

	"github.com/lockstep-workflows/lockstep/expr"
)

// Most expressions of generated definitions do not fail whatever the data is, so that
// something happens after them; a few do.

// error makes an error to raise.
func (b *builder10) error() expr.Value {
	g := b.g
	e := obj("type", expr.String(pick(g, errorTypes...)), "status", expr.Int(int64(pick(g, 400, 404, 500, 503))))
	if g.chance(50) {
		e = e.With("title", expr.String(pick(g, "T1", "T2", "${ .s1? // \"T1\" | tostring }")))
	}
	return e
}

// incoming makes an input of a task or the workflow: a transformation, a schema, or both.
func (b *builder10) incoming(task bool) expr.Value {
	in := expr.EmptyObject
	if b.g.chance(85) {
		in = in.With("from", b.rawTransformation(task))
	}
	if in.Len() == 0 || b.g.chance(15) {
		in = in.With("schema", b.schema())
	}
	return in
}

func (b *builder10) schema() expr.Value {
	if b.g.chance(50) {
		return obj("format", expr.String("json"), "document", obj("type", expr.Array(expr.String("object"), expr.String("array"), expr.String("string"))))
	}
	document := pick(b.g, obj("type", expr.String("object")),
		obj("type", expr.Array(expr.String("object"), expr.String("array"))),
		obj("type", expr.String("object"), "properties", obj("n1", obj("type", expr.String("integer"), "maximum", expr.Int(7)))),
		obj("type", expr.String("object"), "required", expr.Array(expr.String("n1"))))
	return obj("format", expr.String("json"), "document", document)
}

// rawTransformation is one that does not see $input.
func (b *builder10) rawTransformation(task bool) expr.Value {
	g := b.g
	if g.chance(25) {
		return obj("n1", expr.String("${ .n1? // 1 }"), "s1", expr.String("plain"), "o1", obj("x", expr.String("${ . }")))
	}
	if task && g.chance(20) {
		return expr.String("{ n1: ($workflow.input | .n1? // 3), s1: $task.name }")
	}
	return expr.String(pick(g, ".", ".o1? // {}", ". as $d | {n1: 2, o1: $d}", "${ {n1: (.n1? // 1), a1: (.a1? // []), s1: \"b\"} }", ".a1?",
		"if type == \"object\" then . + {b1: true} else {n1: 5} end"))
}

func (b *builder10) transformation() expr.Value {
	g := b.g
	if g.chance(15) {
		return obj("n1", expr.String("${ .n1? // 1 }"), "b1", expr.Bool(true))
	}
	return expr.String(pick(g, ".", "{ n1: (.n1? // 0), o1: . }", "if type == \"object\" then . else {x1: .} end", "if type == \"object\" then . else {x1: .} end",
		"{ s1: \"out\", a1: [1, 2], n2: ($context | length) }", ".o1?", "${ [.] }"))
}

// mayFail draws whether an expression is one that fails; mostly where that is caught.
func (b *builder10) mayFail() bool {
	return b.g.chance(3) && (b.risky != "" || b.g.chance(20))
}

// condition sees $input only inside of a task.
func (b *builder10) condition(input bool) string {
	g := b.g
	list := []string{
		"(.n1? // 0) > 3", ".b1?", "(.s1? // \"a\") == \"a\"", "(.a1? // []) | length > 1", "${ (.n2? // 1) < 5 }", "type == \"object\"",
		".x1?", "$context.n? != null", "$task.name != \"t2\"", "true",
	}
	if input {
		list = append(list, "$input == .", "($input | .n1? // 0) < 4")
	}
	if n := len(b.vars); n > 0 {
		list = append(list, "$"+b.vars[n-1]+" != null")
	}
	if b.mayFail() {
		return pick(g, ".n1.x", "true, false", "error(\"no\")")
	}
	return pick(g, list...)
}

// value is an expression in a task's definition.
func (b *builder10) value() string {
	g := b.g
	list := []string{
		".n1? // 1", ".s1? // \"s\"", ".a1? // []", ".o1? // {}", ".b1?", ".x1?", "(.n1? // 1) | (if type == \"number\" then . + 1 else 0 end)",
		"$input | type", "$context", "$task.name", "$task.reference", "$workflow.input | type", "$workflow.definition.document.name", "$task.input | type",
		"$task.startedAt.epoch.milliseconds - $workflow.startedAt.epoch.milliseconds", "[.n1?, .s1?]", "{ k: (.n2? // 2) }", "empty",
		"$runtime.metadata", "(.a2? // []) | map(.id?)", "$task.output? | type", "$workflow.definition.do | length", "(.n1? // 1) / 2", "tojson | fromjson",
		"[.. | numbers] | add", "reduce (.a1? // [])[] as $z (0; . + 1)", "[limit(2; .a1[]?)]", "del(.n1)?", "try error(\"x\") catch .", "label $f | 1, break $f", "@json",
	}
	for _, v := range b.vars {
		list = append(list, "$"+v, "$"+v)
	}
	for _, e := range b.errs { // the rest of an error is the runtime's own affair
		list = append(list, "$"+e+" | {type, status, instance}", "$"+e+".status", "$"+e+".instance")
	}
	if b.mayFail() {
		return pick(g, ".n1.x", "1, 2", "error(\"no\")", "$input | .s1 + 1")
	}
	return pick(g, list...)
}

// merged adds to the data, which stays an object.
func (b *builder10) merged() string {
	return fmt.Sprintf("(if type == \"object\" then . else {} end) + {%s: (%s)}", pick(b.g, vocabulary...), b.value())
}

// template makes an object with expressions at any depth.
func (b *builder10) template() expr.Value {
	g := b.g
	v := expr.EmptyObject
	for range 1 + g.r.IntN(3) {
		v = v.With(pick(g, vocabulary...), b.part(2))
	}
	return v
}

func (b *builder10) part(depth int) expr.Value {
	g := b.g
	switch n := g.r.IntN(10); {
	case n < 6:
		return expr.String("${ " + b.value() + " }")
	case n < 8 && depth > 0:
		return pick(g, obj("in", b.part(depth-1)), expr.Array(b.part(depth-1), b.part(depth-1)))
	}
	return pick(g, expr.Int(5), expr.Bool(true), expr.Null, expr.String("plain text"), expr.String("a ${ .n1 } b"))
}
