package convert

import (
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw01"
)

// chain is what one state of 0.1 becomes: states one after the other.
//
// Between them the data is [D]; while wide is set it is {data: [S, …, D]}: S is what
// the state was given after its input filter, D what the last function answered.
type chain struct {
	sc    *scope
	st    *sw01.State
	base  string
	links []*link
	in    string // a filter that the next link begins with
	wide  bool
	keys  []string // of D, where they are known

	restore map[*sw01.State]string // where retries lead, by their next state
}

// link is one state of a chain.
type link struct {
	name     string
	value    expr.Value
	in, out  string
	array    string // the output filter that gives [D], "" where the data is that already
	bare     string // the one that gives D
	skip     bool   // a switch: its condition leads to the next link, its default to the one after that
	jump     int    // goes on that many links further; 0: at the next one
	fixed    bool   // it says itself where it goes on
	comments []string
}

func newChain(sc *scope, st *sw01.State, name string) *chain {
	return &chain{sc: sc, st: st, base: name, keys: sc.shape(st)}
}

// add appends a state. The first has the name of the state that it is for.
func (ch *chain) add(suffix string, value expr.Value) *link {
	name := ch.base
	if len(ch.links) > 0 {
		name = ch.sc.name(ch.base, suffix)
	}
	l := &link{name: name, value: value, in: ch.in, bare: "$[0]"}
	if about := ch.sc.c.opts.Comments; about != nil && name == ch.st.Name {
		l.comments = about(ch.st.Pos)
	}
	ch.in = ""
	ch.links = append(ch.links, l)
	return l
}

func (ch *chain) last() *link { return ch.links[len(ch.links)-1] }

// pass appends a state that does nothing.
func (ch *chain) pass(suffix string) *link {
	l := ch.add(suffix, obj("type", str("inject"), "data", expr.EmptyObject))
	if ch.wide {
		l.array, l.bare = "$.data[-1:]", "$.data[-1]"
	}
	return l
}

// flush applies a filter that is due.
func (ch *chain) flush() {
	if ch.in != "" {
		ch.pass("filtered")
	}
}

// narrow makes the data [D].
func (ch *chain) narrow() {
	if ch.wide {
		ch.last().out, ch.wide = ch.last().array, false
	}
}

// widen makes the data {data: [D]}.
func (ch *chain) widen() {
	if ch.wide {
		return
	}
	l := ch.add("data", obj("type", str("inject"), "data", obj("data", text("$"))))
	l.array, l.bare = "$.data[-1:]", "$.data[-1]"
	ch.wide = true
}

// filter applies a path (semantics.md §Data filters 1, 3): what it selects is the data,
// which stays as it is where that is nothing.
func (ch *chain) filter(p *sw01.Path) {
	if p == nil || p.Root {
		return
	}
	ch.narrow()
	ch.keys = nil
	if p.Definite && p.Function == "" {
		ch.flush()
		ch.in = rebase(p.Src, "$[*]")
		return
	}
	if p.Function != "" {
		ch.sc.c.lose(p.Pos, ch.base, "the path "+p.Src, "what a function gives, if it is false or empty, counts as nothing in a condition of 0.5",
			"check whether it can be")
	}
	ch.flush()
	src := rebase(p.Src, "$[0]")
	l := ch.add("selects", obj("type", str("switch"), "dataConditions", expr.Array(obj("condition", text(src)))))
	l.skip = true
	ch.set("selected", text(src))
	ch.pass("goes on")
}

// set makes a value the data.
func (ch *chain) set(suffix string, v expr.Value) {
	l := ch.add(suffix, obj("type", str("inject"), "data", obj("value", expr.Array(v))))
	l.out, l.array, l.bare = "$.value", "$.value", "$.value[0]"
}

// build makes a new document with the data at a place, then applies the output filter.
func (ch *chain) build(keys []string, then *sw01.Path) {
	if len(keys) > 0 {
		ch.narrow()
		v := text("$[0]")
		for _, key := range slices.Backward(keys) {
			v = obj(key, v)
		}
		rest := keys
		if then != nil && then.Keys != nil && len(then.Keys) <= len(keys) && slices.Equal(then.Keys, keys[:len(then.Keys)]) {
			// The path leads along the place, so what it selects is known.
			v, _ = v.Lookup(then.Keys...)
			rest, then = keys[len(then.Keys):], nil
		}
		if len(rest) > 0 {
			ch.set("result", v)
			ch.keys = rest[:1]
		}
	}
	ch.filter(then)
}

// to ends the chain with a way to a state.
func (ch *chain) to(target string) {
	ch.narrow()
	if ch.in != "" || len(ch.links) == 0 {
		if n := len(ch.links); n > 0 && ch.links[n-1].array == "" && ch.links[n-1].out == "" && !ch.links[n-1].fixed {
			ch.links[n-1].out, ch.in = ch.in, ""
		} else {
			ch.pass("filtered")
		}
	}
	ch.emit(obj("transition", obj("nextState", str(target))))
}

// end ends the chain and the scope.
func (ch *chain) end() {
	if name := ch.sc.end(); name != "" {
		ch.to(name)
		return
	}
	ch.narrow()
	if ch.in != "" || len(ch.links) == 0 || ch.last().fixed {
		ch.pass("filtered")
	}
	ch.last().out = ch.last().bare
	ch.emit(obj("end", obj("kind", str("default"))))
}

// exit goes on at the next state, or ends.
func (ch *chain) exit(next *sw01.State) {
	if ch.st.End || next == nil {
		ch.end()
	} else {
		ch.to(ch.sc.target(next))
	}
}

// emit writes the links; way is the last one's exit.
func (ch *chain) emit(way expr.Value) {
	for i, l := range ch.links {
		v := l.value
		filter := expr.EmptyObject
		if l.in != "" {
			filter = filter.With("dataInputPath", text(l.in))
		}
		if l.out != "" {
			filter = filter.With("dataOutputPath", text(l.out))
		}
		if filter.Len() > 0 {
			v = v.With("stateDataFilter", filter)
		}
		switch {
		case l.fixed:
		case l.skip:
			v = ch.branch(v, i)
		case i == len(ch.links)-1:
			v = expr.Merge(v, way)
		default:
			v = v.With("transition", obj("nextState", str(ch.links[i+max(l.jump, 1)].name)))
		}
		ch.sc.emit(l.name, v, l.comments...)
	}
	ch.sc.out = append(ch.sc.out, ch.sc.beside...)
	ch.sc.beside = nil
}

// branch gives a switch its two ways.
func (ch *chain) branch(v expr.Value, i int) expr.Value {
	conditions, _ := v.Get("dataConditions")
	one := conditions.Items()[0].With("transition", obj("nextState", str(ch.links[i+1].name)))
	return v.With("dataConditions", expr.Array(one)).
		With("default", obj("transition", obj("nextState", str(ch.links[i+2].name))))
}
