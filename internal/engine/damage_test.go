package engine

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/effect/mock"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/sqlite"
)

// mark is in whatever is stored of the instance that is to be damaged.
const mark = "QUINCE-MARMALADE"

// onFile is an engine over a database file, with a sink. It closes both with the returned function.
func onFile(t *testing.T, file string, sink *receiver) (*harness, func()) {
	t.Helper()
	db, err := sqlite.Open(file, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := newHarness(t, mock.Mocks{"f": {gives(`{"f":1}`)}}, func(c *Config) { c.Store, c.Sink = db.Namespace("default"), sink.take }, noChunks)
	return h, func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// damageCases are what an instance is at when something of it is damaged.
var damageCases = []damageCase{
	{"its call", "w", 0},
	{"the start of its child", "p", 0},
	{"its state and what it produced", "w", 1},
	{"the state of its child", "p", 1},
}

type damageCase struct {
	name, definition string
	polls            int // before it is damaged
}

// begin starts the instance that is to be damaged, and its neighbour.
func (c damageCase) begin(h *harness) {
	h.t.Helper()
	w := build("w")
	emit := w.emit("made", "")
	emit.op.(*ir.Emit).From = w.expr(jsonpath.TemplateLang, `{"mark": "{{ $.mark }}"}`)
	h.deploy(w.main(w.call("f"), emit, delay(time.Minute), w.call("f")), build("p").main(spawn("w", true)))
	for id, value := range map[string]string{"sick": mark, "well": "plain"} {
		if _, err := h.Start(context.Background(), StartRequest{Definition: c.definition, ID: id, Input: parse(h.t, `{"mark":"`+value+`"}`)}); err != nil {
			h.t.Fatal(err)
		}
	}
	for range c.polls {
		_, _ = h.Poll(context.Background()) // it tells that the sink is down
	}
}

func sinkDown() *receiver { return &receiver{answer: func(event.Event) error { return errDown }} }

// TestDamageIsSetAside flips one bit of a file wherever a value of one instance is, and goes on with the
// file: that instance is set aside and says why, unless nothing that it needs is damaged. It never goes
// on with another value, and all others end.
func TestDamageIsSetAside(t *testing.T) {
	for _, c := range damageCases {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "a.db")
			h, end := onFile(t, file, sinkDown())
			c.begin(h)
			end()
			sound, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			aside, places := 0, marks(sound)
			for _, at := range places {
				bad := bytes.Clone(sound)
				bad[at+3] ^= 1
				if goOnDamaged(t, bad, at) {
					aside++
				}
			}
			if aside == 0 {
				t.Error("nothing that is damaged matters")
			}
			t.Logf("a bit flipped at each of %d places: the instance was set aside %d times, its neighbour always ended", len(places), aside)
		})
	}
}

// marks are the places of the mark.
func marks(data []byte) (out []int) {
	for at := 0; ; at++ {
		next := bytes.Index(data[at:], []byte(mark))
		if next < 0 {
			return out
		}
		at += next
		out = append(out, at)
	}
}

// TestDamagedRowIsDeleted: an instance whose row cannot be read is listed with the reason, can be
// deleted, and leaves nothing behind.
func TestDamagedRowIsDeleted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.db")
	h, end := onFile(t, file, &receiver{})
	h.deploy(build("w").main(delay(time.Minute)))
	for id, value := range map[string]string{"sick": mark, "well": "plain"} {
		if _, err := h.Start(t.Context(), StartRequest{Definition: "w", ID: id, Input: parse(t, `{"mark":"`+value+`"}`)}); err != nil {
			t.Fatal(err)
		}
	}
	h.run(time.Hour)
	end()
	sound, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	deleted := 0
	for _, at := range marks(sound) {
		bad := bytes.Clone(sound)
		bad[at] ^= 4
		if err := os.WriteFile(file, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		h, end := onFile(t, file, &receiver{})
		if _, err := h.Get(t.Context(), "sick"); errors.Is(err, store.ErrDamaged) {
			deleted++
			list := h.list()
			if len(list) != 2 || !strings.Contains(list[0].Quarantine+list[1].Quarantine, "sick: its row is damaged") {
				t.Errorf("at %d: the list is %v", at, list)
			}
			if err := h.DeleteInstance(t.Context(), "sick", 0); err != nil {
				t.Errorf("at %d: %v", at, err)
			}
			if problems, err := h.store.Check(t.Context()); err != nil || len(problems) > 0 {
				t.Errorf("at %d: there is left %v %v", at, problems, err)
			}
			h.want("well", core.Completed, `{"mark":"plain"}`)
		}
		end()
	}
	if deleted == 0 {
		t.Error("no row was damaged")
	}
}

// TestDamageOfWhatEnded: an event that is damaged before the sink took it sets its instance aside, though it is over. Who
// gives the instance up does so for good: also where the server starts again, it is not set aside once more.
func TestDamageOfWhatEnded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.db")
	down := sinkDown()
	h, end := onFile(t, file, down)
	w := build("w")
	emit := w.emit("made", "")
	emit.op.(*ir.Emit).From = w.expr(jsonpath.TemplateLang, `{"mark": "{{ $.mark }}"}`)
	h.deploy(w.main(emit))
	if _, err := h.Start(t.Context(), StartRequest{Definition: "w", ID: "sick", Input: parse(t, `{"mark":"`+mark+`"}`)}); err != nil {
		t.Fatal(err)
	}
	_, _ = h.Poll(t.Context()) // it tells that the sink is down
	h.want("sick", core.Completed, "")
	end()
	sound, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	aside := 0
	for _, at := range marks(sound) {
		for _, verb := range []core.Verb{core.VerbResume, core.VerbTerminate} {
			bad := bytes.Clone(sound)
			bad[at+3] ^= 1
			if err := os.WriteFile(file, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			h, end := onFile(t, file, down)
			_, _ = h.Poll(t.Context())
			in, err := h.store.Instance(t.Context(), "sick")
			if err != nil || in.Quarantine == "" {
				end()
				continue
			}
			aside++
			if err := h.Control(t.Context(), "sick", core.Control{Verb: verb}); err != nil {
				t.Errorf("at %d: %s: %v", at, verb, err)
			}
			_, _ = h.Poll(t.Context())
			end()
			h, end = onFile(t, file, down)
			_, _ = h.Poll(t.Context())
			if in, err = h.store.Instance(t.Context(), "sick"); err != nil || !in.Status.Final() || verb == core.VerbTerminate && in.Quarantine != "" {
				t.Errorf("at %d: after %s it is %s, in quarantine: %q %v", at, verb, in.Status, in.Quarantine, err)
			}
			end()
		}
	}
	if aside == 0 {
		t.Error("no event was damaged")
	}
}

// reluctant does not set instances aside at first.
type reluctant struct {
	store.Store
	left int // how often
}

func (r *reluctant) Commit(ctx context.Context, c store.Commit) error {
	if c.Instance.Quarantine != "" && r.left > 0 {
		r.left--
		return errDown
	}
	return r.Store.Commit(ctx, c)
}

// TestDamageIsSetAsideLater: calls are listed when the engine begins. If the instance of a damaged one cannot be set aside then, it
// is later.
func TestDamageIsSetAsideLater(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.db")
	h, end := onFile(t, file, sinkDown())
	damageCases[0].begin(h)
	end()
	sound, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for _, at := range marks(sound) {
		bad := bytes.Clone(sound)
		bad[at+3] ^= 1
		if err := os.WriteFile(file, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := sqlite.Open(file, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		calls, damaged := db.Namespace("default").Calls(t.Context(), "")
		if damaged != nil {
			s := &reluctant{db.Namespace("default"), 8}
			h := newHarness(t, mock.Mocks{"f": {gives(`{"f":1}`)}}, func(c *Config) { c.Store = s }, noChunks)
			for range 10 {
				_, _ = h.Poll(t.Context())
				if next, ok := h.Next(); s.left > 0 && (!ok || next.After(h.clock.Now().Add(time.Second))) {
					t.Errorf("at %d: it is tried again at %v %v", at, next, ok)
				}
			}
			if in, err := h.store.Instance(t.Context(), "sick"); err != nil || in.Quarantine == "" || s.left > 0 {
				t.Errorf("at %d: it is %s, in quarantine %q, %d left: %v", at, in.Status, in.Quarantine, s.left, err)
			}
			refused += 2 - len(calls)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
	if refused == 0 {
		t.Error("no call was damaged")
	}
}

// goOnDamaged goes on with a file that is damaged, and says whether an instance was set aside.
func goOnDamaged(t *testing.T, data []byte, at int) bool {
	t.Helper()
	file := filepath.Join(t.TempDir(), "bad.db")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	h, end := onFile(t, file, &receiver{})
	defer end()
	return h.goesOn(t, at)
}

// goesOn runs until everything is over that can be, sees what became of the damaged instance and its neighbour, and says whether
// one was set aside. at is what is damaged.
func (h *harness) goesOn(t *testing.T, at any) bool {
	t.Helper()
	ctx := context.Background()
	problems, err := h.store.Check(ctx)
	if err != nil {
		t.Fatalf("at %v: %v", at, err)
	}
	for range 5 {
		_, _ = h.Poll(ctx) // what it tells is in the instances
		h.clock.Advance(h.clock.Now().Add(time.Hour))
	}
	h.clock.Advance(h.clock.Now().Add(48 * time.Hour))
	h.poll() // also of what is damaged nothing is left that stops others
	h.want("well", core.Completed, "")
	aside := false
	for _, in := range h.list() {
		if text := in.Output.String(); in.Status == core.Completed && strings.Contains(text, "MARMALADE") && !strings.Contains(text, mark) {
			t.Errorf("at %v: %s ends with %s", at, in.ID, text)
		}
		if in.Quarantine == "" {
			if _, err := h.store.Records(ctx, in.ID, 0, 0); errors.Is(err, store.ErrDamaged) && len(problems) == 0 {
				t.Errorf("at %v: the check does not tell that %v", at, err)
			}
			continue
		}
		aside = true
		if !strings.Contains(in.Quarantine, "damaged: the checksum differs") || strings.Contains(in.ID, "well") {
			t.Errorf("at %v: %s is set aside: %s", at, in.ID, in.Quarantine)
		}
		if len(problems) == 0 {
			t.Errorf("at %v: the check does not tell that %s is damaged", at, in.ID)
		}
		if err := h.Control(ctx, in.ID, core.Control{Verb: core.VerbTerminate}); err != nil {
			t.Errorf("at %v: terminate %s: %v", at, in.ID, err)
		}
		h.want(in.ID, core.Terminated, "")
	}
	for _, e := range h.events(t) {
		if text := e.Event.Data.String(); strings.Contains(text, "MARMALADE") && !strings.Contains(text, mark) {
			t.Errorf("at %v: there is an event with %s", at, text)
		}
	}
	return aside
}

func (h *harness) events(t *testing.T) []store.Event {
	t.Helper()
	page, err := h.EventPage(context.Background(), store.EventQuery{})
	if err != nil {
		t.Fatal(err)
	}
	return page.Events
}
