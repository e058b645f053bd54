package main

import (
	"fmt"
	"math"
	"time"
)

// metric is one figure of a measurement.
type metric string

const (
	rate       metric = "per second"
	median     metric = "p50"
	tail       metric = "p99"
	ofRows     metric = "of rows"     // rate as a share of the rows a second that the database takes without us
	ofStore    metric = "of store"    // rate as a share of the same writes on the store, without an engine
	cpu        metric = "CPU"         // seconds of this process, for each
	databaseOf metric = "database"    // seconds of PostgreSQL, for each
	logged     metric = "log"         // bytes to the log of the database, for each
	objects    metric = "allocations" // for each
	allocated  metric = "bytes"       // for each
	collecting metric = "GC"          // share of the processor time of this process
	statements metric = "statements"  // for each

	// Without a column: only targets have them.
	ofPlain     metric = "p50 of plain statements'" // times the p50 of plain statements that write the same rows
	httpCPU     metric = "CPU that HTTP adds"
	httpObjects metric = "allocations that HTTP adds"
	pagesGrowth metric = "pages among 1,000" // times those of an event among 1,000 waiting
	writeGrowth metric = "written among 1,000"
	readGrowth  metric = "statements among 1,000"

	pagesSeen    metric = "pages"   // that an event looks at
	pagesWritten metric = "written" // pages that it writes
)

// format writes a value of the metric.
func (m metric) format(v float64) string {
	switch m {
	case median, tail, cpu, databaseOf, httpCPU:
		return brief(v)
	case logged, allocated:
		return magnitude(v)
	case collecting:
		return fmt.Sprintf("%.1f%%", 100*v)
	case ofRows, ofStore:
		return fmt.Sprintf("%.3f", v)
	case ofPlain, pagesGrowth, writeGrowth, readGrowth:
		return fmt.Sprintf("%.2f", v)
	case statements:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

// brief writes seconds with three digits.
func brief(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	unit := time.Nanosecond
	for d.Abs() >= 1000*unit {
		unit *= 10
	}
	return d.Round(unit).String()
}

// magnitude writes a number of bytes with three digits.
func magnitude(bytes float64) string {
	switch {
	case bytes < 1000:
		return fmt.Sprintf("%.0f", bytes)
	case bytes < 1e6:
		return fmt.Sprintf("%.3g kB", bytes/1e3)
	}
	return fmt.Sprintf("%.3g MB", bytes/1e6)
}

// line is a line of the table.
type line struct {
	load, store string
	inFlight    int
}

// target is a bound for one metric of a line.
type target struct {
	line
	metric
	least bool // at least the bound; otherwise at most
	bound float64
}

func (t target) String() string {
	sign := "≤"
	if t.least {
		sign = "≥"
	}
	return fmt.Sprintf("%s %s %s", t.metric, sign, t.format(t.bound))
}

// reached reports whether a value keeps within the bound.
func (t target) reached(v float64) bool {
	if t.least {
		return v >= t.bound
	}
	return v <= t.bound
}

// targets is what the table should show. Rates are shares of floors that the same run measures.
func targets() []target {
	return []target{
		{line{"W1", "postgres", 1}, ofRows, true, 0.22},
		{line{"W1", "postgres", 1}, ofPlain, false, 1.5},
		{line{"W10", "postgres", 1}, ofRows, true, 0.04},
		{line{"events", "postgres", 1}, ofRows, true, 0.155},
		{line{"W1", "postgres", 128}, ofRows, true, 0.49},
		{line{"W10", "postgres", 128}, ofRows, true, 0.092},
		{line{"events", "postgres", 128}, ofRows, true, 0.14},

		{line{"W1/HTTP", "sqlite", 128}, httpCPU, false, 45e-6},
		{line{"W1/HTTP", "sqlite", 128}, httpObjects, false, 40},
		{line{"W1/HTTP", "sqlite", 128}, ofRows, true, 0.067},

		{line{"W1", "sqlite", 1}, statements, false, 8},
		{line{"W1", "sqlite", 128}, ofRows, true, 0.13},
		{line{"W1", "sqlite", 128}, objects, false, 81},
		{line{"W10", "sqlite", 128}, objects, false, 500},
		{line{"W1", "sqlite", 128}, collecting, false, 0.08},

		// 10,000 events a second where the database takes 150,000 rows a second.
		{line{manyWaiting, "sqlite", 128}, ofRows, true, 0.067},
		{line{manyWaiting, "sqlite", 128}, statements, false, 15},
		{line{manyWaiting, "sqlite", 128}, readGrowth, false, 1},
		{line{manyWaiting, "sqlite", 128}, pagesGrowth, false, 1.5},
		{line{manyWaiting, "sqlite", 128}, writeGrowth, false, 1.2},

		{line{"W1 1MiB", "sqlite", 1}, logged, false, 2.5e6},
		{line{"W10 1MiB", "sqlite", 1}, logged, false, 3.5e6},
		{line{"W1 1MiB", "postgres", 1}, logged, false, 2.5e6},
		{line{"W10 1MiB", "postgres", 1}, logged, false, 3.5e6},
	}
}

// nodesTarget is the least ratio to one node that so many nodes on the same processors should have: each further
// one costs a tenth at most.
func nodesTarget(nodes int) float64 { return math.Pow(0.9, float64(nodes-1)) }
