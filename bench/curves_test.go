package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGrowth measures the smallest point of each curve: what it measures can be measured, and is drawn.
func TestGrowth(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, g := range growths() {
		t.Run(g.file, func(t *testing.T) {
			points, seen := g.points[:1], 0
			var costs []oneCost
			if err := g.measure(t.Context(), points, func(n int, c oneCost) {
				seen += n
				costs = append(costs, c)
			}); err != nil {
				t.Fatal(err)
			}
			if seen != points[0] {
				t.Fatalf("%d were reported, not %d", seen, points[0])
			}
			for _, x := range costs[0] {
				if x.value <= 0 {
					t.Errorf("%s: %v", x.kind, x.value)
				}
			}
		})
	}
}

func TestGrowthIsDrawn(t *testing.T) {
	g := growth{title: "Things", of: "one of them", measure: func(context.Context, []int, func(int, oneCost)) error { return nil }}
	f, err := os.Create(filepath.Join(t.TempDir(), "things.svg"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if err := g.draw(f, []int{10, 1000}, []oneCost{{{"pages", 8}, {"bytes", 100}}, {{"pages", 16}, {"bytes", 100}}}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	// Twice as many pages are the top of the picture, as many bytes its middle.
	for _, want := range []string{`d="M62.0 126.0L552.0 30.0"`, `d="M62.0 126.0L552.0 126.0"`, ">1,000<", ">2×<"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("there is no %s in\n%s", want, text)
		}
	}
}
