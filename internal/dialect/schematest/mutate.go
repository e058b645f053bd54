package schematest

import (
	"math/rand/v2"

	"github.com/lockstep-workflows/lockstep/expr"
)

// Mutator makes definitions that are wrong somewhere in the middle, where random bytes never get.
type Mutator struct {
	Random   *rand.Rand
	Pool     expr.Value   // a definition that values are taken from
	Oddities []expr.Value // more values
}

// Mutate changes one value of a tree.
func (m *Mutator) Mutate(v expr.Value) expr.Value {
	size := Count(v)
	at := m.Random.IntN(size)
	out, _ := m.change(v, &at)
	return out
}

// change replaces the at-th value; keep is false where it is to be removed.
func (m *Mutator) change(v expr.Value, at *int) (out expr.Value, keep bool) {
	if *at == 0 {
		*at--
		return m.other(v)
	}
	*at--
	switch {
	case v.IsArray():
		var items []expr.Value
		for _, item := range v.Items() {
			if *at >= 0 {
				if item, keep = m.change(item, at); !keep {
					continue
				}
			}
			items = append(items, item)
		}
		return expr.Array(items...), true
	case v.IsObject():
		var members []expr.Member
		for _, o := range v.Members() {
			if *at >= 0 {
				if o.Value, keep = m.change(o.Value, at); !keep {
					continue
				}
			}
			members = append(members, o)
		}
		return expr.Object(members...), true
	}
	return v, true
}

func (m *Mutator) other(v expr.Value) (expr.Value, bool) {
	switch m.Random.IntN(4) {
	case 0:
		return expr.Null, false
	case 1:
		at := m.Random.IntN(Count(m.Pool))
		return pick(m.Pool, &at), true
	case 2:
		if items := v.Items(); len(items) > 0 {
			return v.Append(items[m.Random.IntN(len(items))]), true
		}
	}
	return m.Oddities[m.Random.IntN(len(m.Oddities))], true
}

func pick(v expr.Value, at *int) expr.Value {
	if *at == 0 {
		return v
	}
	*at--
	for _, item := range v.Items() {
		if n := Count(item); *at < n {
			return pick(item, at)
		} else {
			*at -= n
		}
	}
	for _, o := range v.Members() {
		if n := Count(o.Value); *at < n {
			return pick(o.Value, at)
		} else {
			*at -= n
		}
	}
	return v
}
