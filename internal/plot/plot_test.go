package plot

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"testing"
)

func TestPanelIsDrawn(t *testing.T) {
	p := Panel{
		Title: "a < b", Width: 200, Height: 168, From: 0, To: 2, Ticks: []Tick{{0, "none"}, {2, "all"}},
		Curves: []Curve{{Name: "flat", X: []float64{0, 1, 2}, Y: []float64{1, 1, 2}}, {Name: strings.Repeat("long ", 20)}},
		Amount: func(v float64) string { return fmt.Sprint(v, "x") }, Theme: Theme{Ink: "#111", Faint: "#222", Grid: "#333"},
	}
	var b strings.Builder
	if err := p.Draw(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, want := range []string{
		"a &lt; b", `d="M62.0 80.0L127.0 80.0L192.0 30.0"`, ">2x<", ">none<", ">all<", ">flat<", ">+1<",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %s in\n%s", want, text)
		}
	}
	if strings.Contains(text, "<rect x=\"3\"") {
		t.Error("a panel without paper has a background")
	}
	for d := xml.NewDecoder(strings.NewReader("<svg>" + text + "</svg>")); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestRoundUp(t *testing.T) {
	for v, want := range map[float64]float64{0: 1, 0.3: 0.5, 1: 1, 1.1: 2, 4: 5, 60: 100} {
		if got := roundUp(v); got != want {
			t.Errorf("%v is rounded up to %v, want %v", v, got, want)
		}
	}
}
