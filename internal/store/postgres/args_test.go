package postgres

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

var updateColumns = flag.Bool("update", false, "write testdata/columns.txt anew")

// described are the functions whose arguments a struct describes.
func described() map[string][]argument {
	return map[string][]argument{
		commitFunction.name: commitFunction.args, commitOneFunction.name: commitOneFunction.args, routeFunction.name: routeFunction.args,
	}
}

// sqlType is the type of the column that a Go type fits.
func sqlType(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[[]byte]():
		return "bytea"
	case reflect.TypeFor[pgtype.Text]():
		return "text"
	case reflect.TypeFor[pgtype.UUID]():
		return "uuid"
	}
	switch t.Kind() {
	case reflect.Slice:
		return sqlType(t.Elem()) + "[]"
	case reflect.Pointer:
		return sqlType(t.Elem())
	case reflect.Int16:
		return "smallint"
	case reflect.Int32:
		return "integer"
	case reflect.Int64:
		return "bigint"
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		return "text"
	}
	return t.String()
}

// TestArguments: the structs that describe arguments are what the functions of the schema take.
func TestArguments(t *testing.T) {
	db := openTest(t, Options{})
	for name, args := range described() {
		var names, types []string
		defaults := 0
		err := db.one(ctx, `SELECT proargnames[1:pronargs], ARRAY(SELECT format_type(u, NULL) FROM unnest(proargtypes) u), pronargdefaults
			FROM pg_proc WHERE proname = $1 AND pronamespace = 'lockstep'::regnamespace`, []any{name}, &names, &types, &defaults)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := map[string]string{}
		for i, n := range names {
			want[n] = types[i]
		}
		for _, a := range args {
			if have := sqlType(a.typ); want[a.name] != have {
				t.Errorf("%s: the argument %s is %q there and %q here", name, a.name, want[a.name], have)
			}
			if a.rare && slices.Index(names, a.name) < len(names)-defaults {
				t.Errorf("%s: the argument %s has no default", name, a.name)
			}
			delete(want, a.name)
		}
		for n := range want {
			t.Errorf("%s: nothing describes the argument %s", name, n)
		}
	}
}

// TestColumns: every value reaches its column. Commits and routings with values that all differ are written,
// and the tables are compared with testdata/columns.txt. It would notice two values of one type that
// change places, whichever: each such pair is swapped, and then the tables differ, or it fails.
func TestColumns(t *testing.T) {
	s := openTest(t, Options{house: housekeeping{quiet: true}}).Namespace("x").(*Store)
	w := newColumns(t, s)
	have, err := w.write()
	if err != nil {
		t.Fatal(err)
	}
	if *updateColumns {
		if err := os.WriteFile("testdata/columns.txt", []byte(have), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/columns.txt")
	if err != nil {
		t.Fatal(err)
	}
	if have != string(want) {
		t.Fatalf("the tables are not as testdata/columns.txt says (-update):\n%s", have)
	}
	swaps := 0
	for _, args := range described() {
		for i := range args {
			for j := range args[:i] {
				a, b := &args[i], &args[j]
				if sqlType(a.typ) != sqlType(b.typ) || a.name[:2] != b.name[:2] {
					continue
				}
				swaps++
				a.name, b.name = b.name, a.name
				have, err := w.write()
				a.name, b.name = b.name, a.name
				if err == nil && have == string(want) {
					t.Errorf("nothing shows that %s and %s changed places", a.name, b.name)
				}
			}
		}
	}
	if have, err := w.write(); err != nil || have != string(want) {
		t.Errorf("afterwards: %v\n%s", err, have)
	}
	t.Logf("%d pairs were swapped", swaps)
}

// columns writes the same again and again, and takes it back.
type columns struct {
	t       *testing.T
	s       *Store
	ns      int32
	commits []*commitRequest
	plain   []*commitRequest
	routes  []*decision
	looks   []look
	tables  string // a query of all rows
}

func newColumns(t *testing.T, s *Store) *columns {
	w := &columns{t: t, s: s}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var err error
	w.ns, err = s.ns(ctx)
	check(err)
	for i := range 20 { // so that a kind is not the place of a row
		_, err := s.kind(ctx, w.ns, &store.Instance{ID: "x", Definition: fmt.Sprint("other", i)})
		check(err)
	}
	_, err = store.PutDefinition(ctx, s, store.Definition{ID: "d", Version: "1", Digest: "digest", Program: []byte("p")}, nil, false)
	check(err)
	for i := range 2 {
		c := w.step(int64(i))
		r, err := s.encode(ctx, w.ns, &c)
		check(err)
		w.commits = append(w.commits, r)
		plain := w.plainStep(int64(i))
		r, err = s.encode(ctx, w.ns, &plain)
		check(err)
		if !r.plain() {
			t.Fatalf("%+v is not plain", plain)
		}
		w.plain = append(w.plain, r)
	}
	for i := range 2 {
		w.routes = append(w.routes, w.routing(int64(i)))
	}
	more := store.Commit{Instance: store.Instance{ID: "q", Definition: "d", Status: core.Running, More: true}}
	r, err := s.encode(ctx, w.ns, &more)
	check(err)
	w.plain = append(w.plain, r)
	wait := w.commits[1].subs[0]
	w.looks = []look{{What: "s", A: wait.Typ, B: wait.Match}, {What: "g", A: fitsOf("fits"), C: "d", D: "digest"}}
	var queries []string
	check(s.db.each(ctx, s.db.pool, `SELECT relname FROM pg_class WHERE relnamespace = 'lockstep'::regnamespace AND relkind IN ('r', 'p')
		AND NOT relispartition AND relname NOT IN ('schema_versions', 'kinds', 'contents', 'aliases', 'generations') ORDER BY relname`, nil, func(r pgx.Rows) error {
		name := ""
		err := r.Scan(&name)
		queries = append(queries, fmt.Sprintf("SELECT '%s' AS name, row_to_json(x)::text AS row FROM ~.%[1]s x", name))
		return err
	}))
	w.tables = "SELECT name, row FROM (" + strings.Join(queries, " UNION ALL ") + `) x ORDER BY name COLLATE "C", row COLLATE "C"`
	return w
}

// step is a commit of the instance a: the first one makes it, and the second one has something of everything.
func (w *columns) step(n int64) store.Commit {
	at := core.Time(1000 * (n + 1))
	text := func(s string) string { return fmt.Sprint(s, n) }
	c := store.Commit{
		Instance: store.Instance{
			ID: "a", Rev: n, Definition: "d", Version: "1", Digest: "digest", Status: core.Waiting, Created: 1001, Updated: at + 2, Ended: at + 3,
			Wake: at + 4, HasWake: true, More: n == 1, Parent: text("parent"), Fault: &core.Fault{Name: text("fault")},
			Labels: expr.Object(expr.Member{Key: text("label"), Value: expr.String("v")}), Keys: []core.Key{{Name: "k", Value: text("v"), Fixed: true}},
			Job: store.Job{Client: text("client"), State: text("state"), Group: text("group")},
		},
		Pages:   []core.Page{{Frame: 31, Part: 32, Data: []byte(text("page"))}},
		Records: []core.Record{{Text: text("one")}, {Text: "two"}, {Text: "three"}},
		Calls:   []store.Call{{Shard: 41, Invoke: core.Invoke{Ticket: core.Ticket(42 + n)}}},
		Emits:   []store.Emit{{Definition: "emitted", Sink: n == 1, Event: eventOf(text("emit"), "v")}},
		Messages: []store.Message{
			{To: "a", At: at + 5, Event: 51 + n, Input: core.Reply{Ticket: core.Ticket(61 + n)}},
		},
		Subscribe: []store.Subscription{waitFor(core.Ticket(71+n), "k", text("v")), waitFor(73, "k", "third")},
	}
	if n == 1 {
		c.Answered = []core.Ticket{42}
		c.Unsubscribe = []core.Ticket{71}
		c.Pages = append(c.Pages, core.Page{Frame: 33, Part: 34, Data: []byte("other")})
		child := store.Instance{
			ID: "child", Parent: "a", Definition: "d", Version: "1", Digest: "digest", Status: core.Running, Created: 2101, Updated: 2102, Ended: 2103,
			Quarantine: "set aside", Labels: c.Instance.Labels, Keys: c.Instance.Keys,
		}
		c.Children = []store.NewInstance{{Instance: child, Start: core.Start{}}}
		c.Taken = []int64{1028} // the message of the first one
	}
	return c
}

// plainStep is a commit of the instance p: the first one makes it, and the second one has something of everything
// that commit_one writes.
func (w *columns) plainStep(n int64) store.Commit {
	c := w.step(n)
	at := core.Time(20_000 + 1000*(n+1))
	in := &c.Instance
	in.ID, in.Created, in.Updated, in.Ended, in.Wake = "p", 20_001, at+2, at+3, at+4
	c.Emits, c.Messages, c.Children = nil, nil, nil
	c.Calls = append(c.Calls, store.Call{Shard: 44, Invoke: core.Invoke{Ticket: core.Ticket(45 + n)}})
	c.Taken = nil
	if n == 0 {
		c.Deployed = 1
		c.Pages = append(c.Pages, core.Page{Frame: 35, Part: 36, Data: []byte("goes")})
		return c
	}
	c.Unread, in.More = true, false
	c.Answered = []core.Ticket{42, 45}
	c.Pages = append(c.Pages, core.Page{Frame: 35, Part: 36})
	return c
}

// routing takes an event: the first one is kept, and the second one comes with something of everything.
func (w *columns) routing(n int64) *decision {
	at := core.Time(5000 + 1000*n)
	e := store.Event{Seq: 11 + n, Event: eventOf(fmt.Sprint("event", n), "t", "k", "v1"), Received: at, Until: at + 1, Producer: "producer", Origin: "origin", For: []string{"a"}}
	gathering := store.Gathering{Definition: "d", Digest: "digest", Key: "fits", Until: at + 5, Events: []int64{11 + n}}
	r := store.Routing{Gather: []store.Gathering{gathering}}
	if n == 1 {
		first := store.Event{Seq: 11, Until: at + 3, For: []string{"child"}, Why: []string{"why"}}
		r = store.Routing{
			Events: []store.Event{first}, Again: []int64{11}, Drop: []int64{12}, Checked: []string{"a"},
			Deliver: []store.Delivery{{Event: 12, Instance: "a", At: at + 4, Reply: core.Reply{Ticket: 72}}},
			Gather:  r.Gather,
			Start: []store.NewInstance{{Instance: store.Instance{
				ID: "started", Definition: "d", Version: "1", Digest: "digest", Status: core.Running, Created: at + 6, Updated: at + 7, Ended: at + 8,
				Wake: at + 9, HasWake: true, More: true, Parent: "above", Fault: &core.Fault{Name: "fault"},
				Labels: expr.Object(expr.Member{Key: "label", Value: expr.String("v")}), Keys: []core.Key{{Name: "k", Value: "v", Fixed: true}},
				Job: store.Job{Client: "client", State: "state", Group: "group"},
			}, Start: core.Start{}}},
		}
	}
	d, err := w.s.decide(ctx, w.ns, r, &e)
	if err != nil {
		w.t.Fatal(err)
	}
	d.emit, d.data, d.keys = 13, []byte("event"), []eventKey{{typ: 21, match: 22}}
	return d
}

var errTakenBack = errors.New("taken back")

// write writes everything and returns the tables. What is long is replaced by its length and a hash.
func (w *columns) write() (tables string, err error) {
	lines := []string{}
	err = w.s.db.begin(ctx, w.ns, func(t *tx) error {
		if err := w.call(t); err != nil {
			return err
		}
		return errors.Join(t.each(ctx, w.tables, nil, func(r pgx.Rows) error {
			name, row := "", ""
			err := r.Scan(&name, &row)
			lines = append(lines, name+" "+longBytes.ReplaceAllStringFunc(row, func(s string) string {
				return fmt.Sprintf("%d bytes %.6x", (len(s)-3)/2, sha256.Sum256([]byte(s)))
			})+"\n")
			return err
		}), errTakenBack)
	})
	if err.Error() == errTakenBack.Error() {
		err = nil
	}
	return strings.Join(lines, ""), err
}

var longBytes = regexp.MustCompile(`\\\\x[0-9a-f]{20,}`)

func (w *columns) call(t *tx) error {
	if err := t.script(ctx, "SELECT setval('seqs', 1024, false); DELETE FROM outcomes"); err != nil {
		return err
	}
	for i, r := range w.commits {
		c := &commitArgs{NS: w.ns, Token: pgtype.UUID{Bytes: [16]byte{15: byte(i)}, Valid: true}}
		c.add(r, func(shard int16) int64 { return 900 + int64(shard) })
		var verdict []int16
		if err := t.one(ctx, "SELECT o_verdict FROM "+commitFunction.text(1, true), commitFunction.values(c, true), &verdict); err != nil {
			return err
		}
		if slices.Max(verdict) > 0 {
			return fmt.Errorf("the verdict of commit %d is %d", i, verdict)
		}
	}
	for i, r := range w.plain {
		c := r.oneArgs(w.ns, func(shard int16) int64 { return 900 + int64(shard) })
		c.Token = pgtype.UUID{Bytes: [16]byte{15: byte(8 + i)}, Valid: true}
		verdict := int16(0)
		if err := t.one(ctx, "SELECT o_verdict FROM "+commitOneFunction.text(1, true), commitOneFunction.values(c, true), &verdict); err != nil {
			return err
		}
		if verdict > 0 {
			return fmt.Errorf("the verdict of plain commit %d is %d", i, verdict)
		}
	}
	for _, d := range w.routes {
		notes, err := w.look(ctx, t)
		if err != nil {
			return err
		}
		result := int16(0)
		args := routeFunction.values(d.args(w.ns, notes), true)
		if err := t.one(ctx, "SELECT "+routeFunction.text(1, true), args, &result); err != nil {
			return err
		}
		if result != routed {
			return fmt.Errorf("the result of a routing is %d", result)
		}
	}
	return nil
}

func (w *columns) look(ctx context.Context, t *tx) (notes []note, err error) {
	for _, l := range w.looks {
		n := note{look: l}
		if err := t.one(ctx, callSeen, []any{l.args(w.ns)}, &n.Sum); err != nil {
			return nil, err
		}
		notes = append(notes, n)
	}
	return notes, nil
}
