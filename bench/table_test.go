package main

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestMedianOf(t *testing.T) {
	for _, x := range []struct {
		values []float64
		want   float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 2, 100}, 3}} {
		given := slices.Clone(x.values)
		if got := medianOf(x.values); got != x.want {
			t.Errorf("of %v: %v", x.values, got)
		}
		if !slices.Equal(given, x.values) {
			t.Errorf("%v were sorted in place", given)
		}
	}
}

// TestTargetsHaveLines: each target is about a line that the table has and a metric that can be compared.
func TestTargetsHaveLines(t *testing.T) {
	o, err := parse(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &sampler{options: o, table: newTable()}
	for _, name := range bothStores {
		s.addLines(name)
	}
	seen := map[target]bool{}
	for _, x := range targets() {
		if !slices.Contains(s.table.order, x.line) {
			t.Errorf("%v: the table has no such line", x)
		}
		x.bound = 0
		if seen[x] {
			t.Errorf("%+v is there twice", x)
		}
		seen[x] = true
	}
	for i, p := range s.table.order {
		if slices.Contains(s.table.order[:i], p) {
			t.Errorf("%v is there twice", p)
		}
	}
}

func TestTargetIsReached(t *testing.T) {
	least, most := target{metric: ofRows, least: true, bound: 0.5}, target{metric: statements, bound: 8}
	if !least.reached(0.5) || least.reached(0.49) || !most.reached(8) || most.reached(8.1) {
		t.Error("a bound is the last value that reaches it")
	}
	if got := nodesTarget(3); math.Abs(got-0.81) > 1e-9 {
		t.Errorf("three nodes should have %v of one", got)
	}
}

// TestCompare: what HTTP adds and what more instances cost are differences and ratios of two lines of a repetition.
func TestCompare(t *testing.T) {
	taken := map[line]sample{
		{"W1", "sqlite", 128}:        {cpu: 100e-6, objects: 70},
		{"W1/HTTP", "sqlite", 128}:   {cpu: 140e-6, objects: 100},
		{"W1/HTTP", "sqlite", 1}:     {cpu: 140e-6, objects: 100},
		{fewWaiting, "sqlite", 128}:  {statements: 13, pagesSeen: 50, pagesWritten: 10},
		{manyWaiting, "sqlite", 128}: {statements: 13, pagesSeen: 75, pagesWritten: 11},
		{manyWaiting, "memory", 128}: nil,
	}
	compare(taken)
	over, many := taken[line{"W1/HTTP", "sqlite", 128}], taken[line{manyWaiting, "sqlite", 128}]
	if math.Abs(over[httpCPU]-40e-6) > 1e-9 || over[httpObjects] != 30 {
		t.Errorf("HTTP adds %v and %v", over[httpCPU], over[httpObjects])
	}
	if many[readGrowth] != 1 || many[pagesGrowth] != 1.5 || many[writeGrowth] != 1.1 {
		t.Errorf("%v", many)
	}
	if _, known := taken[line{"W1/HTTP", "sqlite", 1}][httpCPU]; known {
		t.Error("a line was compared with one of another number in flight")
	}
}

func TestTableShowsMediansAndTargets(t *testing.T) {
	tab := newTable()
	w1, j := line{"W1", "sqlite", 128}, line{"J", "postgres", 1}
	tab.order = []line{w1, j}
	for _, v := range []float64{10_000, 30_000, 20_000} {
		tab.addFloor("rows", 10*v)
		tab.add(w1, sample{rate: v, median: 0.0123456, ofRows: v / 100_000, logged: 3456, collecting: 0.0712})
	}
	tab.add(j, sample{rate: 7})
	list := []target{
		{w1, ofRows, true, 0.13},
		{w1, collecting, false, 0.05},
		{w1, statements, false, 8}, // not measured: no line
		{line{"W10", "sqlite", 1}, ofRows, true, 1},
	}
	var b strings.Builder
	if err := tab.write(&b, list); err != nil {
		t.Fatal(err)
	}
	const want = `rows                                                      200000/s

load      store    in flight per second      p50      p99  of rows of store      CPU database      log allocations    bytes     GC statements  target                            reached
W1        sqlite         128      20000   12.3ms        -    0.200        -        -        -  3.46 kB           -        -   7.1%          -  of rows ≥ 0.130                   yes 0.200
                                                                                                                                               GC ≤ 5.0%                         no  7.1%
J         postgres         1          7        -        -        -        -        -        -        -           -        -      -          -

targets reached: 1 of 2
`
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTableIsWrittenIntoADocument(t *testing.T) {
	file := filepath.Join(t.TempDir(), "performance.md")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("before\n" + tableBegin + "old\n" + tableEnd + "after\n")
	for range 2 { // again: the same
		if err := insertTable(file, []byte("new\n")); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if want := "before\n" + tableBegin + "```text\nnew\n```\n" + tableEnd + "after\n"; err != nil || string(got) != want {
		t.Errorf("got %q, %v", got, err)
	}
	write("nothing\n")
	if err := insertTable(file, nil); err == nil || !strings.Contains(err.Error(), "-into") {
		t.Errorf("a document without the lines: %v", err)
	}
}

func TestBrief(t *testing.T) {
	for seconds, want := range map[float64]string{0.0123456: "12.3ms", 45e-6: "45µs", 12.34e-6: "12.3µs", 1.234: "1.23s", 0.0009996: "1ms", 0.25: "250ms"} {
		if got := brief(seconds); got != want {
			t.Errorf("%v is %s, want %s", seconds, got, want)
		}
	}
}

// TestTableIsMeasured measures a small table, and has it written into a document.
func TestTableIsMeasured(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("performance.md", []byte(tableBegin+tableEnd), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := parse([]string{"-store", "sqlite", "-loads", "W1,events,W1 1MiB", "-inflight", "1,4", "-reps", "2", "-time", "20ms", "-into", "performance.md"})
	if err != nil {
		t.Fatal(err)
	}
	if err := reportTable(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("performance.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"medians of 2", "SQLite, rows in commits of 100", "\nW1        sqlite           1", "\nW1        sqlite           4", "\nevents    sqlite           4",
		"\nW1 1MiB   sqlite           1", "statements ≤ 8.0", "log ≤ 2.5 MB", "\ntargets reached: ",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
	left, err := filepath.Glob("bench-*")
	if err != nil || len(left) > 0 {
		t.Errorf("%v are left, %v", left, err)
	}
}
