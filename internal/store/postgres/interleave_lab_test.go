package postgres

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/memory"
	"github.com/lockstep-workflows/lockstep/internal/store/storetest"
)

// lab tries orders of operations, each in a namespace of its own.
type lab struct {
	t      *testing.T
	driver *driver
	base   *DB // nobody stops here
	tries  int
	serial map[string]string // what operations give one after the other, on the reference
}

func newLab(t *testing.T, seats int) *lab { return newLabOf(t, seats, Options{}) }

func newLabOf(t *testing.T, seats int, opts Options) *lab {
	url := pgtestURL(t)
	opts.house = housekeeping{rows: 20, batch: 5, rest: 1, quiet: true}
	return &lab{t: t, driver: newDriver(t, url, opts, seats), base: openURL(t, url, opts), serial: map[string]string{}}
}

// kindsUsed are what instances are instances of.
var kindsUsed = []kindKey{{definition: "d", version: "1"}, {definition: "d", version: "1", digest: "x"}, {definition: "e", version: "1", digest: "y"}}

// open makes a namespace with what the operations need, and gives each seat a store that knows as much of it as one
// that has been at work for a while.
func (l *lab) open(needs []string) (*world, []*Store, error) {
	l.tries++
	name := fmt.Sprint("n", l.tries)
	base := l.base.Namespace(name).(*Store)
	ns, err := base.ns(ctx)
	if err != nil {
		return nil, nil, err
	}
	var kinds []kindKey
	var numbers []int32
	b := &pgx.Batch{}
	for _, k := range kindsUsed {
		k.ns = ns
		b.Queue(l.base.sql("INSERT INTO ~.kinds (ns, definition, version, digest) VALUES ($1, $2, $3, $4) RETURNING kind"), ns, k.definition, k.version, k.digest).QueryRow(func(r pgx.Row) error {
			n := int32(0)
			err := r.Scan(&n)
			kinds, numbers = append(kinds, k), append(numbers, n)
			return err
		})
	}
	if err := l.base.pool.SendBatch(ctx, b).Close(); err != nil {
		return nil, nil, err
	}
	know := func(db *DB) {
		for i, k := range kinds {
			db.kinds[k] = numbers[i]
		}
	}
	know(l.base)
	w, err := build(base, needs)
	if err != nil {
		return nil, nil, err
	}
	shapes, err := base.readShapes(ctx, ns)
	if err != nil {
		return nil, nil, err
	}
	var stores []*Store
	for _, seat := range l.driver.seats {
		s := seat.db.Namespace(name).(*Store)
		s.number, s.known = ns, shapes
		know(seat.db)
		stores = append(stores, s)
	}
	return w, stores, nil
}

// needsOf lists the pieces of the world that actions need.
func needsOf(list []action) (out []string) {
	for _, a := range list {
		out = append(out, strings.Fields(a.needs)...)
	}
	return out
}

// try runs actions at a time, and checks what becomes of it, unless the order is one that was there before.
func (l *lab) try(list []action, choose func(choice) *operation, known *bool) error {
	w, stores, err := l.open(needsOf(list))
	if err != nil {
		return err
	}
	var ops []*operation
	for i, a := range list {
		name := a.name + strings.Repeat("'", before(list[:i], a.name))
		ops = append(ops, &operation{name: name, free: a.free, impatient: a.impatient, do: func() (string, error) { return a.do(w, stores[i]) }})
	}
	if err := l.driver.run(ops, choose); err != nil || known != nil && *known {
		return err
	}
	if err := l.judge(list, ops, w); err != nil {
		var names []string
		for _, a := range list {
			names = append(names, a.name)
		}
		return fmt.Errorf("%w\nsteps:\n%s\nto see it again:\n  go test ./internal/store/postgres -run '^TestInterleavedReplay$' -interleave.replay='%s: %s'",
			err, l.driver.story(), strings.Join(names, "|"), strings.Join(l.driver.order, "|"))
	}
	return nil
}

func before(list []action, name string) (n int) {
	for _, a := range list {
		if a.name == name {
			n++
		}
	}
	return n
}

// judge compares with what the operations give one after the other, in some order that agrees with when they
// began and ended.
func (l *lab) judge(list []action, ops []*operation, w *world) error {
	results := make([]string, len(list))
	for i, op := range ops {
		results[i] = told(op.result, op.err)
	}
	got, err := outcome(list, results, w.store)
	if err != nil {
		return err
	}
	var differences string
	for _, order := range orders(len(list)) {
		if contradicts(order, ops) {
			continue
		}
		want, err := l.inOrder(list, order, false)
		if err != nil {
			return fmt.Errorf("on the reference: %w", err)
		}
		blind := want
		if mayBeBlind(list, ops) {
			if blind, err = l.inOrder(list, order, true); err != nil {
				return fmt.Errorf("on the reference: %w", err)
			}
		}
		if got == want || got == blind {
			return cmp.Or(notLost(list, ops, w.store), l.sound(w.store))
		}
		differences += "\n- not " + strings.Join(namesIn(ops, order), ", then ") + ":" + strings.ReplaceAll(storetest.Difference(got, want), "\n", "\n    ")
	}
	return fmt.Errorf("what became of it is what no order of the operations gives:%s", differences)
}

// notLost checks that every event that was acknowledged is kept, and that whoever it is said to have started is there.
// That holds whatever the reference says.
func notLost(list []action, ops []*operation, s store.Store) error {
	page, err := s.Events(ctx, store.EventQuery{})
	if err != nil {
		return err
	}
	for i, a := range list {
		if a.event == "" || ops[i].err != nil {
			continue
		}
		at := slices.IndexFunc(page.Events, func(e store.Event) bool { return e.Event.ID == a.event })
		if at < 0 {
			return fmt.Errorf("event %s was acknowledged and is not there", a.event)
		}
		if e := page.Events[at]; len(e.Used) > 0 && e.Event.Type != "g" {
			if _, err := s.Instance(ctx, "by "+a.event); err != nil {
				return fmt.Errorf("event %s started something, it says: %w", a.event, err)
			}
		}
	}
	return nil
}

// mayBeBlind reports whether a commit that nobody read the inbox for need not see what came: nothing of it came before the
// commit began.
func mayBeBlind(list []action, ops []*operation) bool {
	for i, a := range list {
		came := false
		for j, b := range list {
			came = came || b.routes && share(a, b) && earlier(ops[j], ops[i]) < 0
		}
		if a.unread && !came {
			return true
		}
	}
	return false
}

// earlier is negative where one operation ended before another began.
func earlier(a, b *operation) int {
	switch {
	case a.ended < b.begun:
		return -1
	case b.ended < a.begun:
		return 1
	}
	return 0
}

// contradicts reports whether an order has one behind another that began after its end.
func contradicts(order []int, ops []*operation) bool {
	for i, a := range order {
		for _, b := range order[i+1:] {
			if earlier(ops[a], ops[b]) > 0 {
				return true
			}
		}
	}
	return false
}

func namesIn(ops []*operation, order []int) (out []string) {
	for _, i := range order {
		out = append(out, ops[i].name)
	}
	return out
}

func orders(n int) [][]int {
	if n == 0 {
		return [][]int{nil}
	}
	var out [][]int
	for _, o := range orders(n - 1) {
		for at := range n {
			out = append(out, slices.Insert(slices.Clone(o), at, n-1))
		}
	}
	return out
}

// told is what an operation answered.
func told(result string, err error) string {
	return strings.TrimSpace(result + " " + storetest.Kind(err))
}

// outcome is what operations answered, and what a store has after them and after all is routed.
func outcome(list []action, results []string, s store.Store) (string, error) {
	out := ""
	for i, a := range list {
		out += a.name + " answers: " + results[i] + "\n"
	}
	picture, err := storetest.Picture(s)
	if err != nil {
		return "", err
	}
	out += picture + "\nand in the end\n"
	did, err := finish(s)
	if err == nil && did {
		picture, err = storetest.Picture(s)
	}
	return out + picture, err
}

// inOrder is the outcome of operations one after the other. Where it is blind, no commit sees what is in an inbox.
func (l *lab) inOrder(list []action, order []int, blind bool) (string, error) {
	key := fmt.Sprint(order, blind)
	for _, a := range list {
		key += "|" + a.name
	}
	if known, ok := l.serial[key]; ok {
		return known, nil
	}
	w, err := build(&reference{Store: memory.New(), blind: blind}, needsOf(list))
	if err != nil {
		return "", err
	}
	results := make([]string, len(list))
	for _, i := range order {
		results[i] = told(list[i].do(w, w.store))
	}
	out, err := outcome(list, results, w.store)
	l.serial[key] = out
	return out, err
}

// sound checks what the reference does not know: now and then, that nothing is damaged.
func (l *lab) sound(s store.Store) error {
	if l.tries%16 != 0 {
		return nil
	}
	if problems, err := s.Check(ctx); err != nil || len(problems) > 0 {
		return fmt.Errorf("check: %v %v", problems, err)
	}
	return nil
}
