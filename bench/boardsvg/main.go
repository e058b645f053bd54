// Boardsvg draws the panels of a Grafana board with the data of a Prometheus server, as one SVG picture: for documents, and
// for machines without Grafana. It knows panels of the type timeseries only, which are all of ours.
//
//	go run ./bench/boardsvg -prometheus http://127.0.0.1:9090 -last 10m > docs/board.svg
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"html"
	"io"
	"log"
	"math"
	"net/http"
	"net/url"
	"os"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/plot"
)

// The grid of a board has 24 columns.
const (
	column = 50.0 // width
	line   = 26.0 // height
	gap    = 6.0
	points = 100 // of a curve
)

var theme = plot.Theme{Ink: "#222", Faint: "#666", Grid: "#ddd", Paper: "#fff"}

// panel is one panel of a board.
type panel struct {
	Type, Title string
	GridPos     struct{ H, W, X, Y float64 }
	FieldConfig struct{ Defaults struct{ Unit string } }
	Targets     []struct{ Expr, LegendFormat string }
}

func main() {
	log.SetFlags(0)
	server := flag.String("prometheus", "http://127.0.0.1:9090", "the `URL` of Prometheus")
	file := flag.String("board", "deploy/grafana/lockstep.json", "the board")
	last := flag.Duration("last", 10*time.Minute, "how much time is drawn, until now")
	flag.Parse()
	if err := draw(os.Stdout, *server, *file, *last); err != nil {
		log.Fatal(err)
	}
}

func draw(w io.Writer, server, file string, last time.Duration) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var board struct {
		Title  string
		Panels []panel
	}
	if err := json.Unmarshal(text, &board); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	bottom := 0.0
	for _, p := range board.Panels {
		bottom = max(bottom, p.GridPos.Y+p.GridPos.H)
	}
	end := time.Now().Truncate(time.Second)
	begin := end.Add(-last)
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" font-family="sans-serif" font-size="11" fill="#222">`+"\n", 24*column, bottom*line+30)
	fmt.Fprintf(w, `<rect width="100%%" height="100%%" fill="#f4f5f5"/><text x="8" y="20" font-size="15" font-weight="bold">%s</text><text x="%g" y="20" text-anchor="end">%s UTC, %s</text>`+"\n",
		html.EscapeString(board.Title), 24*column-8, end.UTC().Format("2006-01-02 15:04"), last)
	for _, p := range board.Panels {
		fmt.Fprintf(w, `<g transform="translate(%g %g)">`, p.GridPos.X*column, p.GridPos.Y*line+30)
		if p.Type == "row" {
			fmt.Fprintf(w, `<text x="8" y="18" font-size="13" font-weight="bold">%s</text></g>`+"\n", html.EscapeString(p.Title))
			continue
		}
		var curves []plot.Curve
		for _, target := range p.Targets {
			found, err := query(server, target.Expr, target.LegendFormat, begin, end)
			if err != nil {
				return fmt.Errorf("panel %q: %w", p.Title, err)
			}
			curves = append(curves, found...)
		}
		if err := drawPanel(w, &p, curves, float64(begin.Unix()), float64(end.Unix())); err != nil {
			return err
		}
		fmt.Fprintln(w, "</g>")
	}
	_, err = fmt.Fprintln(w, "</svg>")
	return err
}

// query asks Prometheus for the curves of an expression.
func query(server, expr, legend string, begin, end time.Time) ([]plot.Curve, error) {
	step := max(end.Sub(begin)/points, time.Second)
	expr = strings.ReplaceAll(expr, "$__rate_interval", "30s")
	resp, err := http.Get(server + "/api/v1/query_range?" + url.Values{
		"query": {expr}, "start": {fmt.Sprint(begin.Unix())}, "end": {fmt.Sprint(end.Unix())}, "step": {fmt.Sprint(step.Seconds())},
	}.Encode())
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var answer struct {
		Error string
		Data  struct {
			Result []struct {
				Metric map[string]string
				Values [][2]any
			}
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || answer.Error != "" {
		return nil, fmt.Errorf("%s: %s %w", expr, answer.Error, err)
	}
	var out []plot.Curve
	for _, r := range answer.Data.Result {
		c := plot.Curve{Name: legend}
		for label, value := range r.Metric {
			c.Name = strings.ReplaceAll(c.Name, "{{"+label+"}}", value)
		}
		for _, v := range r.Values {
			at, _ := v[0].(float64)
			text, _ := v[1].(string)
			if y, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(y) && !math.IsInf(y, 0) {
				c.X, c.Y = append(c.X, at), append(c.Y, y)
			}
		}
		out = append(out, c)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out, nil
}

func drawPanel(w io.Writer, p *panel, curves []plot.Curve, begin, end float64) error {
	var ticks []plot.Tick
	for _, at := range []float64{begin, (begin + end) / 2, end} {
		ticks = append(ticks, plot.Tick{At: at, Text: time.Unix(int64(at), 0).UTC().Format("15:04")})
	}
	drawn := plot.Panel{
		Title: p.Title, Width: p.GridPos.W*column - gap, Height: p.GridPos.H*line - gap, Curves: curves, From: begin, To: end, Ticks: ticks,
		Amount: func(v float64) string { return amount(v, p.FieldConfig.Defaults.Unit) }, Theme: theme,
	}
	return drawn.Draw(w)
}

// amount writes a value in the unit of a panel.
func amount(v float64, unit string) string {
	short := func(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }
	switch {
	case v == 0:
		return "0"
	case unit == "s" && v < 1:
		return short(v*1000) + " ms"
	case unit == "s":
		return short(v) + " s"
	case unit == "bytes" && v >= 1<<30:
		return short(v/(1<<30)) + " GiB"
	case unit == "bytes" && v >= 1<<20:
		return short(v/(1<<20)) + " MiB"
	case unit == "bytes":
		return short(v/(1<<10)) + " KiB"
	case unit == "short" && v >= 1000:
		return short(v/1000) + " k"
	case unit == "reqps":
		return short(v) + "/s"
	}
	return short(v)
}
