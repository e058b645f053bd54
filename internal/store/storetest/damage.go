package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// Tables is how a test reaches the bytes below a store.
type Tables interface {
	// Columns lists every column of the schema that holds bytes, as table.column.
	Columns() []string
	// Values lists what is in a column, but NULL.
	Values(column string) []Stored
	// Write replaces a value.
	Write(column string, at Stored, data []byte)
}

// Stored is a value, and the condition that finds its row.
type Stored struct {
	Where string
	Data  []byte
}

// Damage alters what is stored, one value at a time: it flips bits, cuts off, appends, and exchanges two
// values of a column. Whatever it does, Check must tell, and so must a reader; no reader may get
// anything else than before without a word. Columns that only Check looks at are given with the
// reason. The store is empty; the column that nothing fills fails the test, so that a new one cannot be forgotten.
func Damage(t *testing.T, s store.Store, tables Tables, onlyChecked map[string]string) {
	k := kit{s, t, 1}
	fill(k)
	fillChunks(k, "l")
	k.check(k.AddTallies(ctx, []store.Hour{hourOf(1, store.Tally{Definition: "d", Started: 1}), hourOf(2, store.Tally{Definition: "d", Failed: 2, Durations: store.Durations{{Bucket: 3, N: 1}}})}, 0))
	sound := func() {
		t.Helper()
		if problems, err := s.Check(ctx); err != nil || len(problems) > 0 {
			t.Fatalf("it is not sound: %v %v", problems, err)
		}
	}
	sound()
	before, told := readAll(s)
	if told {
		t.Fatalf("something is damaged already: %v", before)
	}
	columns := tables.Columns()
	for column := range onlyChecked {
		if !slices.Contains(columns, column) {
			t.Errorf("there is no column %s", column)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	trials := 0
	try := func(column, what string, at Stored, data []byte, other *Stored) {
		t.Helper()
		trials++
		tables.Write(column, at, data)
		if other != nil {
			tables.Write(column, *other, at.Data)
		}
		problems, err := s.Check(ctx)
		if err != nil && !errors.Is(err, store.ErrDamaged) || err == nil && len(problems) == 0 {
			t.Errorf("%s of %s where %s: the check says %v %v", what, column, at.Where, problems, err)
		}
		after, told := readAll(s)
		if _, only := onlyChecked[column]; !told && !only {
			t.Errorf("%s of %s where %s: nobody who reads is told", what, column, at.Where)
		}
		for name, text := range after {
			if text != before[name] && !strings.Contains(text, "damaged") {
				t.Errorf("%s of %s where %s: %s without a word:\n%s\nbefore:\n%s", what, column, at.Where, name, text, before[name])
			}
		}
		tables.Write(column, at, at.Data)
		if other != nil {
			tables.Write(column, *other, other.Data)
		}
	}
	for _, column := range columns {
		values := tables.Values(column)
		if len(values) < 2 {
			t.Errorf("%s has %d values: fill writes too little", column, len(values))
		}
		for i, v := range values {
			bits := bitsOf(len(v.Data), random)
			if i > 0 { // the first of a column gets everything
				bits = bits[i%len(bits):][:1]
			} else {
				for _, n := range []int{random.IntN(len(v.Data)), len(v.Data) - 1} {
					try(column, fmt.Sprint("the first ", n, " bytes"), v, v.Data[:n], nil)
				}
				try(column, "a byte more", v, append(bytes.Clone(v.Data), byte(random.IntN(256))), nil)
			}
			for _, bit := range bits {
				data := bytes.Clone(v.Data)
				data[bit/8] ^= 1 << (bit % 8)
				try(column, fmt.Sprint("bit ", bit), v, data, nil)
			}
			if other := values[(i+1)%len(values)]; !bytes.Equal(v.Data, other.Data) {
				try(column, "the value of another row", v, other.Data, &other)
			}
		}
	}
	same := func(what string) {
		t.Helper()
		sound()
		if again, _ := readAll(s); fmt.Sprint(again) != fmt.Sprint(before) {
			t.Errorf("%s, it is not as it was", what)
		}
	}
	same("after all damage is repaired")
	for _, column := range []string{"contents.program", "contents.source", "aliases.source"} {
		for _, v := range tables.Values(column) {
			tables.Write(column, v, append(bytes.Clone(v.Data), 'x'))
		}
		define(kit{s, t, 1})
		same("after " + column + " is deployed again")
	}
	t.Logf("%d values damaged in %d columns", trials, len(columns))
}

// bitsOf picks bits of so many bytes: at both ends, where lead and checksum are, and between. The tests
// of package codec try all of them.
func bitsOf(n int, random *rand.Rand) []int {
	return []int{random.IntN(8), random.IntN(8 * n), 8*n - 1 - random.IntN(min(32, 8*n))}
}

// readAll reads everything that a store has, by every method, and says whether one of them told of damage.
func readAll(s store.Store) (out map[string]string, told bool) {
	out = map[string]string{}
	note := func(name string, v any, err error) {
		told = told || errors.Is(err, store.ErrDamaged)
		out[name] = fmt.Sprintf("%+v %v", v, err)
		told = told || strings.Contains(out[name], "damaged")
	}
	ids := []string{"a", "b", "c", "d", "f", "j", "k", "l"}
	for _, id := range ids {
		in, err := s.Instance(ctx, id)
		note("instance "+id, plain(in), err)
		pages, err := s.Pages(ctx, id)
		note("pages of "+id, pages, err)
		records, err := s.Records(ctx, id, 0, 0)
		note("records of "+id, records, err)
		messages, err := s.Messages(ctx, id)
		note("messages of "+id, messages, err)
		subs, err := s.Subscriptions(ctx, id)
		note("subscriptions of "+id, subs, err)
	}
	states, _, err := s.States(ctx, ids)
	note("states", states, err)
	instances, err := s.Instances(ctx, store.Query{})
	for i := range instances {
		instances[i] = plain(instances[i])
	}
	note("instances", instances, err)
	calls, err := s.Calls(ctx, "")
	note("calls", calls, err)
	emits, err := s.Emits(ctx, 100)
	note("emits", emits, err)
	outbound, err := s.Outbound(ctx, 100)
	note("outbound", outbound, err)
	gatherings, err := s.Expired(ctx, 1<<40, 100)
	note("gatherings", gatherings, err)
	events, err := s.Events(ctx, store.EventQuery{})
	note("events", events, err)
	feed, err := s.Feed(ctx, 0, 1000)
	note("feed", feed, err)
	hours, err := s.ListTallies(ctx, 0, 1<<60)
	note("tallies", hours, err)
	definitions, err := s.ListDefinitions(ctx)
	note("definitions", definitions, err)
	for _, id := range []string{"d", "e"} {
		d, err := s.Definition(ctx, id, "1")
		note("definition "+id, d, err)
		d, err = s.Content(ctx, "digest of "+id)
		note("content of "+id, d, err)
	}
	return out, told
}

// plain is an instance that prints the same each time.
func plain(in store.Instance) store.Instance {
	if in.Fault != nil {
		in.Quarantine += " fault " + in.Fault.Name + in.Fault.Data.String()
		in.Fault = nil
	}
	return in
}

// Fill writes at least two different values of everything into an empty store.
func Fill(t *testing.T, s store.Store) { fill(kit{s, t, 1}) }

// fill writes two different values of everything at least, none of which could take the place of
// another.
func fill(k kit) {
	k.t.Helper()
	define(k)
	value := func(n int64) expr.Value { return expr.Object(expr.Member{Key: "n", Value: expr.Int(n)}) }
	for i, id := range []string{"a", "b"} {
		n := int64(i + 1)
		filter := event.Filter{Type: "t", Keys: []event.Key{{Name: "k", Value: "v" + id, Fixed: true}}}
		produced := event.Event{ID: "of " + id, Source: "s", Type: "u", Data: value(n), HasData: true}
		row := store.Instance{
			ID: id, Definition: "d", Version: "1", Digest: "digest of d", Status: core.Waiting, HasWake: true, Wake: core.Time(50 + n), Created: core.Time(n), Updated: core.Time(10 + n),
			Labels: expr.Object(expr.Member{Key: "l", Value: expr.Int(n)}), Keys: []core.Key{{Name: "k", Value: "v" + id, Fixed: true}}, Active: []string{"S"}, Output: value(n),
		}
		k.commit(store.Commit{
			Instance: row,
			Pages: []core.Page{
				{Data: []byte{1, byte(n)}},
				{Part: -1, Data: append([]byte{1}, bytes.Repeat([]byte{byte(n)}, 3000)...)},
				{Frame: 1, Part: -1, Data: append([]byte{1}, bytes.Repeat([]byte{byte(n)}, 2000)...)},
				{Frame: 1, Data: []byte{1, 9, byte(n)}},
				{Frame: 1, Part: 3, Data: []byte{1, 8, byte(n)}},
			},
			Records:   []core.Record{{Time: 3, Text: "first of " + id, Type: core.RecStarted, Data: value(n), HasData: true}, {Time: 4, Type: core.RecEntered, Node: "S"}},
			Calls:     []store.Call{{Invoke: core.Invoke{Ticket: 1, Args: value(n)}}, {Invoke: core.Invoke{Ticket: 4, Args: value(n + 5)}}},
			Emits:     []store.Emit{{Event: produced, Definition: "d"}, {Event: produced, Definition: "d", Sink: true}},
			Subscribe: []store.Subscription{{Ticket: 2, Name: "n" + id, Filter: filter}, {Ticket: 3, Name: "m" + id, Filter: filter}},
			Children:  []store.NewInstance{{Instance: store.Instance{ID: []string{"c", "d"}[i], Status: core.Running, Parent: id, Created: core.Time(20 + n)}, Start: core.Start{Seed: 3, Data: value(n)}}},
			Messages:  []store.Message{{To: id, At: core.Time(30 + n), Input: core.Control{Verb: core.VerbAmend, Data: value(n), HasData: true}}},
		})
		k.change(id, func(r *store.Instance) { r.Updated += 5 })
		k.commit(store.Commit{Instance: k.at(id, core.Time(40+n)), Records: []core.Record{{Time: 5, Text: "second of " + id}}})
	}
	for i, id := range []string{"1", "2"} {
		e := event.Event{ID: id, Source: "s", Type: "t", Data: value(int64(i)), HasData: true}
		e.Put("k", expr.String("v"+[]string{"a", "b"}[i]))
		_, err := k.Ingest(ctx, store.Event{Event: e, Received: core.Time(i + 1), Until: core.Time(1000 + i)}, 0, func(e store.Event, _ store.View) (store.Routing, error) {
			e.For, e.Why, e.Used = []string{"a"}, []string{"why " + id}, []string{"d"}
			return store.Routing{
				Events:  []store.Event{e},
				Deliver: []store.Delivery{{Event: e.Seq, Instance: "b", At: core.Time(60 + i), Reply: core.Reply{Ticket: core.Ticket(2 + i), Value: value(7)}}},
				Gather:  []store.Gathering{{Definition: "d", Digest: "digest of d", Key: "key " + id, Events: []int64{e.Seq, 0}, Until: 500}},
				Start:   []store.NewInstance{{Instance: store.Instance{ID: []string{"j", "k"}[i], Definition: "d", Version: "1", Digest: "digest of d", Status: core.Running, Created: core.Time(i + 70)}, Start: core.Start{Seed: uint64(i)}}},
			}, nil
		})
		k.check(err)
	}
	k.commit(store.Commit{Instance: store.Instance{ID: "f", Definition: "d", Version: "1", Digest: "digest of d", Status: core.Failed, Ended: 3, Fault: &core.Fault{Name: "F", Data: expr.Int(1)}}})
	k.commit(store.Commit{Instance: store.Instance{ID: "g", Status: core.Completed, Ended: 3, Updated: 80}, Records: []core.Record{{Text: "gone"}}})
	k.check(k.DeleteInstance(ctx, "g", store.Deletion{At: 90}))
}

func define(k kit) {
	k.t.Helper()
	for i, id := range []string{"d", "e"} {
		_, err := store.PutDefinition(ctx, k, store.Definition{
			ID: id, Version: "1", Digest: "digest of " + id, Program: Program(id), Source: []byte("id: " + id), Deployed: core.Time(i + 1),
		}, nil, false)
		k.check(err)
	}
}

// at is a row as it is to be at a later time.
func (k kit) at(id string, t core.Time) store.Instance {
	k.t.Helper()
	r := k.row(id)
	r.Updated = t
	return r
}
