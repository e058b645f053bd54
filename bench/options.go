package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"time"
)

// options are what the command line says.
type options struct {
	store    string // empty: both in the table, otherwise sqlite
	time     time.Duration
	loads    []load
	inFlight []int
	reps     int           // of each line of the table
	into     string        // the document that the table is written into
	nodes    []int         // instead of the table: on so many
	snapshot time.Duration // instead
	pairs    bool          // instead
	http     bool          // instead
	curves   string        // instead: the folder for pictures
	most     int           // of what a curve grows with
	streams  int           // instead: of so many subscribers
	profile  string
	allocs   string
	big      scales
}

func parse(args []string) (o options, err error) {
	flags := flag.NewFlagSet("bench", flag.ExitOnError)
	flags.StringVar(&o.store, "store", "", "memory, sqlite, postgres (a server is started), or the address of a PostgreSQL; if empty sqlite, and in the table postgres, too")
	flags.DurationVar(&o.snapshot, "snapshot", 0, "instead: W1 for so long beside an old snapshot, and before that without one, on PostgreSQL")
	flags.BoolVar(&o.pairs, "pairs", false, "instead: what a task costs in two loads that take turns")
	flags.BoolVar(&o.http, "http", false, "instead: W1 in this process beside W1 over HTTP, from clients in another process")
	flags.DurationVar(&o.time, "time", 0, "of each measurement; if 0, 1s in the table and otherwise 2s")
	flags.IntVar(&o.reps, "reps", 3, "how often each line of the table is measured; it shows medians")
	flags.StringVar(&o.into, "into", "", "write the table into this `document`, too, between its lines "+strings.TrimSpace(tableBegin)+" and "+strings.TrimSpace(tableEnd))
	flags.IntVar(&o.streams, "streams", 0, "instead: how long changes take to so many subscribers of the stream, in another process")
	flags.StringVar(&o.profile, "cpuprofile", "", "write a profile of everything into this `file`")
	flags.StringVar(&o.allocs, "allocprofile", "", "write a profile of all allocations into this `file`")
	flags.StringVar(&o.curves, "curves", "", "instead: how costs grow, as pictures in this `folder`")
	flags.IntVar(&o.most, "most", 1_000_000, "with -curves: up to how many")
	nodes := flags.String("nodes", "", "instead: so many servers on one PostgreSQL, comma-separated `counts`")
	names := flags.String("loads", "", "`names`, comma-separated; if empty all, or W1 and J with -nodes")
	inFlight := flags.String("inflight", "", "how many at a time, comma-separated `counts`; if empty 1,128, or 128 with -nodes")
	o.big.add(flags)
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if (*nodes != "" || o.snapshot > 0) && !isPostgres(o.store) {
		return o, fmt.Errorf("-nodes and -snapshot need -store postgres, or the address of one")
	}
	if b := &o.big; isPostgres(o.store) && b.foreach+b.waiting+b.recover > 0 {
		return o, fmt.Errorf("-foreach, -waiting and -recover measure SQLite; leave out -store")
	}
	if o.snapshot != 0 && o.snapshot < shortestSnapshot {
		return o, fmt.Errorf("-snapshot: %v is too short for a curve; at least %v", o.snapshot, shortestSnapshot)
	}
	usualLoads, usualFlight := "", "1,128"
	if *nodes != "" {
		usualLoads, usualFlight = "W1,J", "128"
		if o.nodes, err = counts("-nodes", *nodes); err != nil {
			return o, err
		}
	}
	if o.reps < 1 {
		return o, fmt.Errorf("-reps must be at least 1")
	}
	if o.time == 0 {
		o.time = 2 * time.Second
		if o.isTable() {
			o.time = time.Second
		}
	}
	if o.store == "" && !o.isTable() {
		o.store = "sqlite"
	}
	known := loads()
	if o.isTable() {
		known = tableLoads()
	}
	if o.loads, err = chosen(known, orElse(*names, usualLoads)); err != nil {
		return o, err
	}
	o.inFlight, err = counts("-inflight", orElse(*inFlight, usualFlight))
	return o, err
}

// isTable reports whether nothing is asked for instead of the table.
func (o options) isTable() bool {
	return len(o.nodes) == 0 && o.snapshot == 0 && !o.pairs && !o.http && o.streams == 0 && o.curves == "" && !o.big.any()
}

// startProfiles begins the profiles that were asked for; stop writes them.
func (o options) startProfiles() (stop func(), err error) {
	stopCPU := func() {}
	if o.profile != "" {
		f, err := os.Create(o.profile)
		if err != nil {
			return nil, err
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			return nil, err
		}
		stopCPU = func() { pprof.StopCPUProfile(); complain(f.Close()) }
	}
	if o.allocs == "" {
		return stopCPU, nil
	}
	f, err := os.Create(o.allocs)
	if err != nil {
		return nil, err
	}
	return func() { stopCPU(); complain(errors.Join(pprof.Lookup("allocs").WriteTo(f, 0), f.Close())) }, nil
}

func orElse(text, usual string) string {
	if text == "" {
		return usual
	}
	return text
}

// counts reads positive numbers.
func counts(flag, text string) (out []int, err error) {
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%s: %q is not a positive number", flag, part)
		}
		out = append(out, n)
	}
	return out, nil
}

// chosen are loads by their names, in the order of the table; all if there are no names.
func chosen(from []load, names string) (out []load, err error) {
	if names == "" {
		return from, nil
	}
	want, known := strings.Split(names, ","), []string(nil)
	for _, l := range from {
		known = append(known, l.name)
		if slices.Contains(want, l.name) {
			out = append(out, l)
		}
	}
	for _, name := range want {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("-loads: there is no %q; there are %s", name, strings.Join(known, ", "))
		}
	}
	return out, nil
}
