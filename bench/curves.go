package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/plot"
)

// growth is how the cost of one thing grows with one size.
type growth struct {
	file, title string
	of          string // what is measured, as the y axis says
	points      []int
	// measure calls report at each point, in ascending order.
	measure func(ctx context.Context, points []int, report func(n int, c oneCost)) error
}

// growths returns all curves in the order of the document.
func growths() []growth {
	return []growth{
		{"kept", "Instances kept", "a W1 beside so many that ended, and a list of ten", []int{1_000, 10_000, 100_000, 1_000_000}, amongKept},
		{"waiting", "Instances waiting", "an event to one of so many that wait", []int{1_000, 10_000, 100_000, 1_000_000}, amongWaiting},
		{"definition", "Tasks in a definition", "a W1 in a definition of so many tasks", []int{10, 100, 1_000, 10_000}, ofTasks},
		{"payload", "Bytes of the input", "a W1 with an input of so many bytes", []int{100, 1_000, 10_000, 100_000, 1_000_000}, ofPayload},
		{"history", "Events in a history", "one more event to an instance that took so many", []int{10, 100, 1_000, 10_000}, afterEvents},
		{"definitions", "Definitions", "a W1 beside so many definitions", []int{10, 100, 1_000, 10_000}, amongDefinitions},
		{"subscriptions", "Subscriptions", "an event that one of so many subscriptions takes", []int{10, 100, 1_000, 10_000}, amongSubscriptions},
	}
}

// oneCost is what one thing cost on average, by kind.
type oneCost []costOf

type costOf struct {
	kind  string
	value float64
}

// reportCurves measures all curves and writes a picture of each into a folder, and their figures to stdout.
func reportCurves(ctx context.Context, dir string, most int) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, g := range growths() {
		points := slices.DeleteFunc(slices.Clone(g.points), func(n int) bool { return n > most })
		fmt.Printf("%s: %s\n", g.title, g.of)
		var costs []oneCost
		err := g.measure(ctx, points, func(n int, c oneCost) {
			costs = append(costs, c)
			fmt.Printf("%10d", n)
			for _, x := range c {
				fmt.Printf("   %s %.4g", x.kind, x.value)
			}
			fmt.Println()
		})
		if err != nil {
			return fmt.Errorf("%s: %w", g.title, err)
		}
		f, err := os.Create(filepath.Join(dir, g.file+".svg"))
		if err == nil {
			err = cmp.Or(g.draw(f, points, costs), f.Close())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// The pictures of curves. Their greys are legible on white and on black.
const (
	curveWidth, curveHeight = 560.0, 260.0
	ink, faint, grid        = "#7d8590", "#8b949e", "#8b949e40"
)

// draw draws each kind of cost relative to the first point. The x axis is logarithmic.
func (g *growth) draw(f *os.File, points []int, costs []oneCost) error {
	p := plot.Panel{
		Title: g.title + ": " + g.of, Width: curveWidth, Height: curveHeight, Least: 2,
		Amount: func(v float64) string { return fmt.Sprintf("%.3g×", v) }, Theme: plot.Theme{Ink: ink, Faint: faint, Grid: grid},
	}
	for i, n := range points {
		x := math.Log10(float64(n))
		if i == 0 {
			p.From = x
		}
		p.To = max(x, p.From+1)
		p.Ticks = append(p.Ticks, plot.Tick{At: x, Text: grouped(n)})
	}
	for k, kind := range costs[0] {
		c := plot.Curve{Name: kind.kind}
		for i := range points {
			c.X, c.Y = append(c.X, math.Log10(float64(points[i]))), append(c.Y, costs[i][k].value/max(kind.value, 1e-12))
		}
		p.Curves = append(p.Curves, c)
	}
	if _, err := fmt.Fprintf(f, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" font-family="sans-serif" font-size="11">`+"\n", curveWidth, curveHeight); err != nil {
		return err
	}
	if err := p.Draw(f); err != nil {
		return err
	}
	_, err := fmt.Fprintln(f, "\n</svg>")
	return err
}

// grouped writes a number with its thousands apart.
func grouped(n int) string {
	text := fmt.Sprint(n)
	var b strings.Builder
	for i, r := range text {
		if i > 0 && (len(text)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(r)
	}
	return b.String()
}
