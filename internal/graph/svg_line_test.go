package graph

import (
	"math"
	"testing"
)

// Between a label and the tip there are whole dashes: the line is drawn in two
// parts, one up to the label and one from there.
func TestDashesAreNotCutAtLabels(t *testing.T) {
	g := &Graph{Nodes: []Node{{Name: "A", Start: true}, {Name: "B"}, {Name: "C"}}, Edges: []Edge{
		{From: Outside, To: 0, Kind: Start},
		{From: 0, To: 1, Kind: Next},
		{From: 0, To: 2, Kind: Error, Labels: []string{"any error"}},
		{From: 2, To: 0, Kind: Error, Labels: []string{"error Again"}},
		{From: 1, To: 1, Kind: Error, Labels: []string{"a loop"}},
	}}
	d := Layout(g)
	for edge, want := range map[int]int{2: 2, 3: 2, 4: 1} {
		l := &d.Lines[edge]
		parts := aroundLabel(l)
		if len(parts) != want {
			t.Fatalf("edge %d is drawn in %d parts, want %d", edge, len(parts), want)
		}
		if last := parts[len(parts)-1]; want == 2 {
			if from := last[0].To; from.Y != l.Pill.Y && from.Y != l.Pill.Y+l.Pill.H {
				t.Errorf("edge %d goes on at %v, not at its label %v", edge, from, l.Pill)
			}
			if long := length(last); long < 15 {
				t.Errorf("edge %d has only %v behind its label", edge, long)
			}
		}
	}
}

func TestLengthOfAPath(t *testing.T) {
	path := []Curve{{To: Point{0, 0}, Straight: true}, {To: Point{3, 4}, Straight: true}, {C1: Point{3, 5}, C2: Point{3, 6}, To: Point{3, 7}}}
	if got := length(path); math.Abs(got-8) > 1e-9 {
		t.Errorf("%v, want 8", got)
	}
}

// The mark of a default way stands on its line, also where that bends at once.
func TestAPlaceAlongAPath(t *testing.T) {
	path := []Curve{{To: Point{0, 0}, Straight: true}, {C1: Point{0, 6}, C2: Point{40, 4}, To: Point{40, 10}}, {To: Point{40, 30}, Straight: true}}
	at, dir := along(path, 9)
	if at.X < 4 || at.Y < 1 || at.Y > 6 || dir.X < 0.5 {
		t.Errorf("9 along the bend: %v, towards %v", at, dir)
	}
	if at, dir = along(path, length(path)-5); math.Abs(at.X-40) > 1e-6 || math.Abs(at.Y-25) > 0.5 || dir.Y < 0.99 {
		t.Errorf("5 before the end: %v, towards %v", at, dir)
	}
}
