package graph

import (
	"errors"
	"fmt"
	"io"
	"testing"
)

// wide is a graph of n states with transitions from each to several.
func wide(n int) *Graph {
	g := &Graph{ID: "wide"}
	for i := range n {
		g.Nodes = append(g.Nodes, Node{Name: fmt.Sprint("State", i), Type: "switch", Start: i == 0})
		for k := range 6 {
			g.Edges = append(g.Edges, Edge{From: i, To: (i*7 + k*31) % n, Kind: Condition, Labels: []string{"if so"}})
		}
	}
	return g
}

// TestWriteStops: whoever waits for a drawing is asked often, and can end it in every phase.
func TestWriteStops(t *testing.T) {
	gone := errors.New("nobody waits any more")
	for _, n := range []int{20, 400} {
		asked := 0
		if err := WriteUntil(func() error { asked++; return nil }, io.Discard, wide(n), "svg"); err != nil {
			t.Fatal(err)
		}
		if asked < 8 || n == 400 && asked < 50 {
			t.Errorf("%d states: asked %d times", n, asked)
		}
		for _, at := range []int{0, asked / 4, asked / 2, asked - 1} {
			again := 0
			err := WriteUntil(func() error {
				if again++; again > at {
					return gone
				}
				return nil
			}, io.Discard, wide(n), "svg")
			if !errors.Is(err, gone) || again != at+1 {
				t.Errorf("%d states, stopped at %d of %d: %v after %d", n, at, asked, err, again)
			}
		}
	}
}
