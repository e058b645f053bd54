package arch

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"regexp"
	"strings"
	"time"
)

// pageNumber is a value on the page of limits that is one number: 1,000,000, 4 MiB, 30 s.
var pageNumber = regexp.MustCompile(`^([0-9][0-9,]*)(?: (KiB|MiB|s))?(?:, or .*)?$`)

// numberOn reads a value of the page; ok is false for words and for several numbers.
func numberOn(cell string) (value string, ok bool) {
	match := pageNumber.FindStringSubmatch(strings.TrimSpace(cell))
	if match == nil {
		return "", false
	}
	n := constant.MakeFromLiteral(strings.ReplaceAll(match[1], ",", ""), token.INT, 0)
	unit := map[string]int64{"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "s": int64(time.Second)}[match[2]]
	return constant.BinaryOp(n, token.MUL, constant.MakeInt64(unit)).ExactString(), true
}

// limitValues finds what the code says of each limit: the value of a constant whose
// comment names the limit, or that of a field whose comment does, where a variable of
// the package sets it.
func (m *Module) limitValues(names map[string]bool) map[string][]string {
	out := map[string][]string{}
	for _, p := range m.Packages {
		fields := map[string]string{} // limit by Type.Field
		for _, f := range p.Files {
			if !f.Test {
				f.commented(func(decl string, value ast.Expr, comment string) {
					for name := range names {
						if !strings.Contains(comment, name) || !whole(name).MatchString(comment) {
							continue // the first is quick, and rules out nearly all
						}
						if value == nil {
							fields[decl] = name
						} else if v, ok := number(value); ok {
							out[name] = append(out[name], v)
						}
					}
				})
			}
		}
		for _, f := range p.Files {
			if !f.Test {
				f.set(func(field string, value ast.Expr) {
					if v, ok := number(value); ok && fields[field] != "" {
						out[fields[field]] = append(out[fields[field]], v)
					}
				})
			}
		}
	}
	return out
}

// commented visits constants with their values, and fields of structs as Type.Field
// without one, each with its own comments.
func (f *File) commented(visit func(decl string, value ast.Expr, comment string)) {
	for _, d := range f.AST.Decls {
		group, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range group.Specs {
			switch spec := spec.(type) {
			case *ast.ValueSpec:
				comment := spec.Doc.Text() + spec.Comment.Text()
				if !group.Lparen.IsValid() {
					comment += group.Doc.Text()
				}
				if group.Tok == token.CONST && len(spec.Values) == 1 {
					visit(spec.Names[0].Name, spec.Values[0], comment)
				}
			case *ast.TypeSpec:
				if body, ok := spec.Type.(*ast.StructType); ok {
					for _, field := range body.Fields.List {
						for _, name := range field.Names {
							visit(spec.Name.Name+"."+name.Name, nil, field.Doc.Text()+field.Comment.Text())
						}
					}
				}
			}
		}
	}
}

// set visits the fields that package variables set, as Type.Field.
func (f *File) set(visit func(field string, value ast.Expr)) {
	for _, d := range f.AST.Decls {
		group, ok := d.(*ast.GenDecl)
		if !ok || group.Tok != token.VAR {
			continue
		}
		ast.Inspect(group, func(n ast.Node) bool {
			lit, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			typ, ok := lit.Type.(*ast.Ident)
			for _, elt := range lit.Elts {
				if pair, keyed := elt.(*ast.KeyValueExpr); ok && keyed {
					visit(fmt.Sprintf("%s.%s", typ.Name, pair.Key), pair.Value)
				}
			}
			return true
		})
	}
}

// number evaluates literals, units of time, and what is computed from them.
func number(e ast.Expr) (string, bool) {
	v := evaluate(e)
	return v.ExactString(), v.Kind() == constant.Int
}

func evaluate(e ast.Expr) constant.Value {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.INT {
			return constant.MakeFromLiteral(e.Value, e.Kind, 0)
		}
	case *ast.SelectorExpr:
		units := map[string]time.Duration{"Millisecond": time.Millisecond, "Second": time.Second, "Minute": time.Minute, "Hour": time.Hour}
		if unit, ok := units[e.Sel.Name]; ok {
			return constant.MakeInt64(int64(unit))
		}
	case *ast.BinaryExpr:
		x, y := evaluate(e.X), evaluate(e.Y)
		if x.Kind() != constant.Int || y.Kind() != constant.Int {
			break
		}
		switch e.Op {
		case token.SHL:
			n, _ := constant.Uint64Val(y)
			return constant.Shift(x, e.Op, uint(n))
		case token.ADD, token.SUB, token.MUL:
			return constant.BinaryOp(x, e.Op, y)
		}
	}
	return constant.MakeUnknown()
}
