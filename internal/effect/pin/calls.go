package pin

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/expr/jq"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// Call is one place of a definition where a function is called.
type Call struct {
	With  expr.Value // the arguments as they are written: expressions are texts; null: they are one expression
	Args  Written
	Reads []Read // what the definition plainly reads of the result
}

// Read is a path of names that an expression reads of a result.
type Read struct {
	Path  []string
	Place dialect.Place
}

// Calls are the places where a function of the program is called.
func (f *Finder) Calls(id ir.FunctionID) (out []Call) {
	p := f.def.Program
	f.look()
	for _, i := range f.sites[id] {
		op := p.Nodes[i].Op.(*ir.Call)
		c := Call{Reads: f.reads(&p.Nodes[i], op)}
		switch {
		case op.Args != 0:
			c.Args, c.With = f.written(op.Args), texts(p.Exprs[op.Args])
		default:
			c.With = expr.EmptyObject
			c.Args = Written{Value: expr.EmptyObject, at: f.locate(p.Nodes[i].Pos)}
			if op.Data {
				c.Args.Open = []string{""}
			}
		}
		out = append(out, c)
	}
	return out
}

// texts is the value of a template whose expressions are texts ${ … }.
func texts(e ir.Expr) expr.Value {
	v, err := expr.ParseJSON([]byte(e.Src))
	switch {
	case err != nil:
		return expr.Null
	case e.Lang == jq.LooseLang:
		return expressions(v)
	}
	return v
}

// look finds the calls of all functions, and the names of items of loops, once.
func (f *Finder) look() {
	if f.sites != nil {
		return
	}
	f.sites, f.items = map[ir.FunctionID][]int{}, map[string]bool{}
	for i, n := range f.def.Program.Nodes {
		switch op := n.Op.(type) {
		case *ir.Call:
			f.sites[op.Function] = append(f.sites[op.Function], i)
		case *ir.Fan:
			if op.Each != nil {
				f.items[op.Each.Var] = true
			}
		}
	}
}

// reads finds what is read of the result of a call: by its own filter, or where the result becomes the data, by the
// operations that follow until the data changes.
func (f *Finder) reads(n *ir.Node, op *ir.Call) []Read {
	p := f.def.Program
	if op.Result.Mode == ir.PutNone {
		return nil
	}
	if op.Result.Pick.Expr != 0 {
		return f.paths(op.Result.Pick.Expr)
	}
	if op.Result.Mode != ir.PutReplace || op.Result.To != ir.ToData || len(op.Result.Path) > 0 {
		return nil
	}
	var out []Read
	for next := n.Next; next != 0; next = p.Nodes[next].Next {
		eval, ok := p.Nodes[next].Op.(*ir.Eval)
		if !ok {
			break
		}
		from := eval.From
		if from == 0 {
			from = eval.Put.Pick.Expr
		}
		if from != 0 {
			out = append(out, f.paths(from)...)
		}
		if eval.Put.Mode != ir.PutNone && eval.Put.To == ir.ToData {
			break
		}
	}
	return out
}

var (
	jqPath   = regexp.MustCompile(`^(\.[A-Za-z_][A-Za-z0-9_]*)+$`)
	jsonPath = regexp.MustCompile(`^\$(\.[A-Za-z_][A-Za-z0-9_]*)+$`)
)

// paths are the plain paths of an expression, or of a template of expressions. All else may read anything.
func (f *Finder) paths(id ir.ExprID) (out []Read) {
	e := f.def.Program.Exprs[id]
	at := f.locate(e.Pos)
	add := func(text, pointer string, pattern *regexp.Regexp) {
		text = strings.TrimSpace(text)
		if !pattern.MatchString(text) {
			return
		}
		path := strings.Split(strings.TrimPrefix(text, "$"), ".")[1:]
		if !f.items[path[0]] { // expressions see the item of a loop beside the result
			out = append(out, Read{path, at.place(pointer, false)})
		}
	}
	switch e.Lang {
	case jq.Lang, jq.SelectLang:
		src := e.Src
		if inner, _, ok := jq.Embedded(src); ok {
			src = inner
		}
		add(src, "", jqPath)
	case jsonpath.Lang:
		add(e.Src, "", jsonPath)
	case jq.TemplateLang, jq.TextLang:
		v, _ := expr.ParseJSON([]byte(e.Src))
		eachText(v, "", func(text, pointer string) {
			if src, _, ok := jq.Embedded(text); ok {
				add(src, pointer, jqPath)
			}
		})
	}
	return out
}

// eachText calls do with the texts inside of a value that are not names, and the pointers to them.
func eachText(v expr.Value, at string, do func(text, pointer string)) {
	if v.Kind() == expr.KindString {
		do(v.Str(), at)
	}
	for i, item := range v.Items() {
		eachText(item, at+"/"+strconv.Itoa(i), do)
	}
	for _, m := range v.Members() {
		eachText(m.Value, at+"/"+Token(m.Key), do)
	}
}
