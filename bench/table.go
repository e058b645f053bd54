package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// sample is what one measurement of a line gave; a metric that it lacks was not measured.
type sample map[metric]float64

// table collects the samples of all repetitions. Its figures are medians.
type table struct {
	floors  []string // their names, in the order in which they came
	order   []line
	of      map[string][]float64
	samples map[line][]sample
}

func newTable() *table {
	return &table{of: map[string][]float64{}, samples: map[line][]sample{}}
}

func (t *table) addFloor(name string, perSecond float64) {
	if t.of[name] == nil {
		t.floors = append(t.floors, name)
	}
	t.of[name] = append(t.of[name], perSecond)
}

func (t *table) add(p line, s sample) { t.samples[p] = append(t.samples[p], s) }

// value is the median of a metric of a line over the repetitions.
func (t *table) value(p line, m metric) (v float64, known bool) {
	var all []float64
	for _, s := range t.samples[p] {
		if v, ok := s[m]; ok {
			all = append(all, v)
		}
	}
	return medianOf(all), len(all) > 0
}

// medianOf is the middle one, or the mean of the two in the middle; 0 of none.
func medianOf(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// columns are the metrics of a line, with the width of each column.
var columns = []struct {
	metric
	width int
}{
	{rate, 11},
	{median, 9},
	{tail, 9},
	{ofRows, 9},
	{ofStore, 9},
	{cpu, 9},
	{databaseOf, 9},
	{logged, 9},
	{objects, 12},
	{allocated, 9},
	{collecting, 7},
	{statements, 11},
}

// write prints the floors, its lines in order, and one more for each further target that a line has.
func (t *table) write(w io.Writer, list []target) error {
	var b strings.Builder
	for _, name := range t.floors {
		fmt.Fprintf(&b, "%-*s %9.0f/s\n", floorWidth, name, medianOf(t.of[name]))
	}
	fmt.Fprintf(&b, "\n%-10s%-9s%9s", "load", "store", "in flight")
	for _, c := range columns {
		fmt.Fprintf(&b, "%*s", c.width, c.metric)
	}
	b.WriteString("  " + pad("target", targetWidth) + "reached\n")
	held, missed := 0, 0
	for _, p := range t.order {
		fmt.Fprintf(&b, "%-10s%-9s%9d", p.load, p.store, p.inFlight)
		for _, c := range columns {
			text := "-"
			if v, known := t.value(p, c.metric); known {
				text = c.format(v)
			}
			b.WriteString(strings.Repeat(" ", max(1, c.width-utf8.RuneCountInString(text))) + text)
		}
		indent := "  "
		for _, want := range list {
			v, known := t.value(p, want.metric)
			if want.line != p || !known {
				continue
			}
			verdict := "yes"
			if want.reached(v) {
				held++
			} else {
				verdict = "no"
				missed++
			}
			fmt.Fprintf(&b, "%s%s%-4s%s\n", indent, pad(want.String(), targetWidth), verdict, want.format(v))
			indent = strings.Repeat(" ", lineWidth()+2)
		}
		if indent == "  " {
			b.WriteString("\n")
		}
	}
	fmt.Fprintf(&b, "\ntargets reached: %d of %d\n", held, held+missed)
	_, err := io.WriteString(w, b.String())
	return err
}

const (
	floorWidth  = 54
	targetWidth = 34
)

func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(1, width-utf8.RuneCountInString(text)))
}

// lineWidth is the width of a line without its targets.
func lineWidth() int {
	n := 10 + 9 + 9
	for _, c := range columns {
		n += c.width
	}
	return n
}

// circumstances is the first line of the table: what ran where.
func circumstances(o options) string {
	return fmt.Sprintf("%s, %d cores, %s/%s, %s; medians of %d; %s for each measurement\n", time.Now().UTC().Format(time.DateOnly),
		runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), o.reps, o.time)
}

// The table of a document stands between these lines.
const (
	tableBegin = "<!-- bench -->\n"
	tableEnd   = "<!-- /bench -->\n"
)

// insertTable replaces the table of a document.
func insertTable(file string, text []byte) error {
	document, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, begins := bytes.Cut(document, []byte(tableBegin))
	_, after, ends := bytes.Cut(rest, []byte(tableEnd))
	if !begins || !ends {
		return fmt.Errorf("-into: %s has no line %q with a line %q after it", file, strings.TrimSpace(tableBegin), strings.TrimSpace(tableEnd))
	}
	return os.WriteFile(file, slices.Concat(before, []byte(tableBegin+"```text\n"), text, []byte("```\n"+tableEnd), after), 0o644)
}
