package pin

import (
	"regexp"
	"slices"
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

// look finds the calls of all functions, the ends of regions and the names of items of loops, once.
func (f *Finder) look() {
	if f.sites != nil {
		return
	}
	p := f.def.Program
	f.sites, f.items, f.ends = map[ir.FunctionID][]int{}, map[string]bool{}, map[*ir.Node]*ir.Node{}
	for i, n := range p.Nodes {
		switch op := n.Op.(type) {
		case *ir.Call:
			f.sites[op.Function] = append(f.sites[op.Function], i)
		case *ir.Fan:
			if op.Each != nil {
				f.items[op.Each.Var] = true
			}
		case *ir.Enter:
			r := &p.Regions[op.Region]
			handled := slices.ContainsFunc(r.Catch, func(c ir.Catch) bool { return c.Next != 0 })
			if end := f.end(r.Entry); end != nil && !handled && !op.Drop {
				f.ends[end] = &p.Nodes[i]
			}
		}
	}
}

// reads finds what is read of the result of a call: by its own filter, or where the result becomes the data, by the
// operations that follow until the data changes.
func (f *Finder) reads(n *ir.Node, op *ir.Call) []Read {
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
	for range f.def.Program.Nodes {
		if n = f.after(n); n == nil {
			break
		}
		eval, ok := n.Op.(*ir.Eval)
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

// after is the node that goes on with the data of a node: the next one, or what follows a region that ends here, such as
// that of a timeout.
func (f *Finder) after(n *ir.Node) *ir.Node {
	for n.Next == 0 {
		if n = f.ends[n]; n == nil {
			return nil
		}
	}
	return &f.def.Program.Nodes[n.Next]
}

// end is the last node of those that follow one another; nil: they go round in a circle.
func (f *Finder) end(id ir.NodeID) *ir.Node {
	all := f.def.Program.Nodes
	for range all {
		if all[id].Next == 0 {
			return &all[id]
		}
		id = all[id].Next
	}
	return nil
}

var jsonPath = regexp.MustCompile(`^\$(\.[A-Za-z_][A-Za-z0-9_]*)+$`)

// paths are the plain paths of an expression, or of a template of expressions. All else may read anything.
func (f *Finder) paths(id ir.ExprID) (out []Read) {
	e := f.def.Program.Exprs[id]
	at := f.locate(e.Pos)
	add := func(path []string, pointer string) {
		if !f.items[path[0]] { // expressions see the item of a loop beside the result
			out = append(out, Read{path, at.place(pointer, false)})
		}
	}
	addAll := func(src, pointer string) {
		for _, path := range jq.Reads(src) {
			add(path, pointer)
		}
	}
	switch e.Lang {
	case jq.Lang, jq.SelectLang:
		src := e.Src
		if inner, _, ok := jq.Embedded(src); ok {
			src = inner
		}
		addAll(src, "")
	case jsonpath.Lang:
		if text := strings.TrimSpace(e.Src); jsonPath.MatchString(text) {
			add(strings.Split(text, ".")[1:], "")
		}
	case jq.TemplateLang, jq.TextLang:
		v, _ := expr.ParseJSON([]byte(e.Src))
		eachText(v, "", func(text, pointer string) {
			if src, _, ok := jq.Embedded(text); ok {
				addAll(src, pointer)
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
