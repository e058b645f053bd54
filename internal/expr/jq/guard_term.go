package jq

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/itchyny/gojq"
)

func (g *guard) term(t *gojq.Term) {
	if t == nil || g.failed != nil {
		return
	}
	g.nodes++
	switch t.Type {
	case gojq.TermTypeRecurse:
		t.Type, t.Func = gojq.TermTypeFunc, &gojq.Func{Name: "recurse"}
		g.call(t)
	case gojq.TermTypeFunc:
		g.call(t)
	case gojq.TermTypeObject:
		g.object(t.Object)
		g.counted(t, "object")
	case gojq.TermTypeArray:
		g.query(t.Array.Query)
		g.counted(t, "list")
	case gojq.TermTypeUnary:
		g.term(t.Unary.Term)
	case gojq.TermTypeFormat:
		g.format(t)
	case gojq.TermTypeString:
		if t.Str.Queries != nil {
			become(t, g.text(t.Str, "tostring/0"))
		}
	case gojq.TermTypeIndex: // .[i] is . with an index behind it
		t.SuffixList = slices.Insert(t.SuffixList, 0, &gojq.Suffix{Index: t.Index})
		t.Type, t.Index = gojq.TermTypeIdentity, nil
	case gojq.TermTypeQuery:
		g.query(t.Query)
	default:
		g.control(t)
	}
	g.suffixes(t)
}

// control rewrites conditions and loops.
func (g *guard) control(t *gojq.Term) {
	switch t.Type {
	case gojq.TermTypeIf:
		g.query(t.If.Cond)
		g.query(t.If.Then)
		for _, other := range t.If.Elif {
			g.query(other.Cond)
			g.query(other.Then)
		}
		g.query(t.If.Else)
	case gojq.TermTypeTry:
		g.query(t.Try.Body)
		g.query(t.Try.Catch)
	case gojq.TermTypeReduce:
		g.query(t.Reduce.Query)
		g.pattern(t.Reduce.Pattern)
		g.query(t.Reduce.Start)
		g.query(t.Reduce.Update)
	case gojq.TermTypeForeach:
		g.query(t.Foreach.Query)
		g.pattern(t.Foreach.Pattern)
		g.query(t.Foreach.Start)
		g.query(t.Foreach.Update)
		g.query(t.Foreach.Extract)
	case gojq.TermTypeLabel:
		g.query(t.Label.Body)
	}
}

// become makes a term a query in parentheses; what follows the term stays behind it.
func become(t *gojq.Term, q *gojq.Query) {
	*t = gojq.Term{Type: gojq.TermTypeQuery, Query: q, SuffixList: t.SuffixList}
}

// counted passes what a term makes to a function that counts it.
func (g *guard) counted(t *gojq.Term, as string) {
	made := *t
	made.SuffixList = nil
	become(t, pipe(&gojq.Query{Term: &made}, call(wrapped(as))))
}

// suffixes rewrites what follows a term: .a[i], .a[i:j], .a[], .a?
func (g *guard) suffixes(t *gojq.Term) {
	list := t.SuffixList
	t.SuffixList = nil
	for i, s := range list {
		g.nodes++
		if s.Index != nil {
			g.index(s.Index)
			if x := s.Index; i == 0 && x.Start != nil && !x.IsSlice && t.Type == gojq.TermTypeFunc && t.Func.Name == "$"+secretsVar {
				x.Start = pipe(x.Start, call(wrapped("secret"), call("$"+secretsVar)))
			}
		}
		// Going through a list copies it, and a part of a text is searched letter by letter.
		if s.Iter || s.Index != nil && s.Index.IsSlice {
			whole := *t
			*t = gojq.Term{Type: gojq.TermTypeQuery, Query: pipe(&gojq.Query{Term: &whole}, call(wrapped("breadth")))}
		}
		t.SuffixList = append(t.SuffixList, s)
	}
}

// index rewrites what stands between brackets.
func (g *guard) index(x *gojq.Index) {
	g.query(x.Start)
	g.query(x.End)
	if x.Str != nil && x.Str.Queries != nil {
		x.Start, x.Str = g.text(x.Str, "tostring/0"), nil
	}
	if x.Start != nil && !x.IsSlice && !smallNumber(x.Start) {
		x.Start = pipe(x.Start, call(wrapped("index")))
	}
}

// smallNumber says that an index is a number that needs no price.
func smallNumber(q *gojq.Query) bool {
	if q.Term == nil || q.Term.Type != gojq.TermTypeNumber || len(q.Term.SuffixList) > 0 {
		return false
	}
	n, err := strconv.Atoi(q.Term.Number)
	return err == nil && n <= freeIndex
}

func (g *guard) object(o *gojq.Object) {
	for _, member := range o.KeyVals {
		g.nodes++
		if strings.HasPrefix(member.Key, "$") {
			g.variable(member.Key)
		}
		g.query(member.KeyQuery)
		if s := member.KeyString; s != nil && s.Queries != nil {
			member.KeyString, member.KeyQuery = nil, g.text(s, "tostring/0")
		}
		g.query(member.Val)
	}
}

// text makes a text with queries in it a sum: "a\(b)" is "a" + (b | tostring).
func (g *guard) text(s *gojq.String, format string) *gojq.Query {
	g.useNative(format)
	g.useNative("+/2")
	var sum *gojq.Query
	for _, part := range s.Queries {
		g.nodes++
		if part.Term == nil || part.Term.Str == nil || part.Term.Type != gojq.TermTypeString {
			g.query(part)
			part = pipe(part, call(wrapped(format)))
		}
		if sum == nil {
			sum = part
		} else {
			sum = call(wrapped("+/2"), sum, part)
		}
	}
	return sum
}

// format rewrites @json and @json "a\(b)".
func (g *guard) format(t *gojq.Term) {
	name := t.Format + "/0"
	if _, ok := natives[name]; !ok {
		g.refuse(t.Format, fmt.Sprintf("%s is not a format of filters", t.Format))
		return
	}
	g.useNative(name)
	switch {
	case t.Str == nil:
		become(t, call(wrapped(name)))
	case t.Str.Queries != nil:
		become(t, g.text(t.Str, name))
	default:
		t.Type, t.Format = gojq.TermTypeString, ""
	}
}

// isForbidden says that a variable is the interpreter's, or a module's.
func isForbidden(name string) bool {
	return name == "$ENV" || strings.HasPrefix(name, "$__") || strings.Contains(name, "::")
}

// variable refuses those that reveal the environment.
func (g *guard) variable(name string) {
	if isForbidden(name) {
		g.refuse(name, name+" is not there in filters")
	}
}

// call rewrites the call of a function, if filters may call it.
func (g *guard) call(t *gojq.Term) {
	f := t.Func
	if strings.HasPrefix(f.Name, "$") {
		g.variable(f.Name)
		return
	}
	name := f.Name + "/" + strconv.Itoa(len(f.Args))
	_, isNative := natives[name]
	_, isOwn := own[name]
	defined := slices.Contains(g.scope, name)
	private := strings.HasPrefix(f.Name, "_") && !g.trusted
	for i := range f.Args {
		f.Args[i] = g.sized(f.Args[i])
	}
	switch {
	case defined:
	case name == "getpath/1":
		f.Args[0] = pipe(f.Args[0], call(wrapped("path")))
	case name == "path/1":
		become(t, pathsOf(f.Args[0]))
	case name == "match/2":
		f.Name = wrapped(name)
		t.SuffixList = slices.Insert(t.SuffixList, 0, &gojq.Suffix{Iter: true})
	case isOwn:
		f.Name = wrapped(name)
	case isNative && !private:
		g.useNative(name)
		f.Name = wrapped(name)
	case preludeIndex(name) >= 0:
		g.needed[name] = true
	case !slices.Contains(harmless, name):
		g.refuse(f.Name, fmt.Sprintf("there is no function %s here", name))
	}
}
