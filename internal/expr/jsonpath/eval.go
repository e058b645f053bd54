package jsonpath

import (
	"math/bits"
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
)

// scope is what an evaluation sees.
type scope struct {
	root   expr.Value // $
	lent   expr.Value // where a path begins with a name that $ lacks
	item   expr.Value // @
	budget *expr.Budget
}

// eval returns what the path selects: a value, or the array of matches. ok is
// false where it selects nothing; the value is then null, or the empty array.
func (p *path) eval(s scope) (v expr.Value, ok bool, err error) {
	switch {
	case p.inner != nil:
		if v, ok, err = p.inner.eval(s); err != nil {
			return expr.Null, false, err
		}
		if !ok && p.isList() {
			return expr.Array(), false, nil
		}
	case p.current:
		v, ok = s.item, true
	default:
		v, ok = s.start(p), true
	}
	if p.definite {
		if ok {
			v, ok, err = follow(p.segs, v, s.budget)
		}
	} else if ok {
		v, ok, err = matches(p.segs, v, s)
	} else {
		v = expr.Array()
	}
	if err != nil || p.fn == nil {
		return v, ok, err
	}
	if !ok && p.definite {
		return expr.Null, false, nil
	}
	return p.fn.eval(v, s)
}

// start is where a path from $ begins.
func (s *scope) start(p *path) expr.Value {
	if s.lent.IsNull() || len(p.segs) == 0 || p.segs[0].kind != segName || p.segs[0].deep || !s.root.IsObject() {
		return s.root
	}
	if _, ok := s.root.Get(p.segs[0].name); ok {
		return s.root
	}
	if _, ok := s.lent.Get(p.segs[0].name); ok {
		return s.lent
	}
	return s.root
}

// follow takes the one way a definite path describes. It allocates nothing, but
// for the object that several names at the end select.
func follow(segs []segment, v expr.Value, b *expr.Budget) (expr.Value, bool, error) {
	if err := b.Step(1 + len(segs)); err != nil {
		return expr.Null, false, err
	}
	for i := range segs {
		ok := false
		switch s := &segs[i]; s.kind {
		case segName:
			if err := b.Step(lookup(v, s.name)); err != nil {
				return expr.Null, false, err
			}
			v, ok = v.Get(s.name)
		case segIndex:
			v, ok = item(v, s.index)
		case segNames:
			var err error
			if v, ok, err = pick(s.names, v, b); err != nil {
				return expr.Null, false, err
			}
		}
		if !ok {
			return expr.Null, false, nil
		}
	}
	return v, true, nil
}

// lookup is what finding a member costs beyond the visit: keys are compared, the more
// the larger the object, the longer the longer the name.
func lookup(v expr.Value, name string) int {
	if v.Len() < 16 && len(name) < 64 {
		return 0
	}
	return bits.Len(uint(v.Len())) * (8 + len(name)/8) / 32
}

// item returns an array's item; a negative index counts from the end.
func item(v expr.Value, index int) (expr.Value, bool) {
	items := v.Items()
	if index < 0 {
		index += len(items)
	}
	if index < 0 || index >= len(items) {
		return expr.Null, false
	}
	return items[index], true
}

// pick returns the object of the named members that exist.
func pick(names []string, v expr.Value, b *expr.Budget) (expr.Value, bool, error) {
	if !v.IsObject() {
		return expr.Null, false, nil
	}
	if err := b.Step(4 + 3*len(names)); err != nil {
		return expr.Null, false, err
	}
	var members []expr.Member
	for _, name := range names {
		if err := b.Step(lookup(v, name)); err != nil {
			return expr.Null, false, err
		}
		if m, ok := v.Get(name); ok {
			members = append(members, expr.Member{Key: name, Value: m})
		}
	}
	if len(members) == 0 {
		return expr.Null, false, nil
	}
	return expr.Object(members...), true, b.Emit(len(members))
}

// matches collects everything an indefinite path selects.
func matches(segs []segment, v expr.Value, s scope) (expr.Value, bool, error) {
	w := walker{scope: s}
	if err := w.walk(segs, v); err != nil {
		return expr.Null, false, err
	}
	return expr.Array(w.out...), len(w.out) > 0, nil
}

type walker struct {
	scope
	out []expr.Value
}

// walk follows the segments from v in every direction they allow.
func (w *walker) walk(segs []segment, v expr.Value) error {
	if err := w.budget.Step(1); err != nil {
		return err
	}
	if len(segs) == 0 {
		if len(w.out) == cap(w.out) {
			w.out = slices.Grow(w.out, len(w.out)+1) // it doubles, also where it is large
		}
		w.out = append(w.out, v)
		return w.budget.Emit(1)
	}
	if !segs[0].deep {
		return w.apply(segs, v)
	}
	if segs[0].kind == segFilter {
		return w.descendFilter(segs, v, v.IsObject(), 0)
	}
	return w.descend(segs, v, 0)
}

// apply takes the first segment from v, without its descent.
func (w *walker) apply(segs []segment, v expr.Value) error {
	s, rest := &segs[0], segs[1:]
	switch s.kind {
	case segName:
		if err := w.budget.Step(lookup(v, s.name)); err != nil {
			return err
		}
		if m, ok := v.Get(s.name); ok {
			return w.walk(rest, m)
		}
	case segNames:
		return w.applyNames(s, rest, v)
	case segIndex:
		if it, ok := item(v, s.index); ok {
			return w.walk(rest, it)
		}
	case segIndexes:
		for _, i := range s.indexes {
			if it, ok := item(v, i); ok {
				if err := w.walk(rest, it); err != nil {
					return err
				}
			}
		}
	case segSlice:
		return w.applySlice(s, rest, v)
	case segAll:
		for _, it := range v.Items() {
			if err := w.walk(rest, it); err != nil {
				return err
			}
		}
		for _, m := range v.Members() {
			if err := w.walk(rest, m.Value); err != nil {
				return err
			}
		}
	case segFilter:
		return w.applyFilter(s, rest, v)
	}
	return nil
}

func (w *walker) applyNames(s *segment, rest []segment, v expr.Value) error {
	if len(rest) == 0 {
		picked, ok, err := pick(s.names, v, w.budget)
		if err != nil || !ok {
			return err
		}
		return w.walk(nil, picked)
	}
	for _, name := range s.names {
		if err := w.budget.Step(1 + lookup(v, name)); err != nil {
			return err
		}
		if m, ok := v.Get(name); ok {
			if err := w.walk(rest, m); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *walker) applySlice(s *segment, rest []segment, v expr.Value) error {
	items := v.Items()
	from, to := s.slice.bounds(len(items))
	for i := from; s.slice.step > 0 && i < to || s.slice.step < 0 && i > to; i += s.slice.step {
		if err := w.walk(rest, items[i]); err != nil {
			return err
		}
	}
	return nil
}

// bounds returns the first index and the one to stop before, both clamped to n items.
func (s slice) bounds(n int) (from, to int) {
	clamp := func(i, low, high int) int {
		if i < 0 {
			i += n
		}
		return max(low, min(i, high))
	}
	if s.step > 0 {
		from, to = 0, n
		if s.hasFrom {
			from = clamp(s.from, 0, n)
		}
		if s.hasTo {
			to = clamp(s.to, 0, n)
		}
		return from, to
	}
	from, to = n-1, -1
	if s.hasFrom {
		from = clamp(s.from, -1, n-1)
	}
	if s.hasTo {
		to = clamp(s.to, -1, n-1)
	}
	return from, to
}

func (w *walker) applyFilter(s *segment, rest []segment, v expr.Value) error {
	if v.IsObject() { // Jayway tests the object itself
		return w.test(s, rest, v)
	}
	for _, it := range v.Items() {
		if err := w.test(s, rest, it); err != nil {
			return err
		}
	}
	return nil
}

// test goes on from v where the filter accepts it.
func (w *walker) test(s *segment, rest []segment, v expr.Value) error {
	ok, err := s.filter.accepts(w.scope, v)
	if err != nil || !ok {
		return err
	}
	return w.walk(rest, v)
}

// tooDeep guards the recursion over values that were built, not read.
func tooDeep(depth int) error {
	if depth > expr.MaxDepth {
		return &expr.LimitError{Limit: "value-depth", Max: expr.MaxDepth}
	}
	return nil
}

// descend applies the first segment to v and to everything below it, parents first.
func (w *walker) descend(segs []segment, v expr.Value, depth int) error {
	if err := tooDeep(depth); err != nil {
		return err
	}
	if err := w.apply(segs, v); err != nil {
		return err
	}
	for _, it := range v.Items() {
		if err := w.below(segs, it, depth); err != nil {
			return err
		}
	}
	for _, m := range v.Members() {
		if err := w.below(segs, m.Value, depth); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) below(segs []segment, v expr.Value, depth int) error {
	if err := w.budget.Step(1); err != nil {
		return err
	}
	if v.Len() == 0 || v.Kind() == expr.KindString {
		return nil // no segment but a filter selects from these
	}
	return w.descend(segs, v, depth+1)
}

// descendFilter tests each object and each item of an array once, parents first:
// what `[?(…)]` would test at some place, without testing an object both as an
// item and as itself.
func (w *walker) descendFilter(segs []segment, v expr.Value, test bool, depth int) error {
	if err := tooDeep(depth); err != nil {
		return err
	}
	if test {
		if err := w.test(&segs[0], segs[1:], v); err != nil {
			return err
		}
	}
	if err := w.budget.Step(1); err != nil {
		return err
	}
	for _, it := range v.Items() {
		if err := w.descendFilter(segs, it, true, depth+1); err != nil {
			return err
		}
	}
	for _, m := range v.Members() {
		if err := w.descendFilter(segs, m.Value, m.Value.IsObject(), depth+1); err != nil {
			return err
		}
	}
	return nil
}
