package wfx_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	wfxdef "github.com/lockstep-workflows/lockstep/internal/dialect/wfx"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/server/feed"
	"github.com/lockstep-workflows/lockstep/internal/server/wfx"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// bounded serves the south of a world with limits of its own.
func (w *world) bounded(limits wfx.Limits) *side {
	w.t.Helper()
	tail := feed.NewTail(w.engine, func(*store.FeedItem) ([]byte, error) { return nil, nil })
	unbounded := func(context.Context) (func(), error) { return func() {}, nil }
	v := wfx.New(wfx.Config{
		Engine: w.engine, Registry: dialect.NewRegistry(wfxdef.FrontEnd{}), Tail: tail, Clock: engine.RealClock{}, Limits: limits,
		Stream: func(context.Context) (func(), func() bool, error) { return func() {}, nil, nil }, Heavy: unbounded, Client: wfx.HeaderClient, AllowOrigin: func(*http.Request) string { return "" },
	})
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if err := v.Serve(wfx.South, rw, r, v.Find(r), wfx.Hooks{Admit: func(string) error { return nil }}); err != nil {
			http.Error(rw, err.Error(), http.StatusServiceUnavailable)
		}
	}))
	w.t.Cleanup(s.Close)
	return newSide(w.t, s)
}

func TestHistoriesAreBoundedInBytes(t *testing.T) {
	w := newWorld(t, nil)
	w.kanban()
	id := w.create(`{"clientId":"dana","workflow":"wfx.workflow.kanban"}`)
	text := strings.Repeat("x", 50_000)
	for i := range 8 {
		w.south.do("PUT", "/jobs/"+id+"/definition", fmt.Sprintf(`{"n":%d,"text":"%s"}`, i, text)).want(200)
	}
	entries := func(a answered) int {
		t.Helper()
		history, _ := parse(t, a.want(200).text).Get("history")
		return history.Len()
	}
	whole := w.south.get("/jobs/" + id + "?history=true")
	if n := entries(whole); n != 7 || whole.header.Get("X-History-Truncated") != "" {
		t.Errorf("%d entries, %v", n, whole.header)
	}
	few := w.bounded(wfx.Limits{History: 200_000, Filtered: 100_000})
	cut := few.get("/jobs/" + id + "?history=true")
	if n := entries(cut); n == 0 || n > 3 || cut.header.Get("X-History-Truncated") != "true" {
		t.Errorf("%d entries, %v", n, cut.header)
	}
	// A filter is not given more than it may have, also where that is no list.
	few.get("/jobs/"+id+"?history=true", "X-Response-Filter", ".history|length").want(400).says("wfx-filter-input")
	few.get("/jobs/"+id, "X-Response-Filter", ".definition.n").want(200).is(`7`)
	for i := range 3 {
		w.create(fmt.Sprintf(`{"clientId":"c%d","workflow":"wfx.workflow.kanban","definition":{"text":"%s"}}`, i, text))
	}
	few.get("/jobs?limit=0", "X-Response-Filter", ".content|length").want(400).says("wfx-filter-input")
	few.get("/jobs?limit=1", "X-Response-Filter", ".content|length").want(200).is(`1`)
}

// TestTheTailIsBoundedInBytes: what items have beside their text counts, too.
func TestTheTailIsBoundedInBytes(t *testing.T) {
	w := newWorld(t, nil)
	w.kanban()
	tail := feed.NewTail(w.engine, func(*store.FeedItem) ([]byte, error) { return []byte("x"), nil })
	begin, err := tail.Position(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	id := w.create(`{"clientId":"dana","workflow":"wfx.workflow.kanban"}`)
	text := strings.Repeat("x", feed.MaxBytes*3/5) // two do not fit
	const n = 8
	for i := range n {
		w.south.do("PUT", "/jobs/"+id+"/definition", fmt.Sprintf(`{"n":%d,"text":"%s"}`, i, text)).want(200)
	}
	if _, err := tail.After(t.Context(), begin, true); err != nil {
		t.Fatal(err)
	}
	if kept, _ := tail.Kept(); kept != 1 {
		t.Errorf("the tail keeps %d of %d items, each of which is most of what it may have", kept, n+1)
	}
	got, parts := 0, 0
	for pos, more := begin, true; more; parts++ {
		p, err := tail.Stored(t.Context(), pos)
		if err != nil {
			t.Fatal(err)
		}
		got, pos, more = got+len(p.Items), p.Next, p.More
	}
	if got != n+1 || parts < n-1 {
		t.Errorf("%d items in %d parts", got, parts)
	}
	p, err := tail.After(t.Context(), begin, false)
	if err != nil {
		t.Fatal(err)
	}
	s := w.south.follow("", "Last-Event-ID", fmt.Sprint(begin<<16))
	for i := range n + 1 { // in parts that are not full there is no end
		if f := s.next(); i > 0 && f.action() != "UPDATE_DEFINITION" {
			t.Errorf("event %d is %s; the first part has %d items", i, f.action(), len(p.Items))
		}
	}
}

func TestProgressIsAnInteger(t *testing.T) {
	w := newWorld(t, nil)
	w.kanban()
	id := w.create(`{"clientId":"dana","workflow":"wfx.workflow.kanban"}`)
	for _, bad := range []string{"1e1", "10.0", "1E2", "1000000e-5", "1.5", "101", "-2147483649", "1e999", `"5"`, "true"} {
		w.south.do("PUT", "/jobs/"+id+"/status", `{"state":"NEW","progress":`+bad+`}`).plain(400).says(`progress must be an integer from -2147483648 to 100`)
	}
	for good, told := range map[string]string{"100": "100", "0": "0", "-0": "0", "-2147483648": "-2147483648"} {
		a := w.south.do("PUT", "/jobs/"+id+"/status", `{"state":"NEW","progress":`+good+`}`).want(200).says(`"progress":` + told + `,`)
		var status struct{ Progress int32 }
		if err := json.Unmarshal([]byte(a.text), &status); err != nil {
			t.Error(err)
		}
	}
}

// TestNumbersAreThoseOfOthers: a number that most clients cannot read would take the list
// from them that it is in.
func TestNumbersAreThoseOfOthers(t *testing.T) {
	w := newWorld(t, nil)
	w.kanban()
	id := w.create(`{"clientId":"dana","workflow":"wfx.workflow.kanban"}`)
	w.north.do("POST", "/jobs", `{"clientId":"dana","workflow":"wfx.workflow.kanban","definition":{"a":[1e999]}}`).want(400).says("/definition/a/0: the number is too large")
	w.south.do("PUT", "/jobs/"+id+"/definition", `{"a":-1e999}`).want(400).says("/definition/a: the number is too large")
	w.south.do("PUT", "/jobs/"+id+"/status", `{"state":"NEW","context":{"a":1e999}}`).want(400).says("/context/a: the number is too large")
	var list any
	if err := json.Unmarshal([]byte(w.south.get("/jobs").want(200).text), &list); err != nil {
		t.Error(err)
	}
}

func TestFarTimes(t *testing.T) {
	w := newWorld(t, nil)
	w.kanban()
	for range 3 {
		w.create(`{"clientId":"dana","workflow":"wfx.workflow.kanban"}`)
	}
	for query, want := range map[string]int{
		"stimeFrom=9999-12-31T23:59:59Z": 0, "stimeTo=9999-12-31T23:59:59Z": 3, "stimeTo=1970-01-01T00:00:00Z": 0, "stimeFrom=1970-01-01T00:00:00Z": 3,
		"stimeFrom=0001-01-01T00:00:00Z": 3, "stimeTo=0001-01-01T00:00:00Z": 0, "mtimeFrom=2300-01-01T00:00:00Z": 0, "mtimeTo=2300-01-01T00:00:00Z": 3,
	} {
		if got := strings.Count(w.south.get("/jobs?"+query).want(200).text, `"stime"`); got != want {
			t.Errorf("%s: %d jobs, want %d", query, got, want)
		}
	}
}

func TestDeepValues(t *testing.T) {
	w := newWorld(t, nil)
	w.kanban()
	deep := func(n int) string { return strings.Repeat(`{"a":`, n) + `1` + strings.Repeat(`}`, n) }
	for _, n := range []int{504, 507, 509} {
		w.north.do("POST", "/jobs", `{"clientId":"dana","workflow":"wfx.workflow.kanban","definition":`+deep(n)+`}`).want(400)
	}
	id := w.create(`{"clientId":"dana","workflow":"wfx.workflow.kanban","definition":` + deep(503) + `}`)
	w.south.do("PUT", "/jobs/"+id+"/status", `{"state":"NEW","context":`+deep(504)+`}`).want(400).says("too deep")
	w.south.do("PUT", "/jobs/"+id+"/status", `{"state":"PROGRESS","context":`+deep(504)+`}`).want(400).says("too deep")
	w.south.do("PUT", "/jobs/"+id+"/status", `{"state":"DONE"}`).want(400).says("transition from 'NEW' to 'DONE'")
	w.south.do("PUT", "/jobs/"+id+"/status", `{"state":"PROGRESS","context":`+deep(502)+`}`).want(200)
	w.south.get("/jobs", "X-Response-Filter", ".content|length").want(200).is(`1`)
}

// TestAJobThatWasGivenUp says so, whatever is to be changed.
func TestAJobThatWasGivenUp(t *testing.T) {
	w := newWorld(t, nil)
	w.kanban()
	id := w.create(`{"clientId":"dana","workflow":"wfx.workflow.kanban"}`)
	if err := w.engine.Control(t.Context(), id, core.Control{Verb: core.VerbCancel}); err != nil {
		t.Fatal(err)
	}
	const why = "the job is cancelled and cannot be changed any more; its state stays 'NEW'"
	for _, state := range []string{"NEW", "PROGRESS", "NOWHERE"} {
		w.south.do("PUT", "/jobs/"+id+"/status", `{"state":"`+state+`"}`).refused(400, "wfx.invalidRequest", why)
	}
	w.south.do("PUT", "/jobs/"+id+"/definition", `{}`).refused(400, "wfx.invalidRequest", why)
	w.north.do("POST", "/jobs/"+id+"/tags", `["x"]`).refused(400, "wfx.invalidRequest", why)
	w.north.do("DELETE", "/jobs/"+id+"/tags", `["x"]`).refused(400, "wfx.invalidRequest", why)
	w.north.do("DELETE", "/jobs/"+id, "").want(204)
}

func TestEqualTagsCountOnce(t *testing.T) {
	w := newWorld(t, nil)
	w.kanban()
	tags := func(n int, format string) string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf(`"`+format+`"`, i))
		}
		return `{"clientId":"dana","workflow":"wfx.workflow.kanban","tags":[` + strings.Join(list, ",") + `]}`
	}
	w.north.do("POST", "/jobs", strings.ReplaceAll(tags(17, "tag%d"), `"tag16"`, `"tag0"`)).want(201)
	w.north.do("POST", "/jobs", tags(16, "tag%d")).want(201)
	w.north.do("POST", "/jobs", tags(17, "tag%d")).plain(400).says("wfx-tags")
}

func TestALongFilterComesBack(t *testing.T) {
	w := newWorld(t, nil)
	filter := "[" + strings.Repeat("1,", 1500) + "1]|length"
	if got := w.south.get("/jobs", "X-Response-Filter", filter).want(200).is(`1501`).header.Get("X-Response-Filter"); got != filter {
		t.Errorf("of %d bytes %d come back", len(filter), len(got))
	}
}

// TestBodiesOfDevices: what a device sends is kept for as long as its job, so it is bounded
// more than what operators send.
func TestBodiesOfDevices(t *testing.T) {
	w := newWorld(t, nil)
	w.kanban()
	id := w.create(`{"clientId":"dana","workflow":"wfx.workflow.kanban"}`)
	definition := func(bytes int) string { return `{"text":"` + strings.Repeat("x", bytes) + `"}` }
	w.south.do("PUT", "/jobs/"+id+"/definition", definition(1<<20-100)).want(200)
	w.south.do("PUT", "/jobs/"+id+"/definition", definition(1<<20)).plain(413).says("device-request-bytes")
	w.south.do("PUT", "/jobs/"+id+"/status", `{"state":"NEW","context":`+definition(1<<20)+`}`).plain(413)
	w.north.do("PUT", "/jobs/"+id+"/definition", definition(3<<20)).want(200)
	w.north.do("PUT", "/jobs/"+id+"/definition", definition(4<<20)).plain(413).says("request-bytes")
}
