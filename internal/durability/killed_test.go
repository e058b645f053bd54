package durability

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/store/sqlite"
)

// TestKilledAtEveryWrite: wherever the process dies, the next one completes the instance,
// and nobody can tell afterwards but by calls that came again with the same key.
func TestKilledAtEveryWrite(t *testing.T) {
	want := unharmed(t)
	for _, how := range []struct {
		name          string
		before, early bool
	}{{name: "after it"}, {name: "before it", before: true}, {name: "after it, with an early event", early: true}} {
		t.Run(how.name, func(t *testing.T) {
			t.Parallel()
			kills, repeated := 0, 0
			for n := int64(1); ; n++ {
				r := newRun(t)
				r.early = how.early
				whole := r.live(order{Kill: n, Before: how.before}, func(c *client.Client, in client.Instance) { want.compare(r, c, in) })
				if !whole {
					kills++
					r.live(order{}, func(c *client.Client, in client.Instance) { want.compare(r, c, in) })
				}
				repeated += r.check()
				if t.Failed() {
					t.Fatalf("killed at write %d", n)
				}
				if whole {
					break
				}
			}
			if kills < want.commits {
				t.Errorf("killed %d times, though the instance alone has %d commits", kills, want.commits)
			}
			if how.before && repeated == 0 {
				t.Error("no call was repeated, though processes died between its answer and the commit of that")
			}
			t.Logf("killed at each of %d writes; %d calls came again", kills, repeated)
		})
	}
}

// TestKilledAfterEveryWrite: no process lives longer than one write.
func TestKilledAfterEveryWrite(t *testing.T) {
	t.Parallel()
	want := unharmed(t)
	r := newRun(t)
	for !r.live(order{Kill: 1}, func(c *client.Client, in client.Instance) { want.compare(r, c, in) }) {
		if t.Failed() || r.processes > 100 {
			t.Fatalf("in process %d", r.processes)
		}
	}
	repeated := r.check()
	if r.processes <= want.commits {
		t.Errorf("%d processes did %d commits", r.processes, want.commits)
	}
	t.Logf("%d processes; %d calls came again", r.processes, repeated)
}

// outcome is what an instance leaves that nobody disturbed.
type outcome struct {
	history []string // what its records tell, sorted: iterations may pass one another
	commits int      // at least
}

// unharmed is the outcome without a kill. The output and the calls are written down here.
func unharmed(t *testing.T) (out outcome) {
	t.Helper()
	r := newRun(t)
	r.live(order{}, func(c *client.Client, in client.Instance) {
		out.history, out.commits = r.history(c), 8 // start, reserved, paid, rested, packed, refused, released, and the wait's routing
		out.compare(r, c, in)
	})
	if again := r.check(); again != 0 {
		t.Errorf("%d calls came again though nothing died", again)
	}
	return out
}

const output = `{"amount":7,"closed":true,"items":["hat","scarf","glove"],"order":"o1",
	"parcels":[{"parcel":"P-hat"},{"parcel":"P-scarf"},{"parcel":"P-glove"}],"number":"R-o1","released":"R-o1"}`

// compare looks at an instance that is over.
func (o outcome) compare(r *run, c *client.Client, in client.Instance) {
	t := r.t
	t.Helper()
	if in.Status != client.Completed {
		t.Fatalf("the instance is %s: %+v %s", in.Status, in.Error, in.Quarantine)
	}
	var got, want any
	if err := json.Unmarshal([]byte(output), &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(in.Output, &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("the output is %s, %v", in.Output, err)
	}
	if got := r.history(c); !slices.Equal(got, o.history) {
		t.Errorf("history tells\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(o.history, "\n"))
	}
	all, err := c.ListInstances(context.Background(), client.InstanceQuery{})
	if err != nil || len(all.Items) != 1 {
		t.Errorf("there are %d instances, %v", len(all.Items), err)
	}
	events, err := c.ListEvents(context.Background(), client.EventQuery{})
	if err != nil || len(events.Items) != 2 {
		t.Fatalf("%d events are kept, %v", len(events.Items), err)
	}
	for _, ev := range events.Items {
		if own := strings.Contains(string(ev.Event), `"o1"`); ev.Taken != own {
			t.Errorf("taken is %t of the event %s", ev.Taken, ev.Event)
		}
	}
}

// history reads what the records tell. It sees that they have no gap, that every call
// has one answer, and that each state was entered and left once.
func (r *run) history(c *client.Client) []string {
	r.t.Helper()
	page, err := c.GetHistory(context.Background(), r.id, client.Paging{Limit: 1000})
	if err != nil {
		r.t.Fatal(err)
	}
	var out []string
	times := map[string]int{}
	for i, rec := range page.Items {
		if rec.Seq != int64(i+1) {
			r.t.Errorf("record %d has the number %d", i+1, rec.Seq)
		}
		out = append(out, fmt.Sprintf("%s %s %s %d %s", rec.Type, rec.Node, rec.Name, rec.Attempt, rec.Data))
		what := rec.Type
		if what == "callFailed" {
			what = "returned"
		}
		if times[fmt.Sprint(what, rec.Node, rec.Name, rec.Frame, rec.Ticket)]++; times[fmt.Sprint(what, rec.Node, rec.Name, rec.Frame, rec.Ticket)] > 1 {
			r.t.Errorf("%s of %s %s happened twice", rec.Type, rec.Node, rec.Name)
		}
		times[what]++
	}
	if times["called"] != 6 || times["returned"] != 6 || times["consumed"] != 1 || times["compensating"] == 0 || times["finished"] != 1 {
		r.t.Errorf("history has %v", times)
	}
	slices.Sort(out)
	return out
}

// check looks at what is left when no process runs any more: the calls that were made, of
// which it tells how many came again, and the file.
func (r *run) check() (repeated int) {
	r.t.Helper()
	repeated = r.service.check(r.t, []string{
		`POST /reservations {"order":"o1"}`,
		`POST /parcels {"item":"hat"}`, `POST /parcels {"item":"scarf"}`, `POST /parcels {"item":"glove"}`,
		`POST /shipments {"parcels":[{"parcel":"P-hat"},{"parcel":"P-scarf"},{"parcel":"P-glove"}]}`,
		`DELETE /reservations/R-o1 `,
	})
	db, err := sqlite.Open(r.database, sqlite.Options{Readers: 1})
	if err != nil {
		r.t.Fatal(err)
	}
	defer db.Close()
	problems, err := db.Namespace("default").Check(context.Background())
	if err != nil || len(problems) > 0 {
		r.t.Errorf("the store has the problems %v, %v", problems, err)
	}
	return repeated
}
