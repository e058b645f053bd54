package main

import (
	"os"
	"strings"
	"testing"
	"time"
)

func TestOptions(t *testing.T) {
	for _, x := range []struct{ args, want string }{
		{"-nodes 1,2", "-nodes and -snapshot need -store postgres"},
		{"-snapshot 1m", "-nodes and -snapshot need -store postgres"},
		{"-store postgres -nodes 1,zero", `-nodes: "zero" is not a positive number`},
		{"-inflight 0", `-inflight: "0" is not a positive number`},
		{"-loads W1,W2", `-loads: there is no "W2"`},
		{"-store postgres -snapshot 1s", "-snapshot: 1s is too short"},
		{"-store postgres -snapshot -1m", "-snapshot: -1m0s is too short"},
	} {
		if _, err := parse(strings.Fields(x.args)); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, want %q", x.args, err, x.want)
		}
	}
	o, err := parse(strings.Fields("-store postgres -nodes 1,3"))
	if err != nil || len(o.nodes) != 2 || o.nodes[1] != 3 || len(o.loads) != 2 || o.loads[0].name != "W1" || o.loads[1].name != "J" || len(o.inFlight) != 1 || o.inFlight[0] != 128 {
		t.Errorf("got %+v, %v", o, err)
	}
	if o, err = parse(nil); err != nil || len(o.loads) != len(tableLoads()) || len(o.inFlight) != 2 {
		t.Errorf("got %+v, %v", o, err)
	}
}

func TestProcessTimes(t *testing.T) {
	const text = "42 (a) b (c) S 7 42 42 0 -1 4194560 100 200 0 0 150 50 30 20 20 0 1 0 12345 0 0"
	p, ok := parseStat(text)
	if want := (processInfo{"a) b (c", 7, 2 * time.Second, 500 * time.Millisecond}); !ok || p != want {
		t.Errorf("got %+v, %t; want %+v", p, ok, want)
	}
	for _, bad := range []string{"", "42", "42 (a", "42 (a) S 7", ")("} {
		if _, ok := parseStat(bad); ok {
			t.Errorf("%q is read", bad)
		}
	}
	if p, ok := processOf(os.Getpid()); !ok || p.parent != os.Getppid() {
		t.Errorf("this process is %+v, %t", p, ok)
	}
}

func TestWaitsInOrder(t *testing.T) {
	w := waits{looks: 2, sessions: 20, seen: map[string]int{"a": 1, "b": 4, "c": 2, "d": 2, "e": 2, "f": 3}}
	const want = "waits: 7.00 of 10 sessions busy   b 2.00   f 1.50   c 1.00   d 1.00   e 1.00"
	if got := w.String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestSnapshotVerdict(t *testing.T) {
	flat := func(rates ...int) (out []point) {
		for _, n := range rates {
			out = append(out, point{figure: figure{count: n, took: time.Second}})
		}
		return out
	}
	for _, x := range []struct {
		without, with []point
		want          string
	}{
		{flat(90, 100, 100, 100, 100), flat(100, 90, 80, 90, 95), "throughput holds: at the end 95 % of that without a snapshot and 95 % of that at its beginning"},
		{flat(100), flat(100, 90, 80, 80, 80), "throughput falls while the snapshot gets older: at the end 80 % of that without"},
		{flat(100), flat(80, 80, 80, 80, 80), "throughput is lower beside an old snapshot, and does not fall further: at the end 80 %"},
	} {
		if got := verdict(x.without, x.with); !strings.Contains(got, x.want) || strings.Contains(got, "idle") {
			t.Errorf("got  %s\nwant %s", got, x.want)
		}
	}
	busy := flat(100, 100)
	busy[0].others = time.Second
	if got := verdict(flat(100, 100), busy); !strings.Contains(got, "measure again when the machine is idle") {
		t.Errorf("got %s", got)
	}
}

// TestNodesAreMeasured runs every load on two real nodes and a real PostgreSQL for a moment.
func TestNodesAreMeasured(t *testing.T) {
	address, stop, err := startPostgres(t.Context(), "postgres")
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	o, err := parse([]string{"-store", address, "-nodes", "2", "-inflight", "4", "-time", "100ms"})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	program, err := prepare(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range loads() {
		f, err := nodesRun{options: o, dir: dir, program: program, load: l, nodes: 2, flight: 4}.measure(t.Context())
		if err != nil {
			t.Errorf("%s: %v", l.name, err)
			continue
		}
		if f.count == 0 || f.work.commits == 0 || f.work.rows == 0 || f.work.wal == 0 {
			t.Errorf("%s: %+v", l.name, f)
		}
	}
	w, err := watch(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	if w.postmaster == 0 || w.cpu(nil).postgres == 0 {
		t.Error("what PostgreSQL uses of the processors is not known")
	}
	var left int
	if err := w.conn.QueryRow(t.Context(), "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'bench%'").Scan(&left); err != nil || left > 0 {
		t.Errorf("%d schemas are left, %v", left, err)
	}
}
