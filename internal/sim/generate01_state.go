package sim

import (
	"fmt"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
)

func (s *scope01) withActions(st expr.Value, most int) expr.Value {
	g := s.g
	var list []expr.Value
	parallel := g.chance(30)
	for range g.r.IntN(most + 1) {
		if parallel {
			s.alone(func() { list = append(list, s.action()) })
		} else {
			list = append(list, s.action())
		}
	}
	st = st.With("actions", expr.Array(list...))
	switch {
	case parallel:
		st = st.With("action-mode", expr.String(pick(g, "PARALLEL", "PARALLEL", "Parallel")))
	case g.chance(60):
		st = st.With("action-mode", expr.String("SEQUENTIAL"))
	}
	return st
}

func (s *scope01) function(name string, parameters bool) expr.Value {
	if s.g.c.Dialect == early01 && !parameters {
		return expr.String(name)
	}
	f := obj("name", expr.String(name), "type", expr.String("own"))
	if parameters {
		f = f.With("parameters", s.g.parameters01())
	}
	return f
}

func (g *gen) parameters01() expr.Value {
	v := expr.EmptyObject
	for i := range 1 + g.r.IntN(3) {
		v = v.With(fmt.Sprintf("p%d", i+1), pick(g, expr.String("$.n1"), expr.String("$.o1"), expr.String("$"), expr.String("$.a2[*].v"), expr.String("$.missing"),
			expr.String("$5"), expr.String("{{ $.n1 }}"), expr.String("plain $.n1"), expr.Int(3), obj("in", expr.String("$.s1")), expr.Array(expr.String("$.o1.n1"), expr.Null)))
	}
	return v
}

func (s *scope01) action() expr.Value {
	g := s.g
	f := pick(g, s.pool...)
	if _, ok := g.mocks[f]; !ok {
		g.mocks[f] = g.answers01()
	}
	a := obj("function", s.function(f, g.chance(35)))
	if g.chance(30) {
		a = a.With("timeout", g.seconds(time.Minute))
	} else if g.chance(5) && g.c.Dialect == kebab01 {
		a = a.With("timeout", expr.Int(0))
	}
	if g.chance(55) {
		a = a.With("retry", s.retry())
	}
	return s.filtered(a, 12)
}

// retry makes one retry, or a list.
func (s *scope01) retry() expr.Value {
	g := s.g
	var list []expr.Value
	for range pick(g, 1, 1, 2, 3) {
		r := obj("match", expr.String(pick(g, "SYS.MatchAny", "*", "SYS.Fail", "SYS.Fail", "SYS.Timeout", "SYS.Timeout", "SYS.Permission", "SYS.InvalidParameter", "Busy", "Busy", "Denied", "503", "403", "busy", "0", "false")))
		switch interval := g.seconds(time.Minute); {
		case g.chance(25) && g.c.Dialect != early01:
			r = r.With("retry-interval", expr.String(fmt.Sprintf("R%d/%s", 1+g.r.IntN(3), duration(g.span(time.Minute)))))
		case g.chance(80):
			r = r.With("retry-interval", interval)
		}
		if g.chance(75) {
			n := g.r.IntN(4)
			r = r.With("max-retry", pick(g, expr.Int(int64(n)), expr.Int(int64(n)), expr.String(fmt.Sprint(n))))
		}
		if g.chance(60) {
			r = r.With("next-state", expr.String(s.sure()))
		}
		list = append(list, r)
	}
	if len(list) == 1 && g.chance(60) {
		return list[0]
	}
	return expr.Array(list...)
}

// answers01 are what a function gives, call by call.
func (g *gen) answers01() []Answer {
	list := make([]Answer, 1+g.r.IntN(6))
	for i := range list {
		a := &list[i]
		a.Delay = g.delay()
		switch n := g.r.IntN(100); {
		case n < 45:
			a.HasResult, a.Result = true, pick(g, g.object(2), g.fullObject())
		case n < 60:
			a.HasResult, a.Result = true, pick(g, expr.String("busy"), expr.String("busy"), expr.Int(0), expr.Bool(false), expr.String("Busy"), expr.Array(expr.Int(1)), expr.Null)
		case n < 64: // nothing
		case n < 72:
			a.Echo = true
		default:
			a.Error = pick(g, &Fault{Name: "Busy"}, &Fault{Name: "Busy"}, &Fault{Name: "Denied", Code: "403"}, &Fault{Name: "Denied", Status: "401"},
				&Fault{Name: "Busy", Code: "503"}, &Fault{Name: "Error", Code: "503"}, &Fault{Name: "Error", Status: "422"}, &Fault{Name: "Bad", Code: "400"},
				&Fault{Name: "SYS.Fail", Code: "403"}, &Fault{Name: "SYS.Timeout"}, &Fault{Name: "SYS.Permission"}, &Fault{Name: "SYS.Permission", Code: "503"}, &Fault{Name: "Odd"})
		}
	}
	return list
}

func (s *scope01) switchState(st expr.Value) expr.Value {
	g := s.g
	var choices []expr.Value
	for range 1 + g.r.IntN(3) {
		choices = append(choices, s.condition(2).With("next-state", expr.String(s.sure())))
	}
	st = st.With("choices", expr.Array(choices...))
	switch {
	case g.chance(85):
		st = st.With("default", expr.String(s.sure()))
	case g.chance(50):
		st = st.With("end", expr.Bool(true))
	}
	return st
}

func (s *scope01) condition(depth int) expr.Value {
	g := s.g
	if depth > 0 && g.chance(35) {
		op := pick(g, "and", "or", "not", "single", "And", "OR")
		list := []expr.Value{s.condition(depth - 1)}
		if g.chance(25) {
			return obj(op, list[0])
		}
		for range g.r.IntN(3) {
			list = append(list, s.condition(depth-1))
		}
		if op == "not" && g.chance(50) {
			return obj(op, list[0])
		}
		return obj(op, expr.Array(list...))
	}
	path := pick(g, "$.n1", "$.n1", "$.n2", "$.s1", "$.s1", "$.b1", "$.x1", "$.o1", "$.missing", "$.a2[?(@.ok == true)]", "$.o1.n1", "$.o1.s1")
	op := pick(g, "EQ", "EQ", "Equals", "LT", "LTEQ", "GT", "GTEQ", "LessThan", "LessThanEquals", "GreaterThan", "greaterthanequals", "StrEQ", "StrLT", "StrLTEQ", "STRGT", "StrGTEQ", "Exists", "exists")
	value := pick(g, expr.String("4"), expr.Int(4), expr.String("1.5"), expr.Int(3), expr.String("a"), expr.String("b"), expr.String("true"), expr.Bool(true), expr.String("null"))
	if strings.EqualFold(op, "exists") {
		value = pick(g, expr.String("true"), expr.String("false"))
	}
	return obj("path", expr.String(path), "operator", expr.String(op), "value", value)
}

// eventState waits for events; at the start they make the instance.
func (s *scope01) eventState(st expr.Value, starts bool) expr.Value {
	g := s.g
	var entries []expr.Value
	var names []string
	n := pick(g, 1, 1, 2, 3)
	for range n {
		text, not := s.expression(starts, starts && n > 1, &names)
		e := s.withActions(obj("event-expression", expr.String(text)), 2)
		if not || !starts && g.chance(60) || starts && n == 1 && g.chance(50) {
			e = e.With("timeout", g.seconds(4*time.Minute))
		}
		if g.chance(35) {
			e = e.With("filter", obj("input-path", expr.String(pick(g, "$", "$.data", "$.data.o1", "$.o1", "$.n1", "$.data.missing", "$.type", "$.data.a2[*]", "$.a2[?(@.ok == true)]", "$.missing"))))
		}
		if to := s.target(); to != "" && g.chance(85) {
			e = e.With("next-state", expr.String(to))
		}
		entries = append(entries, e)
	}
	st = st.With("events", expr.Array(entries...))
	if g.chance(50) {
		st = s.next(st).Without("end")
	}
	return st
}

// expression makes an event expression; not reports whether something must not come.
func (s *scope01) expression(starts, several bool, names *[]string) (text string, not bool) {
	g := s.g
	event := func() string {
		if len(*names) > 0 && g.chance(20) {
			return pick(g, *names...)
		}
		name := s.trigger(starts)
		*names = append(*names, name)
		if g.chance(10) {
			name = `"` + name + `"`
		}
		return name
	}
	and, or, no := pick(g, " and ", " && ", " AND "), pick(g, " or ", " || "), pick(g, "not ", "!", "NOT ")
	if starts {
		switch n := g.r.IntN(6); {
		case n < 2:
			return event(), false
		case n == 2:
			return event() + or + event(), false
		case n == 3 && !several:
			return event() + and + no + s.trigger(false), true
		default:
			return event() + and + event(), false
		}
	}
	switch g.r.IntN(10) {
	case 0, 1, 2, 3:
		return event(), false
	case 4:
		return event() + or + event(), false
	case 5, 6:
		return event() + and + event(), false
	case 7:
		return event() + and + no + event(), true
	case 8:
		return event() + and + "(" + event() + or + event() + ")", false
	default:
		return pick(g, event()+or+no+event(), no+"("+event()+and+event()+")", event()+or+event()+and+event()+and+no+event()), true
	}
}

// trigger defines an event, and mostly lets one or two come.
func (s *scope01) trigger(starts bool) string {
	g := s.g
	g.events++
	name, kind := fmt.Sprintf("V%d", len(s.triggers)+1), fmt.Sprintf("kind.%d", g.events)
	e := obj("name", expr.String(name), "source", expr.String("world"), "type", expr.String(kind))
	if g.c.Dialect == early01 && g.chance(70) {
		e = obj("name", expr.String(name), "source", expr.String("world"), "eventID", expr.String(kind))
	}
	token := ""
	if g.chance(35) {
		token = pick(g, "$.data.key", "dept", "ref")
		e = e.With("correlation-token", expr.String(token))
	}
	s.triggers = append(s.triggers, e)
	for range pick(g, 0, 1, 1, 1, 1, 2, 2, 3) {
		data := g.object(2)
		ev := obj("specversion", expr.String("1.0"), "id", expr.String(fmt.Sprintf("e%d", len(g.c.Events)+1)),
			"source", expr.String("world"), "type", expr.String(kind))
		value := expr.String(pick(g, "k1", "k1", "k1", "other"))
		switch {
		case token == "dept" && g.chance(90):
			ev = ev.With("dept", value)
		case token == "$.data.key" && g.chance(90):
			data = data.With("key", value)
		case token == "ref" && g.chance(90):
			data = data.With("ref", value)
		}
		if token != "" || g.chance(90) {
			ev = ev.With("data", data)
		} else if g.chance(50) {
			ev = ev.With("data", pick(g, expr.Int(3), expr.Array(expr.Int(1)), expr.String("payload")))
		}
		g.c.Events = append(g.c.Events, TimedEvent{g.span(4 * time.Minute), ev})
	}
	return name
}
