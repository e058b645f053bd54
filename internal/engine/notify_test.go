package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/expr/languages"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/memory"
)

// noticeBoard remembers notices.
type noticeBoard struct {
	mu   sync.Mutex
	got  []event.Event
	down bool
}

func (b *noticeBoard) take(_ context.Context, e event.Event) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.down {
		return errDown
	}
	b.got = append(b.got, e)
	return nil
}

func (b *noticeBoard) set(down bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.down = down
}

// lines are the notices as type and instance, and begin anew.
func (b *noticeBoard) lines() (out []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.got {
		out = append(out, strings.TrimPrefix(e.Type, "lockstep.instance.")+" "+e.Subject)
	}
	b.got = nil
	slices.Sort(out)
	return out
}

const failing = "- broken: {raise: {error: {type: https://example.com/e, status: 500, title: Broken, detail: it broke}}}\n"

// TestNotices: a receiver hears of each failure and of each instance that waits too long, once it is back and after a
// restart. One that is down does not hold up another.
func TestNotices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all, some := &noticeBoard{}, &noticeBoard{}
		var reported atomic.Value
		cfg := Config{
			Store: memory.New(), Languages: languages.All(), OnError: func(err error) { reported.Store(err.Error()) },
			Notify: []Notify{
				{Name: "all", Send: all.take, Waiting: time.Hour},
				{Name: "some", Send: some.take, Only: func(in *store.Instance) bool { return in.ID == "c" || in.ID == "w2" }},
			},
		}
		e, stop := running(t, cfg, openWorkflow(t, "fails", failing), openWorkflow(t, "waits", "- nap: {wait: PT3H}\n"))
		start := func(definition, id string) {
			t.Helper()
			if _, err := e.Start(t.Context(), StartRequest{Definition: definition, ID: id, Input: parse(t, `{}`)}); err != nil {
				t.Fatal(err)
			}
		}
		pass := func(d time.Duration) {
			time.Sleep(d) // virtual
			synctest.Wait()
		}
		pass(time.Second)
		start("test.fails", "a")
		start("test.waits", "w1")
		pass(5 * time.Second)
		wantLines(t, "a failure", all.lines(), "failed a")
		pass(30 * time.Minute)
		start("test.waits", "w2")
		wantLines(t, "not too long yet", all.lines())
		pass(31 * time.Minute)
		wantLines(t, "an hour", all.lines(), "waiting w1")
		if err := e.Control(t.Context(), "w2", core.Control{Verb: core.VerbCancel}); err != nil {
			t.Fatal(err)
		}
		pass(time.Hour)
		wantLines(t, "one that does not wait any more", all.lines())

		all.set(true)
		start("test.fails", "b")
		start("test.fails", "c")
		pass(time.Minute)
		wantLines(t, "while another is down", some.lines(), "failed c")
		if text, _ := reported.Load().(string); !strings.HasSuffix(text, "sent again: webhook all: "+errDown.Error()) {
			t.Errorf("reported: %q", text)
		}
		figures := e.NoticeFigures()
		if f := figures[0]; f.Sent != 2 || f.Failed == 0 || f.Behind < 50*time.Second || figures[1].Behind != 0 {
			t.Errorf("figures %+v", figures)
		}
		stop()
		e, stop = running(t, cfg)
		defer func() { stop() }()
		start("test.fails", "d")
		pass(time.Minute)
		all.set(false)
		pass(2 * time.Minute)
		wantLines(t, "when it is back", all.lines(), "failed b", "failed c", "failed d")
		if f := e.NoticeFigures()[0]; f.Sent != 3 || f.Behind != 0 {
			t.Errorf("figures %+v", f)
		}
	})
}

// TestNoticeContent: a notice says what failed, where and why, in a bounded size.
func TestNoticeContent(t *testing.T) {
	b := &noticeBoard{}
	h := newHarness(t, nil, func(cfg *Config) {
		cfg.Languages, cfg.Notify = languages.All(), []Notify{{Name: "n", Send: b.take}}
	})
	r := h.notices[0][0]
	if _, err := h.relayPart(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	h.deploy(openWorkflow(t, "w", strings.Replace(failing, "it broke", strings.Repeat("ä", 5000), 1)))
	id := h.start("test.w", `{"secret": 1}`)
	if _, err := h.relayPart(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if len(b.got) != 1 {
		t.Fatalf("%d notices", len(b.got))
	}
	n := b.got[0]
	if err := n.Check(); err != nil {
		t.Error(err)
	}
	text := n.Data.String()
	for _, want := range []string{`"definition":"test.w"`, `"instance":"` + id + `"`, `"status":"failed"`, `"state":"broken"`, `"name":"Broken"`, `"type":"https://example.com/e"`, `"endedAt":"`} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in %s", want, text)
		}
	}
	if n.Type != NoticeFailed || n.Source != "lockstep/default/test.w" || n.Subject != id || strings.Contains(text, "secret") || len(text) > 2000 {
		t.Errorf("%+v", n)
	}
}

// TestNoticesSurvive kills the process after each notice, before it stores how far it is: every failure arrives, and
// again only under the id that it had.
func TestNoticesSurvive(t *testing.T) {
	for dies := range 6 {
		b := &noticeBoard{}
		var left atomic.Int64 // notices that arrive before it dies; several are sent at a time
		left.Store(int64(dies))
		send := func(ctx context.Context, e event.Event) error {
			if left.Add(-1) < 0 {
				return errDead
			}
			return b.take(ctx, e)
		}
		mortal := &mortalPublisher{}
		h := newHarness(t, nil, func(cfg *Config) {
			mortal.Store, cfg.Store = cfg.Store, mortal
			cfg.Languages, cfg.Notify = languages.All(), []Notify{{Name: "n", Send: send}}
		})
		if _, err := h.relayPart(t.Context(), h.notices[0][0]); err != nil {
			t.Fatal(err)
		}
		h.deploy(openWorkflow(t, "w", failing))
		want := map[string]bool{}
		for i := range 5 {
			want[h.start("test.w", fmt.Sprintf(`{"n": %d}`, i))] = true
		}
		mortal.dies = true
		if _, err := h.relayPart(t.Context(), h.notices[0][0]); !errors.Is(err, errDead) {
			t.Fatalf("it did not die: %v", err)
		}
		left.Store(math.MaxInt64)
		mortal.dies = false
		again := h.noticeRelays(&h.cfg.Notify[0])[0] // the next process
		if _, err := h.relayPart(t.Context(), again); err != nil {
			t.Fatal(err)
		}
		ids := map[string]string{}
		for _, e := range b.got {
			if old, known := ids[e.Subject]; known && old != e.ID {
				t.Errorf("notices of %s have the ids %s and %s", e.Subject, old, e.ID)
			}
			ids[e.Subject] = e.ID
			delete(want, e.Subject)
		}
		if len(want) > 0 {
			t.Errorf("dies after %d: no notice of %v", dies, want)
		}
	}
}
