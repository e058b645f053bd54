package jsonpath

import "github.com/lockstep-workflows/lockstep/expr"

// Names of the languages of this package.
const (
	// Lang is a bare path, `$.a.b`; `{{ $.a.b }}` is accepted too.
	Lang = "jsonpath"
	// TemplateLang is JSON text in which every string value may hold {{ path }}.
	TemplateLang = "template"
)

// Limits of the source of one expression. Compile refuses what exceeds them.
const (
	// MaxSource is the limit expression-source, in bytes of one path.
	MaxSource = 32 << 10
	// MaxNesting is the limit expression-nesting: filters, parentheses, lists and
	// calls inside each other. It is at most expr.MaxNested, so that evaluating a compiled
	// path never exceeds that depth.
	MaxNesting = expr.MaxNested
)

// Compiler compiles paths.
type Compiler struct{}

// TemplateCompiler compiles templates.
type TemplateCompiler struct{}

var (
	_ expr.Compiler = Compiler{}
	_ expr.Compiler = TemplateCompiler{}
	_ expr.Scoped   = (*program)(nil)
	_ expr.Scoped   = (*template)(nil)
)

// Languages returns the languages of this package by name.
func Languages() expr.Languages {
	return expr.Languages{Lang: Compiler{}, TemplateLang: TemplateCompiler{}}
}

// Compile compiles a path.
func (Compiler) Compile(src string) (expr.Program, error) {
	p, err := parseSource(src)
	if err != nil {
		return nil, err
	}
	return &program{p}, nil
}

// program is a compiled path.
type program struct{ path *path }

// Weight implements [expr.Weighed].
func (g *program) Weight() int { return g.path.weight }

// Eval selects from data.
func (g *program) Eval(data expr.Value, b *expr.Budget) (expr.Result, error) {
	return g.EvalIn(expr.Scope{Data: data}, b)
}

// EvalIn implements [expr.Scoped].
func (g *program) EvalIn(in expr.Scope, b *expr.Budget) (expr.Result, error) {
	v, ok, err := g.path.eval(scope{root: in.Data, lent: in.Lent, item: in.Data, budget: b})
	if err == nil && g.path.overlaps {
		err = b.EmitValue(v, 0)
	}
	if err != nil {
		return expr.Result{}, err
	}
	return expr.Result{Value: v, Missing: !ok, List: g.path.isList()}, nil
}
