package server

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/server/admit"
)

const playRemind = `id: remind
version: "1.0"
name: Remind
functions:
- {name: mail}
states:
- {name: Wait, type: delay, start: {kind: default}, timeDelay: PT1H, transition: {nextState: Send}}
- name: Send
  type: operation
  actionMode: sequential
  actions: [{functionRef: {refName: mail, parameters: {to: "{{ $.who }}"}}}]
  end: {kind: default}
`

const playJob = `name: lights
states: [{name: RED}, {name: GREEN}]
transitions:
- {from: RED, to: GREEN, eligible: CLIENT}
`

const playLoop = `id: loop
version: "1.0"
name: Loop
states:
- {name: A, type: delay, start: {kind: default}, timeDelay: PT1S, transition: {nextState: B}}
- {name: B, type: delay, timeDelay: PT1S, transition: {nextState: A}}
`

func (w *world) play(members map[string]any) answered {
	w.t.Helper()
	body, err := json.Marshal(members)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.do("POST", "/api/v1/playground", string(body)).want(200)
}

func TestPlaygroundRuns(t *testing.T) {
	w := newWorld(t, newMemory(), nil)
	ask := map[string]any{"definition": playRemind, "input": "who: Ada", "mocks": "mail: {result: {sent: true}}"}

	all := w.play(ask)
	all.is("run.status", `"completed"`).is("run.output", `{"who":"Ada","sent":true}`).is("run.clock", `"2026-03-01T01:00:00Z"`)
	if svg := all.str("graph"); !strings.HasPrefix(svg, "<svg") {
		t.Errorf("the graph is %.40q", svg)
	}
	if again := w.play(ask); again.text != all.text {
		t.Error("the same request had another answer")
	}

	ask["until"] = "2026-03-01T00:30:00Z"
	w.play(ask).is("run.status", `"later"`).is("run.next", `"2026-03-01T01:00:00Z"`).is("run.instances.0.status", `"waiting"`)
	delete(ask, "until")

	for steps, before := range []string{"Wait", "Send"} {
		ask["steps"] = steps
		w.play(ask).is("run.status", `"stopped"`).is("run.stopped.0.node", `"`+before+`"`)
	}
	ask["steps"] = 2
	w.play(ask).is("run.status", `"completed"`).is("run.steps", "2")

	delete(ask, "steps")
	delete(ask, "mocks")
	w.play(ask).is("run.status", `"failed"`).is("run.error.name", `"MockMissing"`)
	w.get("/api/v1/instances/count").is("count", "0")
	w.get("/api/v1/definitions").is("items", "[]")
}

func TestPlaygroundTellsMistakes(t *testing.T) {
	w := newWorld(t, newMemory(), nil)
	broken := strings.Replace(playRemind, "nextState: Send", "nextState: Sent", 1)
	a := w.play(map[string]any{"definition": broken}).is("diagnostics.0.line", "7").says(`did you mean \"Send\"`)
	if !a.at("run").IsNull() || !a.at("graph").IsNull() {
		t.Errorf("it ran: %s", a.text)
	}
	a = w.play(map[string]any{"definition": playRemind, "mocks": "mail:\n  resul: 1"})
	a.is("diagnostics.0.file", `"mocks"`).is("diagnostics.0.line", "2")
	if !a.at("run").IsNull() || a.at("graph").IsNull() {
		t.Errorf("it must be drawn and not run: %s", a.text)
	}
	a = w.play(map[string]any{"definition": playRemind, "run": false})
	if !a.at("run").IsNull() {
		t.Errorf("it ran: %s", a.text)
	}
	for _, body := range []string{
		`{}`, `{"definition":""}`, `{"definition":"a","steps":-1}`, `{"definition":"a","steps":1e9}`, `{"definition":"a","run":1}`,
		`{"definition":"a","until":"soon"}`, `{"definition":"a","clock":"9999-01-01T00:00:00Z"}`,
	} {
		w.do("POST", "/api/v1/playground", body).problem(api.CodeInput)
	}
	w.do("POST", "/api/v1/playground", `{"definition":"a","inputs":""}`).problem(api.CodeUnknownField).says(`did you mean`)
}

func TestPlaygroundJobs(t *testing.T) {
	w := newWorld(t, newMemory(), nil)
	takes := "- {actor: WFX, state: GREEN}\n- {at: PT1M, actor: CLIENT, state: GREEN}"
	a := w.play(map[string]any{"definition": playJob, "takes": takes}).is("job", "true").is("run.status", `"completed"`)
	a.is("run.instances.0.job.state", `"GREEN"`).is("run.clock", `"2026-03-01T00:01:00Z"`).says("line 1 was rejected")
}

func TestPlaygroundEventsStart(t *testing.T) {
	w := newWorld(t, newMemory(), nil)
	definition := `id: paid
version: "1.0"
name: Paid
events: [{name: paid, type: paid, source: shop}]
states:
- {name: Got, type: event, start: {kind: default}, exclusive: true, onEvents: [{eventRefs: [paid], actions: []}], end: {kind: default}}
`
	w.play(map[string]any{"definition": definition}).is("run.status", `"none"`)
	events := "- {event: {type: other, source: shop}}\n- {at: PT5M, event: {type: paid, source: shop, data: {amount: 3}}}"
	w.play(map[string]any{"definition": definition, "events": events}).is("run.status", `"completed"`).is("run.output", `{"amount":3}`).
		is("run.clock", `"2026-03-01T00:05:00Z"`).says("no instance waits for the event other")
}

func TestPlaygroundIsBounded(t *testing.T) {
	w := newWorld(t, newMemory(), func(c *Config, _ *engine.Config) { c.Limits.HeavyWait = 1 })
	w.play(map[string]any{"definition": playLoop}).is("run.status", `"limit"`).is("run.limit", `"playground-records"`)
	large := "blob: " + strings.Repeat("x", 300_000)
	w.play(map[string]any{"definition": playLoop, "input": large}).is("run.limit", `"playground-bytes"`)
	for n := range playRuns {
		if _, err := w.server.plays.Take(admit.Holder{Key: strconv.Itoa(n)}, 1); err != nil {
			t.Fatal(err)
		}
	}
	w.do("POST", "/api/v1/playground", `{"definition":"a"}`).problem(api.CodeBusy).is("limit", `"playground-runs"`)
}

func TestPlaygroundIsForThoseWhoMayStart(t *testing.T) {
	viewer, viewerHash := NewToken()
	author, authorHash := NewToken()
	tokens, err := ParseTokens([]byte(`{name: v, role: viewer, hash: "` + viewerHash + `"}` + "\n" + `{name: a, role: author, hash: "` + authorHash + `"}`))
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, newMemory(), func(c *Config, _ *engine.Config) { c.Tokens = tokens })
	w.do("POST", "/api/v1/playground", `{"definition":"a"}`).problem(api.CodeUnauthorized)
	w.token = viewer
	w.do("POST", "/api/v1/playground", `{"definition":"a"}`).problem(api.CodeForbidden)
	w.token = author
	w.play(map[string]any{"definition": playRemind, "mocks": "'*': {echo: true}"}).is("run.status", `"completed"`)
}

// stubborn is a JSONPath that never ends unless it is stopped.
type stubborn struct{ began chan struct{} }

func (e *stubborn) Compile(string) (expr.Program, error) { return e, nil }

func (e *stubborn) Eval(_ expr.Value, b *expr.Budget) (expr.Result, error) {
	select {
	case e.began <- struct{}{}:
	default:
	}
	for {
		part := b.Times(1)
		for range 2 * expr.StopEvery {
			if err := part.Step(1); err != nil {
				return expr.Result{}, err
			}
		}
	}
}

// TestPlaygroundStops: a run ends when its time is over, whatever its expressions do.
func TestPlaygroundStops(t *testing.T) {
	lang := &stubborn{began: make(chan struct{}, 1)}
	for name, definition := range map[string]string{
		"at the start": playBusy,
		"later":        strings.Replace(playBusy, "start: {kind: default}", "", 1) + playDelay,
	} {
		w := newWorldAtRest(t, newMemory(), func(_ *Config, ec *engine.Config) {
			ec.Languages = languages()
			ec.Languages[jsonpath.Lang], ec.Languages[jsonpath.TemplateLang] = lang, lang
		})
		c, wrong := w.server.cfg.Registry.Compile("busy.yaml", []byte(definition), dialect.NoBundle, dialect.Options{})
		if c.Program == nil {
			t.Fatalf("%s: the definition is wrong: %v", name, wrong)
		}
		ctx, over := context.WithCancel(t.Context())
		go func() { <-lang.began; over() }()
		_, err := w.server.play(ctx, playAsk{steps: -1, start: time.Unix(0, 0)}, []*ir.Program{c.Program})
		if !errors.Is(err, context.Canceled) && !errors.Is(err, core.ErrStopped) {
			t.Errorf("%s: the run ended with %v", name, err)
		}
	}
}

// TestPlaygroundWithoutTime: where compiling and drawing took all the time there is, the run says so.
func TestPlaygroundWithoutTime(t *testing.T) {
	w := newWorldAtRest(t, newMemory(), nil)
	c, wrong := w.server.cfg.Registry.Compile("remind.yaml", []byte(playRemind), dialect.NoBundle, dialect.Options{})
	if c.Program == nil {
		t.Fatal(wrong)
	}
	ctx, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	run, err := w.server.play(ctx, playAsk{steps: -1, start: playClock}, []*ir.Program{c.Program})
	if err != nil || run.Status != api.PlayLimit || run.Limit != "playground-time" {
		t.Errorf("%+v %v", run, err)
	}
}

const playBusy = `id: busy
version: "1.0"
name: Busy
states:
- name: A
  type: switch
  start: {kind: default}
  dataConditions:
  - {condition: "{{ $.x }}", end: {kind: default}}
  default: {end: {kind: default}}
`

const playDelay = `- {name: D, type: delay, start: {kind: default}, timeDelay: PT1S, transition: {nextState: A}}
`
