package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"runtime/metrics"
	"slices"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw05"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// bothStores are what the table measures unless one is chosen.
var bothStores = []string{"sqlite", "postgres"}

// The lines of the table that are about events among many waiting instances.
const (
	fewWaiting, manyWaiting = "event/1k", "event/1M"
	few, many               = 1_000, 1_000_000
)

// sampler takes the samples of a table.
type sampler struct {
	options
	table  *table
	plain  *plainWrites // nil: not on PostgreSQL
	rounds int          // repetitions that are over

	// Of this repetition: the floors.
	rows       float64 // a second, that SQLite takes in large commits
	commits    commitsAlone
	plainP50   float64
	databaseAt map[string]string // addresses by the names of stores
}

// reportTable prints the table: each line is measured once in every repetition, and every repetition begins with
// another line.
func reportTable(ctx context.Context, o options) error {
	names := []string{o.store}
	if o.store == "" {
		names = bothStores
	}
	s := &sampler{options: o, table: newTable(), databaseAt: map[string]string{}}
	for _, name := range names {
		label := name
		if isPostgres(name) {
			label = "postgres"
			address, stop, err := startPostgres(ctx, name)
			if err != nil {
				return err
			}
			defer stop()
			name = address
			var release func()
			if s.plain, release, err = recordPlain(ctx, address); err != nil {
				return fmt.Errorf("record the rows of W1: %w", err)
			}
			defer release()
		}
		s.databaseAt[label] = name
		s.addLines(label)
	}
	for range o.reps {
		if err := s.repetition(ctx); err != nil {
			return err
		}
	}
	var text bytes.Buffer
	text.WriteString(circumstances(o))
	if err := s.table.write(&text, targets()); err != nil {
		return err
	}
	if o.into != "" {
		if err := insertTable(o.into, text.Bytes()); err != nil {
			return err
		}
	}
	_, err := io.Copy(os.Stdout, &text)
	return err
}

// addLines adds the lines of a store.
func (s *sampler) addLines(name string) {
	for _, l := range s.loads {
		if l.waiting > 0 {
			if name == "sqlite" {
				s.table.order = append(s.table.order, line{l.name, name, 128})
			}
			continue
		}
		for _, n := range s.inFlight {
			if l.payload == 0 || n == 1 {
				s.table.order = append(s.table.order, line{l.name, name, n})
			}
		}
	}
}

func (s *sampler) repetition(ctx context.Context) error {
	if err := s.floors(ctx); err != nil {
		return fmt.Errorf("floors: %w", err)
	}
	order := s.table.order
	turn := s.rounds * len(order) / max(s.reps, 1)
	taken := map[line]sample{}
	for i, p := range slices.Concat(order[turn:], order[:turn]) {
		fmt.Fprintf(os.Stderr, "repetition %d of %d, line %d of %d: %s on %s with %d in flight\n", s.rounds+1, s.reps, i+1, len(order), p.load, p.store, p.inFlight)
		got, err := s.measure(ctx, p)
		if err != nil {
			return fmt.Errorf("%s on %s with %d in flight: %w", p.load, p.store, p.inFlight, err)
		}
		taken[p] = got
	}
	compare(taken)
	for p, got := range taken {
		if got != nil {
			s.table.add(p, got)
		}
	}
	s.rounds++
	return nil
}

// compare adds the metrics that need two lines of a repetition.
func compare(taken map[line]sample) {
	for p, got := range taken {
		beside := func(load string, to, from metric, by func(a, b float64) float64) {
			if other := taken[line{load, p.store, p.inFlight}]; other != nil && got != nil {
				got[to] = by(got[from], other[from])
			}
		}
		minus := func(a, b float64) float64 { return a - b }
		times := func(a, b float64) float64 { return a / b }
		switch p.load {
		case "W1/HTTP":
			beside("W1", httpCPU, cpu, minus)
			beside("W1", httpObjects, objects, minus)
		case manyWaiting:
			beside(fewWaiting, pagesGrowth, pagesSeen, times)
			beside(fewWaiting, writeGrowth, pagesWritten, times)
			beside(fewWaiting, readGrowth, statements, times)
		}
	}
}

// floors measures what the databases do without us.
func (s *sampler) floors(ctx context.Context) (err error) {
	if s.databaseAt["sqlite"] != "" {
		if s.rows, err = batchedRows(ctx, s.time); err != nil {
			return err
		}
		s.table.addFloor(fmt.Sprintf("SQLite, rows in commits of %d", rowsPerCommit), s.rows)
	}
	address := s.databaseAt["postgres"]
	if address == "" {
		return nil
	}
	if s.commits, err = commitsOf(ctx, address, s.inFlight, s.time); err != nil {
		return err
	}
	for _, n := range s.inFlight {
		n = connectionsFor(n)
		s.table.addFloor(fmt.Sprintf("PostgreSQL, commits of one row, connections: %d", n), s.commits[n].rate())
	}
	got, err := s.plain.measure(ctx, s.time)
	s.plainP50 = got.p50.Seconds()
	s.table.addFloor("PostgreSQL, the rows of a W1 in plain statements", got.rate())
	return err
}

// measure takes the sample of a line; nil: this repetition has none.
func (s *sampler) measure(ctx context.Context, p line) (sample, error) {
	i := slices.IndexFunc(s.loads, func(l load) bool { return l.name == p.load })
	l := s.loads[i]
	if l.waiting > 0 {
		if s.rounds > 0 { // a million instances take longer than all the rest
			return nil, nil
		}
		return s.amongWaiting(ctx, l.waiting)
	}
	on, err := openStore(s.databaseAt[p.store])
	if err != nil {
		return nil, err
	}
	defer on.close()
	b, err := newDriven(ctx, on.Store, l, p.inFlight)
	if err != nil {
		return nil, err
	}
	defer b.stop()
	got, spent, used, err := s.spend(on, b)
	if err != nil {
		return nil, err
	}
	out := sample{
		rate: got.rate(), median: got.p50.Seconds(), tail: got.p99.Seconds(), cpu: got.cpuEach().Seconds(),
		objects: got.each(got.objects), allocated: got.each(got.bytes), collecting: got.collecting,
	}
	each := func(m metric, total float64) {
		if total > 0 {
			out[m] = total / float64(got.count)
		}
	}
	each(logged, float64(spent.bytes))
	each(statements, float64(spent.statements))
	each(databaseOf, used.Seconds())
	floor := s.rows
	if p.store == "postgres" {
		floor = s.commits.on(p.inFlight).rate()
		if l.name == "W1" && p.inFlight == 1 {
			out[ofPlain] = out[median] / s.plainP50
		}
	}
	if floor > 0 {
		out[ofRows] = got.rate() / floor
	}
	alone, err := aloneOf(ctx, s.databaseAt[p.store], l, p.inFlight, s.time/2)
	out[ofStore] = got.rate() / alone.rate()
	return out, err
}

// spend runs a load, and says what that cost this process, the log and statements of the database, and its processors.
func (s *sampler) spend(on opened, b *driven) (got spent, did cost, database time.Duration, err error) {
	if _, err := b.run(s.time / 5); err != nil { // caches, connections and prepared statements
		return got, did, 0, err
	}
	before, used := on.cost(), on.cpu()
	got, err = meterOf(func() (figure, error) { return b.run(s.time) })
	return got, on.cost().minus(before), on.cpu() - used, err
}

// aloneOf measures what a load writes on a store of its own, without an engine.
func aloneOf(ctx context.Context, kind string, l load, n int, d time.Duration) (figure, error) {
	s, err := openStore(kind)
	if err != nil {
		return figure{}, err
	}
	defer s.close()
	rec := &recorder{Store: s.Store}
	b, err := newRunner(ctx, rec, l)
	if err != nil {
		return figure{}, err
	}
	err = b.one(ctx, 0) // its writes are the pattern
	b.stop()
	if err != nil {
		return figure{}, err
	}
	rec.mu.Lock()
	writes := slices.Clone(rec.writes)
	rec.mu.Unlock()
	return floorOf(ctx, s.Store, writes, "floor-", n, d)
}

// amongWaiting measures events among so many instances that wait.
func (s *sampler) amongWaiting(ctx context.Context, n int) (sample, error) {
	r, err := measureWaiting(ctx, n)
	if err != nil {
		return nil, err
	}
	out := sample{
		rate: r.Rate, median: r.P50.Seconds(), tail: r.P99.Seconds(), statements: r.Cost.Statements,
		pagesSeen: r.Cost.Pages, pagesWritten: r.Cost.Written,
	}
	if s.rows > 0 {
		out[ofRows] = r.Rate / s.rows
	}
	return out, nil
}

// driven is a load that runs for some time with as many in flight as it was made for.
type driven struct {
	run  func(time.Duration) (figure, error)
	stop func()
}

// newDriven drives a load: over HTTP from a process of its own, so that what this process spends is the server's.
func newDriven(ctx context.Context, s store.Store, l load, n int) (*driven, error) {
	if !l.http {
		b, err := newRunner(ctx, s, l)
		if err != nil {
			return nil, err
		}
		return &driven{func(d time.Duration) (figure, error) { return closedLoop(ctx, n, d, b.one) }, b.stop}, nil
	}
	p, err := compile(l.definition)
	if err != nil {
		return nil, err
	}
	e, err := deployed(ctx, s, engine.Config{Invoker: effect.Func(constant)}, l.definition)
	if err != nil {
		return nil, err
	}
	north, _, stop, err := serve(ctx, e, dialect.NewRegistry(sw05.FrontEnd{}))
	if err != nil {
		return nil, err
	}
	d, err := startDriver(ctx, "drive", north, p.ID, n)
	if err != nil {
		stop()
		return nil, err
	}
	return &driven{d.run, func() { complain(d.stop()); stop() }}, nil
}

// collectorTime is how much of the processors the garbage collector had, and how much the process had in all. Both
// are the runtime's own estimates, which it makes at the end of each collection.
type collectorTime struct{ collecting, busy float64 }

func collectorNow() collectorTime {
	list := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}, {Name: "/cpu/classes/total:cpu-seconds"}, {Name: "/cpu/classes/idle:cpu-seconds"}}
	metrics.Read(list)
	value := func(i int) float64 {
		if list[i].Value.Kind() != metrics.KindFloat64 {
			return 0
		}
		return list[i].Value.Float64()
	}
	return collectorTime{value(0), value(1) - value(2)}
}

// since is the collector's share since an earlier look; 0 if there was no collection.
func (c collectorTime) since(o collectorTime) float64 {
	if c.busy <= o.busy {
		return 0
	}
	return (c.collecting - o.collecting) / (c.busy - o.busy)
}
