package wfx_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/server"
	"github.com/lockstep-workflows/lockstep/internal/server/wfx"
)

// stream is an open stream of events.
type stream struct {
	t      *testing.T
	lines  *bufio.Scanner
	cancel func()
}

// frame is one event.
type frame struct{ id, data string }

func (f frame) action() string {
	_, rest, _ := strings.Cut(f.data, `"action":"`)
	action, _, _ := strings.Cut(rest, `"`)
	return action
}

// follow opens a stream, and waits until it is there.
func (s *side) follow(query string, headers ...string) *stream {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	s.t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, "GET", s.url+wfx.Base+"/jobs/events"+query, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	a, err := s.client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = a.Body.Close() })
	if a.StatusCode != 200 || a.Header.Get("Content-Type") != "text/event-stream" {
		s.t.Fatalf("%d %v", a.StatusCode, a.Header)
	}
	out := &stream{s.t, bufio.NewScanner(a.Body), cancel}
	out.lines.Buffer(nil, 1<<20)
	out.comment("keepalive")
	return out
}

func (s *stream) line() string {
	s.t.Helper()
	if !s.lines.Scan() {
		s.t.Fatalf("the stream ended: %v", s.lines.Err())
	}
	return s.lines.Text()
}

func (s *stream) comment(want string) {
	s.t.Helper()
	if got, blank := s.line(), s.line(); got != ": "+want || blank != "" {
		s.t.Fatalf("%q %q, want the comment %q", got, blank, want)
	}
}

// next reads an event, and holds it to the contract and to the form that clients expect.
func (s *stream) next() frame {
	s.t.Helper()
	first := s.line()
	for strings.HasPrefix(first, ":") {
		s.line()
		first = s.line()
	}
	data, isData := strings.CutPrefix(first, "data: ")
	id, isID := strings.CutPrefix(s.line(), "id: ")
	if blank := s.line(); !isData || !isID || blank != "" {
		s.t.Fatalf("%q, %q, %q is no event", first, id, blank)
	}
	if err := theContract().CheckNamed("JobEvent", parse(s.t, data)); err != nil {
		s.t.Error(err)
	}
	return frame{id, data}
}

func (s *stream) take(n int) (out []frame) {
	s.t.Helper()
	for range n {
		out = append(out, s.next())
	}
	return out
}

// TestEvents tells the life of a job.
func TestEvents(t *testing.T) {
	w := newWorld(t, nil)
	w.north.do("POST", "/workflows", file(t, "relay.json")).want(201)
	s := w.south.follow("")
	id := w.create(`{"clientId":"dana","workflow":"relay","tags":["x"],"definition":{"a":1}}`)
	w.south.do("PUT", "/jobs/"+id+"/status", `{"state":"OPEN","progress":3}`).want(200)
	w.south.do("PUT", "/jobs/"+id+"/definition", `{"b":2}`).want(200)
	w.south.do("PUT", "/jobs/"+id+"/status", `{"state":"MIDDLE","message":"there"}`).want(200)
	w.north.do("POST", "/jobs/"+id+"/tags", `["y"]`).want(200)
	w.north.do("DELETE", "/jobs/"+id+"/tags", `["x"]`).want(200)
	w.north.do("POST", "/jobs/"+id+"/tags", `["y"]`).want(200) // changes nothing
	w.north.do("DELETE", "/jobs/"+id, "").want(204)
	before, after := hashed(`["a":1E+00]`), hashed(`["b":2E+00]`)
	head := `{"ctime":"TIME1","action":"%s","job":{"clientId":"dana",`
	for _, want := range []string{
		fmt.Sprintf(head, "CREATE") + `"definition":{"a":1},"id":"ID1","mtime":"TIME2","status":{"clientId":"dana","definitionHash":"` + before + `","state":"OPEN"},"stime":"TIME2","tags":["x"],"workflow":` + relay + `},"tags":[]}`,
		fmt.Sprintf(head, "UPDATE_STATUS") + `"id":"ID1","mtime":"TIME2","status":{"definitionHash":"` + before + `","progress":3,"state":"OPEN"},"workflow":{"name":"relay"}},"tags":[]}`,
		fmt.Sprintf(head, "UPDATE_DEFINITION") + `"definition":{"b":2},"id":"ID1","mtime":"TIME2","status":{"definitionHash":"` + after + `","state":"OPEN"},"workflow":{"name":"relay"}},"tags":[]}`,
		fmt.Sprintf(head, "UPDATE_STATUS") + `"id":"ID1","mtime":"TIME2","status":{"definitionHash":"` + after + `","message":"there","state":"CLOSED"},"workflow":{"name":"relay"}},"tags":[]}`,
		fmt.Sprintf(head, "ADD_TAGS") + `"id":"ID1","mtime":"TIME2","tags":["x","y"],"workflow":{"name":"relay"}},"tags":[]}`,
		fmt.Sprintf(head, "DELETE_TAGS") + `"id":"ID1","mtime":"TIME2","tags":["y"],"workflow":{"name":"relay"}},"tags":[]}`,
		fmt.Sprintf(head, "DELETE") + `"id":"ID1","workflow":{"name":"relay"}},"tags":[]}`,
	} {
		f := s.next()
		if got := masked(f.data); got != want {
			t.Errorf("event\n%s\nwant\n%s", got, want)
		}
		_, ctime, _ := strings.Cut(f.data, `{"ctime":"`)
		if ctime, _, _ = strings.Cut(ctime, `"`); len(ctime) != len("2006-01-02T15:04:05.000Z") {
			t.Errorf("the time %s has not milliseconds", ctime)
		}
	}
}

func TestEventFilters(t *testing.T) {
	w := newWorld(t, nil)
	w.kanban()
	w.north.do("POST", "/workflows", file(t, "relay.json")).want(201)
	first := w.create(`{"clientId":"a","workflow":"relay"}`)
	streams := map[string]*stream{}
	for _, query := range []string{
		"", "?clientIds=a", "?clientIds=b,c", "?jobIds=" + first, "?workflows=relay", "?workflows=relay&clientIds=b",
		"?actions=create", "?actions=UPDATE_STATUS,DELETE&clientIds=b", "?tags=one,two&clientIds=b&actions=DELETE", "?clientIds=&jobIds=&actions=DELETE",
	} {
		streams[query] = w.south.follow(query)
	}
	streams["dana"] = w.south.follow("", "X-Client-Id", "b")
	streams["dana, other"] = w.south.follow("?clientIds=a", "X-Client-Id", "b")
	second := w.create(`{"clientId":"b","workflow":"wfx.workflow.kanban"}`)
	w.south.do("PUT", "/jobs/"+first+"/status", `{"state":"MIDDLE"}`).want(200)
	w.south.do("PUT", "/jobs/"+second+"/status", `{"state":"PROGRESS"}`).want(200)
	w.north.do("DELETE", "/jobs/"+second, "").want(204)
	w.create(`{"clientId":"c","workflow":"wfx.workflow.kanban"}`)
	w.create(`{"clientId":"end","workflow":"relay"}`)
	stop := w.create(`{"clientId":"b","workflow":"relay","tags":["end"]}`)
	w.north.do("DELETE", "/jobs/"+stop, "").want(204)
	for query, want := range map[string]string{
		"":                                   "CREATE:b UPDATE_STATUS:a UPDATE_STATUS:b DELETE:b CREATE:c CREATE:end CREATE:b DELETE:b",
		"?clientIds=a":                       "UPDATE_STATUS:a",
		"?clientIds=b,c":                     "CREATE:b UPDATE_STATUS:b DELETE:b CREATE:c CREATE:b DELETE:b",
		"?jobIds=" + first:                   "UPDATE_STATUS:a",
		"?workflows=relay":                   "UPDATE_STATUS:a CREATE:end CREATE:b DELETE:b",
		"?workflows=relay&clientIds=b":       "CREATE:b UPDATE_STATUS:a UPDATE_STATUS:b DELETE:b CREATE:end CREATE:b DELETE:b",
		"?actions=create":                    "CREATE:b CREATE:c CREATE:end CREATE:b",
		"?clientIds=&jobIds=&actions=DELETE": "DELETE:b DELETE:b",
		"?actions=UPDATE_STATUS,DELETE&clientIds=b": "UPDATE_STATUS:b DELETE:b DELETE:b",
		"dana": "CREATE:b UPDATE_STATUS:b DELETE:b CREATE:b DELETE:b",
	} {
		var got []string
		for _, f := range streams[query].take(len(strings.Fields(want))) {
			client, _ := parse(t, f.data).Lookup("job", "clientId")
			got = append(got, f.action()+":"+client.Str())
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", query, got, want)
		}
	}
	if f := streams["?tags=one,two&clientIds=b&actions=DELETE"].next(); !strings.HasSuffix(f.data, `,"tags":["one","two"]}`) {
		t.Errorf("the stream's tags are not in %s", f.data)
	}
	w.south.get("/jobs/events?actions=CREATE,BREATHE").want(400).says("'BREATHE' is not an action")
	w.south.get("/jobs/events", "Last-Event-ID", "yesterday").plain(400)
	w.south.get("/jobs/events", "Last-Event-ID", "-1").plain(400)
	w.south.do("HEAD", "/jobs/events", "").want(200)

	// One that is held to a client sees nothing of another, whatever it asks for.
	mine := w.create(`{"clientId":"b","workflow":"relay"}`)
	again := w.south.follow("?clientIds=a,b", "X-Client-Id", "b", "Last-Event-ID", "0")
	for {
		f := again.next()
		if client, _ := parse(t, f.data).Lookup("job", "clientId"); client.Str() != "b" {
			t.Errorf("it got %s", f.data)
		}
		if strings.Contains(f.data, mine) {
			break
		}
	}
}

// TestReconnect: a stream that is cut off after every event, by the client or by a server
// that is started anew, tells the same as one that is not: nothing is missed, nothing comes twice.
func TestReconnect(t *testing.T) {
	w := newWorld(t, nil)
	w.kanban()
	whole := w.south.follow("")
	id := w.create(`{"clientId":"dana","workflow":"wfx.workflow.kanban"}`)
	const writers, each = 16, 8
	var all sync.WaitGroup
	for i := range writers {
		all.Add(1)
		go func() {
			defer all.Done()
			for n := range each {
				w.south.do("PUT", "/jobs/"+id+"/status", fmt.Sprintf(`{"state":"NEW","message":"%d.%d"}`, i, n)).want(200)
			}
		}()
	}
	all.Wait()
	w.north.do("DELETE", "/jobs/"+id, "").want(204)
	other := w.create(`{"clientId":"parker","workflow":"wfx.workflow.kanban"}`)
	want := whole.take(1 + writers*each + 2)
	ids := map[string]bool{}
	for _, f := range want {
		ids[f.id] = true
	}
	if len(ids) != len(want) {
		t.Fatalf("%d events have %d ids", len(want), len(ids))
	}

	file := w.file
	var got []frame
	last := "0"
	for len(got) < len(want) {
		if len(got) == 10 || len(got) == 40 {
			w.stop()
			w = openWorld(t, file, nil)
		}
		s := w.south.follow("", "Last-Event-ID", last)
		f := s.next()
		s.cancel()
		got, last = append(got, f), f.id
	}
	// The hash of the definition of a job that was deleted is not known any more.
	for i := range want {
		want[i].data = strings.ReplaceAll(want[i].data, `"definitionHash":"`+noDefinition+`",`, "")
		got[i].data = strings.ReplaceAll(got[i].data, `"definitionHash":"`+noDefinition+`",`, "")
	}
	if !slices.Equal(got, want) {
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("event %d is %v, want %v", i, got[i], want[i])
			}
		}
	}
	s := w.south.follow("", "Last-Event-ID", last)
	w.south.do("PUT", "/jobs/"+other+"/status", `{"state":"PROGRESS"}`).want(200)
	if f := s.next(); f.action() != "UPDATE_STATUS" || !strings.Contains(f.data, other) {
		t.Errorf("then comes %v", f)
	}
	far := w.south.follow("", "Last-Event-ID", "9000000000000000") // of another database
	w.south.do("PUT", "/jobs/"+other+"/status", `{"state":"VALIDATE"}`).want(200)
	if f := far.next(); !strings.Contains(f.data, "VALIDATE") {
		t.Errorf("then comes %v", f)
	}
}

// TestManyUpdatesInOneCommit: updates that come together may share a commit. Each is an
// event of its own, and a stream can go on behind any of them.
func TestManyUpdatesInOneCommit(t *testing.T) {
	w := newWorld(t, nil)
	w.kanban()
	id := w.create(`{"clientId":"dana","workflow":"wfx.workflow.kanban"}`)
	s := w.south.follow("")
	shared := false
	for round := 0; !shared; round++ {
		if round == 200 {
			t.Fatal("no two updates ever shared a commit")
		}
		var all sync.WaitGroup
		const writers = 32
		for i := range writers {
			all.Add(1)
			go func() {
				defer all.Done()
				if _, err := w.engine.UpdateJob(t.Context(), id, engine.JobUpdate{Actor: "CLIENT", Status: parse(t, fmt.Sprintf(`{"state":"NEW","progress":%d}`, i))}); err != nil {
					t.Error(err)
				}
			}()
		}
		all.Wait()
		frames := s.take(writers)
		for i := 1; i < writers; i++ {
			before, after := number64(t, frames[i-1].id), number64(t, frames[i].id)
			if after <= before {
				t.Fatalf("%d comes after %d", after, before)
			}
			if after == before+1 {
				shared = true
				again := w.south.follow("", "Last-Event-ID", frames[i-1].id)
				if f := again.next(); f != frames[i] {
					t.Fatalf("behind %s comes %v, want %v", frames[i-1].id, f, frames[i])
				}
				again.cancel()
			}
		}
	}
}

func number64(t *testing.T, text string) (n int64) {
	t.Helper()
	if _, err := fmt.Sscan(text, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestEventsOverHTTP2: a stream is one among many requests of a connection.
func TestEventsOverHTTP2(t *testing.T) {
	w := newWorld(t, nil)
	w.kanban()
	h := httptest.NewUnstartedServer(w.handler.South())
	h.EnableHTTP2 = true
	h.StartTLS()
	defer h.Close()
	s := newSide(t, h)
	r, err := s.client.Get(s.url + wfx.Base + "/version")
	if err != nil || r.ProtoMajor != 2 {
		t.Fatalf("HTTP/%d, %v", r.ProtoMajor, err)
	}
	_ = r.Body.Close()
	one, two := s.follow("?clientIds=a"), s.follow("")
	w.create(`{"clientId":"a","workflow":"wfx.workflow.kanban"}`)
	if a, b := one.next(), two.next(); a != b || a.action() != "CREATE" {
		t.Errorf("%v and %v", a, b)
	}
	one.cancel()
	two.cancel()
}

func TestKeepAlive(t *testing.T) {
	w := newWorld(t, func(c *server.Config, _ *engine.Config) { c.Limits.Heartbeat = time.Millisecond })
	s := w.south.follow("")
	s.comment("keepalive")
	s.comment("keepalive")
}

func TestTooManyStreams(t *testing.T) {
	w := newWorld(t, func(c *server.Config, _ *engine.Config) { c.Limits.Streams = 1 })
	w.south.follow("")
	w.south.get("/jobs/events").plain(429).says("open-streams")
}

// TestStreamsEndWithTheServer: a client then comes back with its position.
func TestStreamsEndWithTheServer(t *testing.T) {
	w := newWorld(t, nil)
	s := w.south.follow("")
	w.stop()
	for s.lines.Scan() {
		if s.lines.Text() != "" && !strings.HasPrefix(s.lines.Text(), ":") {
			t.Errorf("it says %q", s.lines.Text())
		}
	}
}

// TestReplayTellsTheHashesOfThen: what is told again says which definition was in force
// when it happened, not which one is now.
func TestReplayTellsTheHashesOfThen(t *testing.T) {
	w := newWorld(t, nil)
	w.kanban()
	live := w.south.follow("")
	id := w.create(`{"clientId":"dana","workflow":"wfx.workflow.kanban"}`)
	for i := range 3 {
		for n := range 2 {
			w.south.do("PUT", "/jobs/"+id+"/status", fmt.Sprintf(`{"state":"NEW","progress":%d}`, 10*i+n)).want(200)
		}
		w.south.do("PUT", "/jobs/"+id+"/definition", fmt.Sprintf(`{"n":%d}`, i)).want(200)
	}
	w.south.do("PUT", "/jobs/"+id+"/status", `{"state":"PROGRESS"}`).want(200)
	want := live.take(11)
	for at, hash := range map[int]string{1: `[]`, 2: `[]`, 4: `["n":0E+00]`, 8: `["n":1E+00]`, 10: `["n":2E+00]`} {
		if !strings.Contains(want[at].data, hashed(hash)) {
			t.Errorf("event %d is %s", at, want[at].data)
		}
	}
	replay := func() {
		t.Helper()
		for i := range want[:10] {
			s := w.south.follow("", "Last-Event-ID", want[i].id)
			if got := s.take(10 - i); !slices.Equal(got, want[i+1:]) {
				t.Errorf("behind event %d come\n%v\nwant\n%v", i, got, want[i+1:])
			}
			s.cancel()
		}
	}
	w.stop()
	w = openWorld(t, w.file, nil) // whose tail has nothing
	replay()
}

// TestHashesWhileTheDefinitionChanges: whoever begins to follow while a job is changed is
// told which definition was in force, though it is another one already.
func TestHashesWhileTheDefinitionChanges(t *testing.T) {
	w := newWorld(t, nil)
	w.kanban()
	id := w.create(`{"clientId":"dana","workflow":"wfx.workflow.kanban","definition":{"n":0}}`)
	for i := 1; i <= 5; i++ {
		s := w.south.follow("") // which has not seen the job yet
		w.south.do("PUT", "/jobs/"+id+"/status", `{"state":"NEW"}`).want(200)
		w.south.do("PUT", "/jobs/"+id+"/definition", fmt.Sprintf(`{"n":%d}`, i)).want(200)
		if f, want := s.next(), hashed(fmt.Sprintf(`["n":%dE+00]`, i-1)); !strings.Contains(f.data, want) {
			t.Errorf("round %d: %s", i, f.data)
		}
		s.cancel()
	}
}
