package durability

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/store/sqlite"
)

var all = flag.Bool("durability.all", false, "kill at each write of the longer story, too, instead of at one of five")

// TestKilledAtEveryWrite: wherever the process dies, the next one completes the instance,
// and nobody can tell afterwards but by calls that came again with the same key.
func TestKilledAtEveryWrite(t *testing.T) {
	for _, how := range []struct {
		name          string
		story         *story
		before, early bool
		stride        int64
	}{
		{name: "after it", story: order},
		{name: "before it", story: order, before: true},
		{name: "after it, with an early event", story: order, early: true},
		{name: "1.0, after it", story: journey, stride: 5},
		{name: "1.0, before it", story: journey, before: true, stride: 5},
		{name: "every kind of call, after it", story: kinds, stride: 4},
		{name: "every kind of call, before it", story: kinds, before: true, stride: 4},
	} {
		t.Run(how.name, func(t *testing.T) {
			t.Parallel()
			want := unharmed(t, how.story)
			first, stride := int64(1), int64(1)
			if how.stride > 0 && !*all {
				first, stride = 1+rand.Int64N(how.stride), how.stride
			}
			kills, repeated := 0, 0
			for n := first; ; n += stride {
				r := newRun(t, how.story)
				r.early = how.early
				whole := r.live(command{Kill: n, Before: how.before}, func(c *client.Client, in api.Instance) error { return want.compare(r, c, in) })
				if !whole {
					kills++
					r.live(command{}, func(c *client.Client, in api.Instance) error { return want.compare(r, c, in) })
				}
				repeated += r.check()
				if t.Failed() {
					t.Fatalf("killed at write %d", n)
				}
				if whole {
					break
				}
			}
			if kills < want.commits/int(stride) {
				t.Errorf("killed %d times, though the instance alone has %d commits", kills, want.commits)
			}
			if how.before && stride == 1 && repeated == 0 {
				t.Error("no call was repeated, though processes died between its answer and the commit of that")
			}
			t.Logf("killed %d times, from write %d on at each %d.; %d calls came again", kills, first, stride, repeated)
		})
	}
}

// TestKilledAfterEveryWrite: no process lives longer than one write.
func TestKilledAfterEveryWrite(t *testing.T) {
	for _, s := range []*story{order, journey, kinds} {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			want := unharmed(t, s)
			r := newRun(t, s)
			for !r.live(command{Kill: 1}, func(c *client.Client, in api.Instance) error { return want.compare(r, c, in) }) {
				if t.Failed() || r.processes > 200 {
					t.Fatalf("in process %d", r.processes)
				}
			}
			repeated := r.check()
			if r.processes <= want.commits {
				t.Errorf("%d processes did %d commits", r.processes, want.commits)
			}
			t.Logf("%d processes; %d calls came again", r.processes, repeated)
		})
	}
}

// outcome is what an instance leaves that nobody disturbed.
type outcome struct {
	history []string // what its records tell, sorted: iterations may pass one another
	commits int      // at least
}

// unharmed is the outcome without a kill. The output and the calls are written down in the story.
func unharmed(t *testing.T, s *story) (out outcome) {
	t.Helper()
	r := newRun(t, s)
	r.live(command{}, func(c *client.Client, in api.Instance) (err error) {
		if out.history, err = r.history(c); err != nil {
			return err
		}
		out.commits = s.commits
		return out.compare(r, c, in)
	})
	if again := r.check(); again != 0 {
		t.Errorf("%d calls came again though nothing died", again)
	}
	return out
}

// compare looks at an instance that is over. It fails where the server is gone.
func (o outcome) compare(r *run, c *client.Client, in api.Instance) error {
	t := r.t
	t.Helper()
	if in.Status != api.Completed {
		t.Fatalf("the instance is %s: %+v %s", in.Status, in.Error, in.Quarantine)
	}
	var got, want any
	if err := json.Unmarshal([]byte(r.output), &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(in.Output, &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("the output is %s, %v", in.Output, err)
	}
	history, err := r.history(c)
	if err != nil {
		return err
	}
	if !slices.Equal(history, o.history) {
		t.Errorf("history tells\n%s\nwant\n%s", strings.Join(history, "\n"), strings.Join(o.history, "\n"))
	}
	events, err := c.ListEvents(context.Background(), client.EventQuery{})
	if err != nil {
		return err
	}
	taken := 0
	for _, ev := range events.Items {
		if ev.Taken {
			taken++
		}
	}
	if sent := r.sentEvents(); len(events.Items) != sent+r.emitted || taken != r.taken+r.emitted {
		t.Errorf("%d events are kept, %d were taken, want %d of %d", len(events.Items), taken, r.taken+r.emitted, sent+r.emitted)
	}
	return nil
}

// made is the part of the ids of events that tells when their instance was created.
var made = regexp.MustCompile(`~[0-9a-z]+/`)

// history reads what the records tell. It sees that they have no gap, that every call
// has one answer, and that there are as many of each type as the story says.
func (r *run) history(c *client.Client) ([]string, error) {
	r.t.Helper()
	page, err := c.GetHistory(context.Background(), r.id, client.Paging{Limit: 1000})
	if err != nil {
		return nil, err
	}
	var out []string
	times := map[string]int{}
	for i, rec := range page.Items {
		if rec.Seq != int64(i+1) {
			r.t.Errorf("record %d has the number %d", i+1, rec.Seq)
		}
		line := fmt.Sprintf("%s %s %s %d %s", rec.Type, rec.Node, rec.Name, rec.Attempt, rec.Data)
		line = made.ReplaceAllString(strings.ReplaceAll(line, r.service.URL, "SERVICE"), "~MADE/")
		for name, value := range r.beside.names {
			line = strings.ReplaceAll(line, value, name)
		}
		out = append(out, differs.ReplaceAllString(line, ""))
		what := rec.Type
		if what == "callFailed" {
			what = "returned"
		}
		if answer := fmt.Sprint(what, rec.Ticket); rec.Ticket != "" {
			if times[answer]++; times[answer] > 1 {
				r.t.Errorf("%s of %s %s happened twice", rec.Type, rec.Node, rec.Name)
			}
		}
		times[what]++
	}
	for what, want := range r.records {
		if times[what] != want {
			r.t.Errorf("history has %d records of %s, want %d", times[what], what, want)
		}
	}
	slices.Sort(out)
	return out, nil
}

// differs is what differs from run to run in an event that the instance emitted, and in where its subscription begins.
var differs = regexp.MustCompile(`"id":"key:[^"]*",|"time":"[^"]*",|,"since":"[^"]*"`)

// check looks at what is left when no process runs any more: the calls that were made, of
// which it tells how many came again, and the file.
func (r *run) check() (repeated int) {
	r.t.Helper()
	if r.beside.left != nil {
		r.beside.left()
	}
	repeated = r.service.check(r.t, r.calls)
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
