package jsonpath

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
)

// JQ is a path in jq, for tools that translate definitions.
//
// The exact forms do on every value what the path does. The plain ones are what people write: they
// do the same where Assumes holds, and are "" where they would not be shorter.
type JQ struct {
	Stream string // one output for each match; of a path that gives a value, at most one
	Plain  string // of a path that gives a value: that, or null
	Holds  string // true or false: the path as a condition
	Easy   string // the same, plainly
	List   bool   // the path gives the list of its matches
	// Assumes is what the plain condition needs to be true of the data, a sentence each.
	Assumes []string
}

// Begin says where a path begins that starts with a name: at the value of a jq expression, or with
// found, at what the name stands for. "" is the data itself. Any other path has the name "".
type Begin func(name string) (base string, found bool)

// ToJQ translates a path. begin may be nil. What has no equivalent in jq is an error that says what
// that is.
func ToJQ(src string, begin Begin) (JQ, error) {
	p, err := parseSource(src)
	if err != nil {
		return JQ{}, err
	}
	w := &jqWriter{begin: begin}
	out := JQ{List: p.isList()}
	if out.Stream, err = w.stream(p); err != nil {
		return JQ{}, err
	}
	out.Plain = w.plain(p)
	out.Holds, out.Easy, out.Assumes = w.condition(p, out)
	if w.rooted {
		bind := func(s string) string {
			if s == "" {
				return ""
			}
			return ". as $data | " + s
		}
		out.Stream, out.Holds = bind(out.Stream), bind(out.Holds)
		if strings.Contains(out.Easy, "$data") {
			out.Easy = bind(out.Easy)
		}
	}
	return out, nil
}

// TemplatePart is a text of a template, or one path in it.
type TemplatePart struct {
	Text string
	Path string // "": the part is Text
}

// TemplateParts takes the text of a template apart. whole says that it is one path, blanks aside,
// whose value keeps its type.
func TemplateParts(s string) (parts []TemplatePart, whole bool, err error) {
	t, err := compileString(s)
	switch {
	case err != nil:
		return nil, false, err
	case t.path != nil:
		return []TemplatePart{{Path: t.path.src}}, true, nil
	case t.parts == nil:
		return []TemplatePart{{Text: t.constant.Str()}}, false, nil
	}
	for _, p := range t.parts {
		if p.text != "" {
			parts = append(parts, TemplatePart{Text: p.text})
		}
		if p.path != nil {
			parts = append(parts, TemplatePart{Path: p.path.src})
		}
	}
	return parts, false, nil
}

type jqWriter struct {
	begin  Begin
	nested bool // inside of a filter, where $ is $data
	rooted bool // a filter asks for $
}

func noJQ(what string) error { return fmt.Errorf("%s has no equivalent in jq", what) }

// start is where a path begins, and the segments that are left.
func (w *jqWriter) start(p *path) (string, []segment) {
	segs := p.segs
	if p.current {
		return "", segs
	}
	base, found := "", false
	switch {
	case w.begin == nil:
	case len(segs) > 0 && segs[0].kind == segName && !segs[0].deep:
		base, found = w.begin(segs[0].name)
	default:
		base, _ = w.begin("")
	}
	if w.nested {
		w.rooted = true
		if base == "" {
			base = "$data"
		} else if !strings.HasPrefix(base, "$") {
			base = "($data | " + base + ")"
		}
	}
	if found {
		segs = segs[1:]
	}
	return base, segs
}

// stream writes what a path selects.
func (w *jqWriter) stream(p *path) (string, error) {
	var steps []string
	segs := p.segs
	if p.inner != nil {
		first, err := w.stream(p.inner)
		if err != nil {
			return "", err
		}
		steps = append(steps, first)
	} else {
		var base string
		if base, segs = w.start(p); base != "" {
			steps = append(steps, base)
		}
	}
	for i := range segs {
		step, err := w.step(&segs[i], i == len(segs)-1)
		if err != nil {
			return "", err
		}
		steps = append(steps, step)
	}
	out := strings.Join(steps, " | ")
	if out == "" {
		out = "."
	}
	if p.fn == nil {
		return out, nil
	}
	if !p.definite {
		out = "[" + out + "]"
	}
	call, err := w.call(p.fn)
	return out + " | " + call, err
}

// step writes one segment.
func (w *jqWriter) step(s *segment, last bool) (string, error) {
	deep := ""
	if s.deep {
		if s.kind == segFilter {
			return "", noJQ("a filter behind ..")
		}
		deep = ".. | "
	}
	switch s.kind {
	case segName:
		return deep + fmt.Sprintf("objects | select(has(%s)) | %s", jqText(s.name), jqName(s.name)), nil
	case segNames:
		if last {
			return deep + fmt.Sprintf("objects | with_entries(select(.key | IN(%s))) | select(. != {})", jqTexts(s.names)), nil
		}
		return deep + fmt.Sprintf("objects | (%s) as $k | select(has($k)) | .[$k]", jqTexts(s.names)), nil
	case segIndex:
		return deep + fmt.Sprintf("arrays | select(length > %d) | .[%d]", least(s.index), s.index), nil
	case segIndexes:
		list := make([]string, len(s.indexes))
		for i, n := range s.indexes {
			list[i] = strconv.Itoa(n)
		}
		return deep + fmt.Sprintf("arrays | (%s) as $i | select(length > if $i < 0 then -$i - 1 else $i end) | .[$i]", strings.Join(list, ", ")), nil
	case segSlice:
		if s.slice.step != 1 {
			return "", noJQ("a slice with a step")
		}
		bound := func(has bool, n int) string {
			if !has {
				return ""
			}
			return strconv.Itoa(n)
		}
		from, to := bound(s.slice.hasFrom, s.slice.from), bound(s.slice.hasTo, s.slice.to)
		if from == "" && to == "" {
			return deep + "arrays | .[]", nil
		}
		return deep + fmt.Sprintf("arrays | .[%s:%s][]", from, to), nil
	case segAll:
		return deep + "(arrays, objects) | .[]", nil
	}
	cond, err := w.cond(s.filter)
	return fmt.Sprintf("if type == \"object\" then . else arrays | .[] end | select(%s)", cond), err
}

// least is how long an array is at least that has an index, less one.
func least(index int) int {
	if index < 0 {
		return -index - 1
	}
	return index
}

// call writes a function over what the path before it gives.
func (w *jqWriter) call(c *call) (string, error) {
	if len(c.args) > 0 {
		return "", noJQ(c.fn.name + "() with arguments")
	}
	switch c.fn.name {
	case "length":
		return "select(type | IN(\"array\", \"object\", \"string\")) | length", nil
	case "keys":
		return "objects | keys", nil
	case "first":
		return "arrays | select(length > 0) | .[0]", nil
	case "last":
		return "arrays | select(length > 0) | .[-1]", nil
	}
	return "", noJQ(c.fn.name + "()")
}

// plain writes a path of names and indexes as people do, and "" for any other.
func (w *jqWriter) plain(p *path) string {
	if !p.definite || p.inner != nil {
		return ""
	}
	base, segs := w.start(p)
	out := base
	if strings.ContainsAny(base, " |") {
		out = "(" + base + ")"
	}
	for i, s := range segs {
		switch s.kind {
		case segName:
			out += jqName(s.name)
		case segIndex:
			if i == 0 && out == "" {
				out = "."
			}
			out += fmt.Sprintf("[%d]", s.index)
		case segNames:
			if i < len(segs)-1 || p.fn != nil {
				return ""
			}
			keys := make([]string, len(s.names))
			for j, name := range s.names {
				if keys[j] = jqText(name); isIdentifier(name) {
					keys[j] = name
				}
			}
			return strings.TrimPrefix(out+" | {"+strings.Join(keys, ", ")+"}", " | ")
		}
	}
	if out == "" {
		out = "."
	}
	switch {
	case p.fn == nil:
		return out
	case len(p.fn.args) == 0 && p.fn.fn.name == "length":
		return "(" + out + " | length)"
	}
	return ""
}

// condition writes a path as a condition (semantics.md §Expressions).
func (w *jqWriter) condition(p *path, out JQ) (exact, easy string, assumes []string) {
	if !out.List {
		exact = fmt.Sprintf("any(%s; IN(false, null, \"\", [], {}) | not)", out.Stream)
		if out.Plain != "" {
			assumes = append(assumes, fmt.Sprintf("%s is not empty where it decides: no empty text, list or object", p.src))
		}
		return exact, out.Plain, assumes
	}
	exact = fmt.Sprintf("any(%s; true)", out.Stream)
	if len(p.segs) == 1 && p.inner == nil && p.segs[0].kind == segFilter && !p.segs[0].deep && !p.current {
		// Of an object: whether the filter accepts it.
		nested := w.nested
		w.nested = true
		easy, assumes = w.easy(p.segs[0].filter, 0)
		w.nested = nested
	}
	return exact, easy, assumes
}

// cond writes a condition of a filter.
func (w *jqWriter) cond(c *cond) (string, error) {
	nested := w.nested
	w.nested = true
	defer func() { w.nested = nested }()
	switch c.op {
	case opConst:
		return c.left.lit.String(), nil
	case opNot:
		inner, err := w.cond(c.kids[0])
		return "(" + inner + " | not)", err
	case opAnd, opOr:
		word := map[condOp]string{opAnd: " and ", opOr: " or "}[c.op]
		var parts []string
		for _, k := range c.kids {
			one, err := w.cond(k)
			if err != nil {
				return "", err
			}
			parts = append(parts, one)
		}
		return "(" + strings.Join(parts, word) + ")", nil
	}
	left, err := w.operand(&c.left)
	if err != nil {
		return "", err
	}
	switch c.op {
	case opExists:
		if c.left.list() {
			return fmt.Sprintf("any(%s; length > 0)", left), nil
		}
		return fmt.Sprintf("any(%s; . != null and . != false)", left), nil
	case opMatch:
		return "", noJQ("=~")
	}
	right, err := w.operand(&c.right)
	if err != nil {
		return "", err
	}
	if c.right.path != nil {
		left, right = fmt.Sprintf("(%s) as $l | %s | [$l, .]", left, right), ""
	}
	test, not, ok := comparison(c, right)
	if !ok {
		return "", noJQ("this operator of a filter")
	}
	out := fmt.Sprintf("any(%s; %s)", left, test)
	if not {
		out = "(" + out + " | not)"
	}
	return out, nil
}

// operand writes one side of a comparison: nothing where its path selects nothing.
func (w *jqWriter) operand(o *operand) (string, error) {
	if o.path == nil {
		return o.lit.String(), nil
	}
	out, err := w.stream(o.path)
	if o.list() {
		out = "[" + out + "]"
	}
	return out, err
}

// comparison writes a test of . with what right gives. Of two paths . is the pair.
func comparison(c *cond, right string) (test string, not, ok bool) {
	sign := map[condOp]string{opLt: "<", opLe: "<=", opGt: ">", opGe: ">="}[c.op]
	lit := c.right.lit
	two := c.right.path != nil
	switch c.op {
	case opEq, opNe:
		if two {
			return ".[0] == .[1]", c.op == opNe, true
		}
		return ". == " + right, c.op == opNe, true
	case opLt, opLe, opGt, opGe:
		if two {
			return fmt.Sprintf("(map(type) | IN([\"number\", \"number\"], [\"string\", \"string\"])) and .[0] %s .[1]", sign), false, true
		}
		switch lit.Kind() {
		case expr.KindNumber:
			return fmt.Sprintf("type == \"number\" and . %s %s", sign, right), false, true
		case expr.KindString:
			return fmt.Sprintf("type == \"string\" and . %s %s", sign, right), false, true
		}
	case opIn, opNin:
		if c.right.path != nil {
			return "", false, false
		}
		return fmt.Sprintf("IN(%s[])", right), c.op == opNin, true
	case opSize:
		if c.right.path != nil {
			return "", false, false
		}
		return fmt.Sprintf("(type | IN(\"array\", \"object\", \"string\")) and length == %s", right), false, true
	case opEmpty:
		if c.right.path != nil {
			return "", false, false
		}
		return fmt.Sprintf("(type | IN(\"array\", \"object\", \"string\")) and (length == 0) == %s", right), false, true
	}
	return "", false, false
}

// The strength of what easy writes: how it binds in a larger condition.
const (
	bindOr = iota
	bindAnd
	bindTerm
)

// easy writes a condition over an object as people do; "" where it cannot.
func (w *jqWriter) easy(c *cond, around int) (string, []string) {
	switch c.op {
	case opConst:
		return c.left.lit.String(), nil
	case opNot:
		inner, assumes := w.easy(c.kids[0], bindOr)
		if inner == "" {
			return "", nil
		}
		return "(" + inner + " | not)", assumes
	case opAnd, opOr:
		word, own := " and ", bindAnd
		if c.op == opOr {
			word, own = " or ", bindOr
		}
		var parts, assumes []string
		for _, k := range c.kids {
			one, more := w.easy(k, own+1)
			if one == "" {
				return "", nil
			}
			parts, assumes = append(parts, one), append(assumes, more...)
		}
		out := strings.Join(parts, word)
		if own < around {
			out = "(" + out + ")"
		}
		return out, slices.Compact(assumes)
	}
	if c.left.path == nil || !c.left.path.current {
		return "", nil
	}
	left := w.plain(c.left.path)
	if left == "" || c.right.path != nil {
		return "", nil
	}
	right := c.right.lit.String()
	switch c.op {
	case opExists:
		return left, nil
	case opEq, opNe:
		if c.right.lit.IsNull() {
			return "", nil // null is not what is missing
		}
		return left + map[condOp]string{opEq: " == ", opNe: " != "}[c.op] + right, nil
	case opLt, opLe, opGt, opGe:
		kind := c.right.lit.Kind()
		if kind != expr.KindNumber && kind != expr.KindString {
			return "", nil
		}
		sign := map[condOp]string{opLt: " < ", opLe: " <= ", opGt: " > ", opGe: " >= "}[c.op]
		return left + sign + right, []string{fmt.Sprintf("%s is %s where it is compared with %s", c.left.path.src, kind.WithArticle(), right)}
	case opIn:
		return fmt.Sprintf("(%s | IN(%s[]))", left, right), nil
	}
	return "", nil
}

// jqText is a text in jq: JSON, whose \( would begin an expression.
func jqText(s string) string { return string(expr.AppendQuoted(nil, s)) }

func jqTexts(list []string) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = jqText(s)
	}
	return strings.Join(out, ", ")
}

// jqName selects a member.
func jqName(name string) string {
	if isIdentifier(name) {
		return "." + name
	}
	return "." + jqText(name)
}

func isIdentifier(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}
