package ir

import (
	"strings"
	"testing"
)

// TestBuilder: two states that lead to each other, built backwards, with a region.
func TestBuilder(t *testing.T) {
	spent := 0
	b := NewBuilder(Program{ID: "loop", Dialect: "test"}, func(n int) { spent += n })
	at := [2]Place{{"A", Pos{1, 1}}, {"B", Pos{2, 1}}}
	entries := [2]NodeID{b.Reserve(at[0]), b.Reserve(at[1])}

	call := &Call{Function: b.Function(Function{Name: "f"}), Args: b.Expr("path", "$.x", Pos{1, 5})}
	inside := b.Out(at[0], &Eval{}, b.Leave(at[0], &Eval{}, entries[1]))
	b.Fill(entries[0], &Eval{}, b.Enter(at[0], Region{Name: "A", Entry: b.Node(at[0], call, inside)}, 0))

	end := b.Leave(at[1], &Eval{}, b.Node(at[1], &End{}, 0))
	again := b.Leave(at[1], &Eval{}, entries[0])
	more := Case{When: b.Expr("path", "$.more", Pos{2, 5}), Next: again}
	b.Fill(entries[1], &Branch{Cases: []Case{more}}, end)
	b.Begin(entries[0])

	if err := b.Program.Check(); err != nil {
		t.Fatal(err)
	}
	p := b.Program
	if p.Edition != Edition || p.Regions[0].Entry != entries[0] || p.Regions[0].Name != "loop" {
		t.Errorf("%+v", p)
	}
	if entry := p.Nodes[entries[1]]; entry.Mark != MarkEntered || entry.Name != "B" || entry.Next != end {
		t.Errorf("the entry of B is %+v", entry)
	}
	if out := p.Nodes[inside]; out.Next != 0 || p.Nodes[out.Out].Mark != MarkLeft {
		t.Errorf("the region of A ends with %+v", out)
	}
	if want := 9 + 2; spent != want { // nodes and expressions
		t.Errorf("%d units of work, want %d", spent, want)
	}
}

// TestBuilderSharesExpressions: the same text is one expression for each place, and one in all
// where it is shared.
func TestBuilderSharesExpressions(t *testing.T) {
	b := NewBuilder(Program{}, nil)
	here, there := Pos{1, 1}, Pos{2, 1}
	first := b.Expr("l", "x", here)
	if again := b.Expr("l", "x", here); again != first {
		t.Error("one place, two expressions")
	}
	if b.Expr("l", "x", here) == b.Expr("l", "x", there) || b.Expr("l", "x", here) == b.Expr("m", "x", here) {
		t.Error("two places or languages, one expression")
	}
	shared := b.SharedExpr("l", strings.Repeat("x", 9), here)
	if b.SharedExpr("l", strings.Repeat("x", 9), there) != shared || b.Program.Exprs[shared].Pos != here {
		t.Error("a shared expression is not shared")
	}
}
