package core

import (
	"fmt"
	"math/rand"
	"strconv"
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// gen makes random programs of every operation, nested.
type gen struct {
	r *rand.Rand
	p *ir.Program
}

func (g *gen) node(n ir.Node) ir.NodeID {
	n.Name = fmt.Sprintf("N%d", len(g.p.Nodes))
	g.p.Nodes = append(g.p.Nodes, n)
	return ir.NodeID(len(g.p.Nodes) - 1)
}

func (g *gen) expr(src string) ir.ExprID {
	lang := "jsonpath"
	if strings.HasPrefix(src, "{") || strings.HasPrefix(src, "[") || strings.HasPrefix(src, `"`) {
		lang = jsonpath.TemplateLang
	}
	for i, e := range g.p.Exprs {
		if i > 0 && e.Src == src {
			return ir.ExprID(i)
		}
	}
	g.p.Exprs = append(g.p.Exprs, ir.Expr{Lang: lang, Src: src})
	return ir.ExprID(len(g.p.Exprs) - 1)
}

func (g *gen) span() ir.Span {
	if g.r.Intn(8) == 0 {
		return ir.Span{Set: true}
	}
	return ir.Span{Set: true, Nanos: int64(1+g.r.Intn(20)) * 1e9}
}

func (g *gen) put() ir.Put {
	switch g.r.Intn(7) {
	case 0:
		return ir.Put{}
	case 5:
		return ir.Put{Mode: ir.PutMerge, Path: []string{"s"}}
	case 6:
		return ir.Put{Mode: ir.PutMerge, Pick: ir.Pick{Expr: g.expr("$.k1"), Wrap: ir.WrapOther, Key: "w"}}
	case 1:
		return ir.Put{Mode: ir.PutReplace, Path: []string{"r"}}
	case 2:
		return ir.Put{Mode: ir.PutSet, Path: []string{"s", "t"}}
	}
	return ir.Put{Mode: ir.PutMerge, Warn: true}
}

// region makes a region and returns its id.
func (g *gen) region(depth int, kind string) ir.RegionID {
	id := len(g.p.Regions)
	g.p.Regions = append(g.p.Regions, ir.Region{Name: fmt.Sprintf("R%d", id)})
	r := ir.Region{Name: fmt.Sprintf("R%d", id)}
	if g.r.Intn(4) == 0 {
		r.Timeout = g.span()
	}
	if g.r.Intn(8) == 0 {
		r.Total = g.span()
	}
	if g.r.Intn(4) == 0 {
		for range 1 + g.r.Intn(2) {
			r.Listen = append(r.Listen, ir.EventID(g.r.Intn(len(g.p.Events))))
		}
	}
	r.Collect = kind != "enter" || g.r.Intn(4) == 0
	if kind == "enter" && g.r.Intn(3) == 0 {
		r.Undo = g.region(max(depth-2, 0), "undo")
	}
	r.Entry = g.seq(depth, len(r.Listen), r.Listen)
	g.p.Regions[id] = r
	return ir.RegionID(id)
}

// catches adds handlers; their next nodes must be in the frame that enters the region.
func (g *gen) catches(id ir.RegionID, next ir.NodeID, canNext bool) {
	r := &g.p.Regions[id]
	for range g.r.Intn(3) {
		c := ir.Catch{Any: g.r.Intn(3) == 0}
		name := []string{"E1", "E2", "Timeout"}[g.r.Intn(3)]
		switch {
		case c.Any:
		case g.r.Intn(2) == 0:
			c.Error = name
		default:
			c.When = []ir.Match{{Error: name}, {Type: "t", Status: "404"}}
		}
		if g.r.Intn(4) == 0 {
			c.Except = []ir.Match{{Error: "E1", Code: "1"}}
		}
		if g.r.Intn(2) == 0 {
			c.Retry = &ir.Retry{Delay: g.span(), Max: 1 + g.r.Intn(3), JitterMillis: int64(g.r.Intn(2) * 100)}
			if c.Retry.Carry = g.r.Intn(2) == 0; c.Retry.Carry {
				c.Retry.Add, c.Retry.Factor, c.Retry.AtMost = g.span(), float64(g.r.Intn(3)), g.span()
			}
		}
		if canNext && g.r.Intn(2) == 0 {
			c.Next = next
		}
		r.Catch = append(r.Catch, c)
	}
}

// seq makes a sequence of nodes that ends the region, and returns its entry.
func (g *gen) seq(depth int, listens int, listen []ir.EventID) ir.NodeID {
	next := ir.NodeID(0)
	for range 1 + g.r.Intn(4) {
		next = g.op(depth, next, listens, listen)
	}
	return next
}

func (g *gen) op(depth int, next ir.NodeID, listens int, listen []ir.EventID) ir.NodeID {
	k := g.r.Intn(16)
	if depth <= 0 && (k == 9 || k == 10 || k == 11 || k == 12) {
		k = g.r.Intn(9)
	}
	n := ir.Node{Next: next, Mark: ir.Mark(g.r.Intn(3))}
	switch k {
	case 0, 1:
		e := &ir.Eval{From: g.expr(fmt.Sprintf(`{"k%d":%d,"arr":[%d]}`, g.r.Intn(3), g.r.Intn(5), g.r.Intn(4))), Put: g.put()}
		e.Checkpoint = g.r.Intn(6) == 0 && next != 0
		n.Op = e
	case 2:
		n.Op = &ir.Branch{Cases: []ir.Case{{When: g.expr("$.k1"), Next: next}}}
	case 3, 4, 5:
		n.Op = &ir.Call{Function: 0, Args: g.expr(`{"a":"{{ $.k0 }}"}`), Result: g.put()}
	case 6, 7:
		a := &ir.Await{}
		for range g.r.Intn(3) {
			arm := ir.Arm{Event: ir.EventID(g.r.Intn(len(g.p.Events))), Next: next, Put: g.put()}
			if listens > 0 && g.r.Intn(2) == 0 {
				arm.Listen = 1 + g.r.Intn(listens)
				arm.Event = listen[arm.Listen-1]
			} else if g.r.Intn(3) == 0 {
				arm.Offer = &ir.Offer{Actor: "A", Choice: fmt.Sprintf("c%d", g.r.Intn(2))}
			}
			a.Arms = append(a.Arms, arm)
		}
		if len(a.Arms) > 0 {
			a.Need = 1 + g.r.Intn(len(a.Arms))
		}
		for i := range a.Arms {
			a.Arms[i].Stay = a.Need == 1 && a.Arms[i].Offer != nil && g.r.Intn(2) == 0
		}
		if len(a.Arms) == 0 && g.r.Intn(6) > 0 || g.r.Intn(2) == 0 {
			a.Timeout = g.span()
			a.OnTimeout = next
		}
		n.Op = a
	case 8:
		n.Op = &ir.Emit{Event: 0, From: g.expr(`{"x":1}`)}
	case 9, 10:
		r := g.region(depth-1, "enter")
		g.catches(r, next, true)
		n.Op = &ir.Enter{Region: r}
	case 11:
		f := &ir.Fan{Join: []ir.Join{ir.JoinMerge, ir.JoinAppend, ir.JoinArray, ir.JoinDrop}[g.r.Intn(4)], Path: []string{"out"}}
		for range 1 + g.r.Intn(3) {
			r := g.region(depth-1, "branch")
			g.catches(r, 0, false)
			f.Branches = append(f.Branches, ir.FanBranch{Region: r, Detached: g.r.Intn(5) == 0})
			g.p.Regions[r].Daemon = g.r.Intn(2) == 0
		}
		if g.r.Intn(3) == 0 {
			f.Need = g.expr(fmt.Sprintf("%q", strconv.Itoa(g.r.Intn(3))))
		}
		n.Op = f
	case 12:
		r := g.region(depth-1, "branch")
		g.catches(r, 0, false)
		f := &ir.Fan{
			Join: []ir.Join{ir.JoinMerge, ir.JoinAppend, ir.JoinArray, ir.JoinDrop}[g.r.Intn(4)], Path: []string{"out"},
			Each: &ir.Each{Over: g.expr("$.items"), Body: r, Var: "it"},
		}
		if g.r.Intn(2) == 0 {
			f.Each.Max = g.expr(fmt.Sprintf("%q", strconv.Itoa(1+g.r.Intn(3))))
			f.Each.Batch = g.r.Intn(2) == 0
		}
		n.Op = f
	case 13:
		s := &ir.Spawn{Workflow: "w", Wait: g.r.Intn(2) == 0, Result: g.put()}
		s.Continue = !s.Wait && g.r.Intn(2) == 0
		n.Op = s
	case 14:
		switch g.r.Intn(4) {
		case 0:
			n.Op = &ir.Raise{Error: []string{"E1", "E2"}[g.r.Intn(2)]}
		case 1:
			n.Op = &ir.End{Terminate: g.r.Intn(2) == 0}
		default:
			n.Op = &ir.Call{Function: 0}
		}
	case 15:
		n.Op = &ir.Undo{}
	}
	return g.node(n)
}

// genProgram is the program of a seed.
func genProgram(seed int64) (*Program, error) {
	g := &gen{r: rand.New(rand.NewSource(seed)), p: &ir.Program{
		ID: "t", Dialect: "asm", Edition: ir.Edition,
		Nodes: make([]ir.Node, 1), Exprs: make([]ir.Expr, 1),
		Functions: []ir.Function{{Name: "f"}},
	}}
	g.p.Events = []ir.Event{{Name: "e0", Type: "t0"}, {Name: "e1", Type: "t1", Correlate: []ir.Correlation{{Attribute: "key"}}}, {Name: "e2", Type: "t2", Correlate: []ir.Correlation{{Attribute: "key2"}}}}
	g.p.Regions = []ir.Region{{Name: "main"}}
	entry := g.seq(3, 0, nil)
	g.p.Regions[0].Entry = entry
	lp, err := Link(g.p, jsonpath.Languages(), nil)
	if err != nil {
		return nil, err
	}
	lp.Limits.FanInFlight = 2
	if seed%5 == 0 {
		lp.Limits.Fuel = 3
	}
	return lp, nil
}
