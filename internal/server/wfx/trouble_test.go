package wfx_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/server"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// TestMain sees to it that the tests together saw every answer of success that the
// contract has.
func TestMain(m *testing.M) {
	code := m.Run()
	if part := flag.Lookup("test.run").Value.String() + flag.Lookup("test.skip").Value.String() + flag.Lookup("test.list").Value.String(); code == 0 && part == "" {
		for _, op := range theContract().Operations() {
			responses, _ := op.Value.Get("responses")
			for _, status := range responses.Members() {
				if status.Key < "300" && !theContract().Seen(op.ID, status.Key) {
					fmt.Printf("no test has seen the answer %s of %s\n", status.Key, op.ID)
					code = 1
				}
			}
		}
	}
	os.Exit(code)
}

// ailing is a store that fails while it is told to.
type ailing struct {
	store.Store
	ill *atomic.Bool
}

var errIll = errors.New("the disk does not answer")

func (a ailing) Feed(ctx context.Context, after int64, limit int) (store.Feed, error) {
	if a.ill.Load() {
		return store.Feed{}, errIll
	}
	return a.Store.Feed(ctx, after, limit)
}

func (a ailing) Instances(ctx context.Context, q store.Query) ([]store.Instance, error) {
	if a.ill.Load() {
		return nil, errIll
	}
	return a.Store.Instances(ctx, q)
}

func TestStoreInTrouble(t *testing.T) {
	var ill atomic.Bool
	w := newWorld(t, func(_ *server.Config, ec *engine.Config) { ec.Store = ailing{ec.Store, &ill} })
	w.kanban()
	w.south.get("/jobs").want(200)
	ill.Store(true)
	w.south.get("/health").want(503).is(`{"details":{"persistence":{"error":"the store cannot be read","status":"down","timestamp":"TIME1"}},"status":"down"}`)
	if a := w.south.get("/jobs").want(503); strings.Contains(a.text, "disk") || a.header.Get("Retry-After") == "" {
		t.Errorf("%v %s", a.header, a.text)
	}
	ill.Store(false)
	w.south.get("/health").want(200)
	w.south.get("/jobs").want(200)
}

// TestTimeouts: what time does to a job is told like what people do.
func TestTimeouts(t *testing.T) {
	clock := engine.NewVirtualClock(time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC))
	w := newWorld(t, func(_ *server.Config, ec *engine.Config) { ec.Clock = clock })
	w.north.do("POST", "/workflows", `{"name":"slow","states":[{"name":"A","timeout":{"after":"PT1H","to":"B"}},{"name":"B"},{"name":"C"}],`+
		`"transitions":[{"from":"A","to":"B","eligible":"WFX"},{"from":"B","to":"C","eligible":"WFX","action":"IMMEDIATE"}]}`).want(201).says(`"timeout":{"after":"PT1H","to":"B"}`)
	id := w.create(`{"clientId":"dana","workflow":"slow"}`)
	s := w.south.follow("")
	clock.Advance(clock.Now().Add(30 * time.Minute))
	w.south.do("PUT", "/jobs/"+id+"/status", `{"state":"A","progress":50}`).want(200) // which does not give it more time
	if f := s.next(); f.action() != "UPDATE_STATUS" || !strings.Contains(f.data, `"progress":50`) {
		t.Errorf("%v", f)
	}
	clock.Advance(clock.Now().Add(30 * time.Minute))
	f := s.next()
	if !strings.Contains(f.data, `"message":"A took longer than PT1H"`) || !strings.Contains(f.data, `"state":"C"`) || f.action() != "UPDATE_STATUS" {
		t.Errorf("%v", f)
	}
	w.south.get("/jobs/"+id+"?history=true", "X-Response-Filter", "[.mtime, .status.state, (.history[]|.status.state)]").want(200).
		says(`["2026-03-01T11:00:00Z","C","B","A","A"]`)
}

// TestAnything: whatever comes, the answer is one of the contract's, and not a failure of
// the server.
func TestAnything(t *testing.T) {
	w := newWorld(t, nil)
	w.kanban()
	ids := []string{w.create(`{"clientId":"dana","workflow":"wfx.workflow.kanban"}`), "1", "%2f", "..", "", "\u00e4", strings.Repeat("y", 40)}
	rnd := rand.New(rand.NewPCG(1, 2))
	pick := func(list ...string) string { return list[rnd.IntN(len(list))] }
	for range 1500 {
		s := w.south
		if rnd.IntN(2) == 0 {
			s = w.north
		}
		method := pick("GET", "GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH")
		path := pick("/jobs", "/jobs/"+pick(ids...), "/jobs/"+pick(ids...)+"/"+pick("status", "definition", "tags", "history", ""),
			"/workflows", "/workflows/"+pick("wfx.workflow.kanban", "none", "%00", "a b"), "/health", "/", "//health", "/nothing")
		path = strings.ReplaceAll(path, " ", "%20")
		if rnd.IntN(3) == 0 {
			path += "?" + pick("limit", "offset", "sort", "pagination", "group", "tag", "state", "history", "stimeFrom", "x") + "=" + pick("", "1", "-1", "true", "asc", "a,b", "OPEN", "%ff", "99999999999999999999")
		}
		body := pick("", "{}", "[]", "null", `{"state":"PROGRESS"}`, `{"state":"NEW","progress":1e3}`, `["a"]`, `[""]`, `{"clientId":"c","workflow":"wfx.workflow.kanban"}`,
			`{"name":"n","states":[],"transitions":[]}`, `{"a":`, "\x00", strings.Repeat("[", 5000), `{"state":{"state":1}}`)
		headers := []string{}
		if rnd.IntN(4) == 0 {
			headers = append(headers, pick("X-Response-Filter", "X-Client-Id", "If-Match", "Content-Type", "Origin", "Accept"), pick(".", "", "dana", `"1"`, "[", "text/plain", "http://x", "*"))
		}
		if a := s.do(method, path, body, headers...); a.status >= 500 {
			t.Errorf("%s %q %v: %d %s", a.what, body, headers, a.status, a.text)
		}
	}
}
