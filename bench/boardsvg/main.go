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
)

// The grid of a board has 24 columns.
const (
	column = 50.0 // width
	line   = 26.0 // height
	gap    = 6.0
	points = 100 // of a curve
)

var colours = []string{"#3274d9", "#56a64b", "#e02f44", "#ff9830", "#8f3bb8", "#19a2a8", "#b877d9", "#806eb7", "#c4162a", "#37872d"}

// panel is one panel of a board.
type panel struct {
	Type, Title string
	GridPos     struct{ H, W, X, Y float64 }
	FieldConfig struct{ Defaults struct{ Unit string } }
	Targets     []struct{ Expr, LegendFormat string }
}

// curve is one time series.
type curve struct {
	name   string
	times  []float64
	values []float64
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
		var curves []curve
		for _, target := range p.Targets {
			found, err := query(server, target.Expr, target.LegendFormat, begin, end)
			if err != nil {
				return fmt.Errorf("panel %q: %w", p.Title, err)
			}
			curves = append(curves, found...)
		}
		drawPanel(w, &p, curves, float64(begin.Unix()), float64(end.Unix()))
		fmt.Fprintln(w, "</g>")
	}
	_, err = fmt.Fprintln(w, "</svg>")
	return err
}

// query asks Prometheus for the curves of an expression.
func query(server, expr, legend string, begin, end time.Time) ([]curve, error) {
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
	var out []curve
	for _, r := range answer.Data.Result {
		c := curve{name: legend}
		for label, value := range r.Metric {
			c.name = strings.ReplaceAll(c.name, "{{"+label+"}}", value)
		}
		for _, v := range r.Values {
			at, _ := v[0].(float64)
			text, _ := v[1].(string)
			if y, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(y) && !math.IsInf(y, 0) {
				c.times, c.values = append(c.times, at), append(c.values, y)
			}
		}
		out = append(out, c)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].name < out[j].name })
	return out, nil
}

func drawPanel(w io.Writer, p *panel, curves []curve, begin, end float64) {
	width, height := p.GridPos.W*column-gap, p.GridPos.H*line-gap
	fmt.Fprintf(w, `<rect x="3" y="0" width="%g" height="%g" fill="#fff" stroke="#ddd"/><text x="12" y="17" font-weight="bold">%s</text>`, width, height, html.EscapeString(p.Title))
	left, right, top, bottom := 62.0, width-8, 30.0, height-38
	highest := 0.0
	for _, c := range curves {
		for _, v := range c.values {
			highest = max(highest, v)
		}
	}
	highest = roundUp(highest)
	for i := range 5 {
		y := bottom - (bottom-top)*float64(i)/4
		fmt.Fprintf(w, `<path d="M%.0f %.0fH%.0f" stroke="#e8e8e8"/><text x="%.0f" y="%.0f" text-anchor="end" fill="#666" font-size="10">%s</text>`,
			left, y, right, left-5, y+3, amount(highest*float64(i)/4, p.FieldConfig.Defaults.Unit))
	}
	for _, at := range []float64{begin, (begin + end) / 2, end} {
		x := left + (right-left)*(at-begin)/(end-begin)
		fmt.Fprintf(w, `<text x="%.0f" y="%.0f" text-anchor="middle" fill="#666" font-size="10">%s</text>`, min(x, right-14), bottom+13, time.Unix(int64(at), 0).UTC().Format("15:04"))
	}
	x, shown := 12.0, 0
	for i, c := range curves {
		colour := colours[i%len(colours)]
		if len(c.values) > 0 {
			var path strings.Builder
			for k, v := range c.values {
				fmt.Fprintf(&path, "%s%.1f %.1f", map[bool]string{true: "M", false: "L"}[k == 0], left+(right-left)*(c.times[k]-begin)/(end-begin), bottom-(bottom-top)*v/highest)
			}
			fmt.Fprintf(w, `<path d="%s" fill="none" stroke="%s" stroke-width="1.3"/>`, path.String(), colour)
		}
		room := 16 + 5.6*float64(len(c.name))
		if x+room > width-30 {
			continue
		}
		fmt.Fprintf(w, `<rect x="%.0f" y="%.0f" width="8" height="3" fill="%s"/><text x="%.0f" y="%.0f" font-size="10">%s</text>`, x, height-13, colour, x+11, height-8, html.EscapeString(c.name))
		x, shown = x+room+8, shown+1
	}
	if more := len(curves) - shown; more > 0 {
		fmt.Fprintf(w, `<text x="%.0f" y="%.0f" font-size="10" fill="#666">+%d</text>`, x, height-8, more)
	}
	if len(curves) == 0 {
		fmt.Fprintf(w, `<text x="%.0f" y="%.0f" text-anchor="middle" fill="#999">no data</text>`, width/2, height/2)
	}
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
