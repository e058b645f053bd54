package wfx

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/calendar"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// dump writes a program as text, each node with where it goes on.
func dump(p *ir.Program) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s@%s job=%t %s begins at %d\n", p.ID, p.Version, p.Job, p.Dialect, p.Regions[0].Entry)
	for i, n := range p.Nodes[1:] {
		mark := map[ir.Mark]string{ir.MarkEntered: "[entered] ", ir.MarkLeft: "[left] "}[n.Mark]
		fmt.Fprintf(&b, "%d %s:%d:%d %s%s\n", i+1, n.Name, n.Pos.Line, n.Pos.Column, mark, dumpOp(p, n))
	}
	for _, g := range p.Groups {
		fmt.Fprintf(&b, "group %s: %s\n", g.Name, strings.Join(g.States, ", "))
	}
	for _, s := range p.States {
		fmt.Fprintf(&b, "state %s %s start=%t end=%t %s\n", s.Name, s.Type, s.Start, s.End, s.Metadata)
	}
	for _, e := range p.Edges {
		fmt.Fprintf(&b, "%s: %s → %s %s\n", e.Kind, e.From, e.To, e.Label)
	}
	return strings.ReplaceAll(b.String(), " \n", "\n")
}

func dumpOp(p *ir.Program, n ir.Node) string {
	put := func(put ir.Put) string {
		if put.Mode == "" {
			return ""
		}
		return fmt.Sprintf(" %s %s", put.Mode, strings.Join(put.Path, "."))
	}
	arms := func(list []ir.Arm) string {
		var out []string
		for _, a := range list {
			to := fmt.Sprintf("→ %d", a.Next)
			if a.Stay {
				to = "stay"
			}
			out = append(out, fmt.Sprintf("\n    %s:%s%s %s", a.Offer.Actor, a.Offer.Choice, put(a.Put), to))
		}
		return strings.Join(out, "")
	}
	switch op := n.Op.(type) {
	case *ir.Eval:
		from := ""
		if op.From != 0 {
			from = " " + p.Exprs[op.From].Src
		}
		return fmt.Sprintf("eval%s%s → %d", from, put(op.Put), n.Next)
	case *ir.Await:
		late := ""
		if s := op.Timeout; s.Set {
			late = fmt.Sprintf(" timeout %s → %d", calendar.Duration{Months: s.Months, Days: s.Days, Nanos: s.Nanos}, op.OnTimeout)
		}
		return fmt.Sprintf("await %d%s%s", op.Need, late, arms(op.Arms))
	case *ir.End:
		return "end" + arms(op.Offers)
	}
	return fmt.Sprintf("unexpected %T", n.Op)
}

// roundTrip checks that a program passes its own check and survives encoding.
func roundTrip(t testing.TB, p *ir.Program) {
	t.Helper()
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	text, err := ir.Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	back, err := ir.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	again, err := ir.Encode(back)
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != string(again) {
		t.Errorf("encoding differs after decoding:\n%s\n%s", text, again)
	}
}
