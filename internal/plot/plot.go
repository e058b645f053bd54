// Package plot draws curves as a part of an SVG picture.
package plot

import (
	"fmt"
	"html"
	"io"
	"math"
	"strings"
)

// Curve is a line through points.
type Curve struct {
	Name string
	X, Y []float64
}

// Tick is a text below the x axis.
type Tick struct {
	At   float64
	Text string
}

// Theme is the colours of everything but curves.
type Theme struct {
	Ink, Faint, Grid string
	Paper            string // behind the panel; none if empty
}

// Panel is one diagram.
type Panel struct {
	Title         string
	Width, Height float64
	Curves        []Curve
	From, To      float64 // the x axis
	Least         float64 // the y axis reaches at least so far
	Ticks         []Tick
	Amount        func(float64) string // writes values of the y axis
	Theme         Theme
}

// colours are legible on white and on black.
var colours = []string{"#3274d9", "#56a64b", "#e02f44", "#ff9830", "#8f3bb8", "#19a2a8", "#b877d9", "#806eb7", "#c4162a", "#37872d"}

// Draw writes the panel, without an svg element around it.
func (p *Panel) Draw(w io.Writer) error {
	var b strings.Builder
	t := p.Theme
	if t.Paper != "" {
		fmt.Fprintf(&b, `<rect x="3" y="0" width="%g" height="%g" fill="%s" stroke="%s"/>`, p.Width, p.Height, t.Paper, t.Grid)
	}
	fmt.Fprintf(&b, `<text x="12" y="17" font-weight="bold" fill="%s">%s</text>`, t.Ink, html.EscapeString(p.Title))
	left, right, top, bottom := 62.0, p.Width-8, 30.0, p.Height-38
	highest := p.Least
	for _, c := range p.Curves {
		for _, v := range c.Y {
			highest = max(highest, v)
		}
	}
	highest = roundUp(highest)
	for i := range 5 {
		y := bottom - (bottom-top)*float64(i)/4
		fmt.Fprintf(&b, `<path d="M%.0f %.0fH%.0f" stroke="%s"/><text x="%.0f" y="%.0f" text-anchor="end" fill="%s" font-size="10">%s</text>`,
			left, y, right, t.Grid, left-5, y+3, t.Faint, p.Amount(highest*float64(i)/4))
	}
	at := func(x float64) float64 { return left + (right-left)*(x-p.From)/(p.To-p.From) }
	for _, tick := range p.Ticks {
		fmt.Fprintf(&b, `<text x="%.0f" y="%.0f" text-anchor="middle" fill="%s" font-size="10">%s</text>`, min(at(tick.At), right-2.8*float64(len(tick.Text))), bottom+13, t.Faint, html.EscapeString(tick.Text))
	}
	x, shown := 12.0, 0
	for i, c := range p.Curves {
		colour := colours[i%len(colours)]
		if len(c.Y) > 0 {
			fmt.Fprintf(&b, `<path d="`)
			for k, v := range c.Y {
				fmt.Fprintf(&b, "%s%.1f %.1f", map[bool]string{true: "M", false: "L"}[k == 0], at(c.X[k]), bottom-(bottom-top)*v/highest)
			}
			fmt.Fprintf(&b, `" fill="none" stroke="%s" stroke-width="1.3"/>`, colour)
		}
		room := 16 + 5.6*float64(len(c.Name))
		if x+room > p.Width-30 {
			continue
		}
		fmt.Fprintf(&b, `<rect x="%.0f" y="%.0f" width="8" height="3" fill="%s"/><text x="%.0f" y="%.0f" font-size="10" fill="%s">%s</text>`,
			x, p.Height-13, colour, x+11, p.Height-8, t.Ink, html.EscapeString(c.Name))
		x, shown = x+room+8, shown+1
	}
	if more := len(p.Curves) - shown; more > 0 {
		fmt.Fprintf(&b, `<text x="%.0f" y="%.0f" font-size="10" fill="%s">+%d</text>`, x, p.Height-8, t.Faint, more)
	}
	if len(p.Curves) == 0 {
		fmt.Fprintf(&b, `<text x="%.0f" y="%.0f" text-anchor="middle" fill="%s">no data</text>`, p.Width/2, p.Height/2, t.Faint)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// roundUp is the next number like 1, 2 or 5.
func roundUp(v float64) float64 {
	if v <= 0 {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(v)))
	for _, n := range []float64{1, 2, 5, 10} {
		if v <= n*unit {
			return n * unit
		}
	}
	return v
}
