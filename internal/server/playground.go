package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/calendar"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/scenario"
)

// The playground tries a definition out: the engine runs it under virtual time over a
// store that forgets, functions answer from mocks, and nothing is fetched or kept. A run
// that stops half-way is gone on with by asking again, for more: each begins anew, and
// two with the same content never differ.

// What one run may cost. Beyond it the run ends and says which limit it was.
const (
	playSteps     = 10_000           // commits ("playground-steps")
	playCalls     = 2_000            // of functions ("playground-calls")
	playInstances = 100              // that are not over, at a time ("playground-instances")
	playRecords   = 2_000            // that are told ("playground-records")
	playBytes     = 4 << 20          // of those ("playground-bytes")
	playData      = 1 << 20          // of one state ("playground-data")
	playTime      = 10 * time.Second // of the machine's ("playground-time")
	playRuns      = 4                // at a time ("playground-runs")
)

// playClock is where virtual time begins unless the request says otherwise: as in scenarios.
var playClock = time.Date(2026, time.March, 1, 0, 0, 0, 0, time.UTC)

// playAsk is what is to be tried out. Each text is a document in YAML or JSON.
type playAsk struct {
	definition, dialect string
	input               expr.Value
	hasInput            bool
	client              string
	scene               scenario.Scenario // mocks, events and takes
	start               time.Time
	until               time.Time // time does not pass beyond; zero: as far as it must
	steps               int       // states to run; -1: all
	run                 bool      // else it is only checked and drawn
}

type playView struct {
	ID          string           `json:"id,omitempty"`
	Version     string           `json:"version,omitempty"`
	Dialect     string           `json:"dialect,omitempty"`
	Job         bool             `json:"job"`
	Diagnostics []diagnosticView `json:"diagnostics"`
	Graph       string           `json:"graph,omitempty"`
	Run         *playRunView     `json:"run,omitempty"`
}

func (s *Server) playground(w http.ResponseWriter, r *request) error {
	out, err := s.tryOut(r)
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, out)
}

// tryOut does what a request asks for. Its places are free again before the client reads.
func (s *Server) tryOut(r *request) (out playView, err error) {
	within, cancel := context.WithTimeout(r.Context(), s.limits.HeavyWait)
	defer cancel()
	place, err := s.plays.Wait(within, r.visit.who, 1)
	if err != nil {
		return out, full(err)
	}
	defer place.Release()
	body, err := s.object(r, playMembers...)
	if err != nil {
		return out, err
	}
	ask, found, err := readPlay(body)
	if err != nil {
		return out, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), playTime)
	defer cancel()
	work, err := s.compiling(ctx, r.visit.who, "playground-time", playTime)
	if err != nil {
		return out, err
	}
	defer work.leave()
	c, wrong := s.cfg.Registry.Compile(documentName, []byte(ask.definition), dialect.NoBundle,
		dialect.Options{Dialect: ask.dialect, Functions: s.cfg.Functions, Budget: work.budget()})
	out.Diagnostics = viewDiagnostics(append(wrong, found...))
	if c.Program == nil || wrong.HasErrors() {
		return out, nil
	}
	out.ID, out.Version, out.Dialect, out.Job = c.Program.ID, c.Program.Version, c.Program.Dialect, c.Program.Job
	if out.Graph, err = drawn(ctx, c.Program); err != nil && ctx.Err() == nil {
		return out, err
	}
	work.leave()
	if ask.run && !found.HasErrors() {
		out.Run, err = s.play(ctx, ask, c.Program)
		return out, err
	}
	return out, nil
}

func drawn(ctx context.Context, p *ir.Program) (string, error) {
	b, err := draw(ctx, p, "svg")
	return string(b), err
}

var playMembers = []string{"definition", "dialect", "input", "mocks", "events", "takes", "client", "clock", "until", "steps", "run"}

// readPlay reads a request. Mistakes in its documents are diagnostics, whose file is the
// name of the member.
func readPlay(body expr.Value) (playAsk, dialect.Diagnostics, error) {
	ask := playAsk{start: playClock, steps: -1, run: true}
	texts := map[string]*string{"definition": &ask.definition, "dialect": &ask.dialect, "client": &ask.client}
	documents := map[string]string{}
	for _, name := range playMembers[:9] {
		got, err := text(body, "", name)
		if err != nil {
			return ask, nil, err
		}
		if to := texts[name]; to != nil {
			*to = got
		}
		documents[name] = got
	}
	if ask.definition == "" {
		return ask, nil, badMember("/definition", "definition is required: the text of a definition")
	}
	var err error
	if ask.start, err = instant(documents["clock"], "clock", playClock); err != nil {
		return ask, nil, err
	}
	if ask.until, err = instant(documents["until"], "until", time.Time{}); err != nil {
		return ask, nil, err
	}
	if err := ask.numbers(body); err != nil {
		return ask, nil, err
	}
	return ask, ask.read(documents), nil
}

// numbers reads what is not text.
func (ask *playAsk) numbers(body expr.Value) error {
	if v, ok := body.Get("steps"); ok {
		n, whole := v.Int()
		if !whole || n < 0 || n > playSteps {
			return badMember("/steps", fmt.Sprintf("steps must be a whole number from 0 to %d (limit playground-steps)", playSteps))
		}
		ask.steps = int(n)
	}
	if v, ok := body.Get("run"); ok {
		if v.Kind() != expr.KindBool {
			return badMember("/run", "run must be true or false")
		}
		ask.run = v.Bool()
	}
	return nil
}

// read reads the documents beside the definition.
func (ask *playAsk) read(documents map[string]string) dialect.Diagnostics {
	var all dialect.Diagnostics
	if text := documents["input"]; !blank(text) {
		doc, found := dialect.Read("input", []byte(text))
		if all = append(all, found...); doc.Root != nil {
			ask.input, ask.hasInput = doc.Root.Value(), true
		}
	}
	if text := documents["mocks"]; !blank(text) {
		mocks, _, found := scenario.ReadMocks("mocks", []byte(text))
		ask.scene.Mocks, all = mocks, append(all, found...)
	}
	if text := documents["events"]; !blank(text) {
		events, _, found := scenario.ReadEvents("events", []byte(text))
		ask.scene.Events, all = events, append(all, found...)
	}
	if text := documents["takes"]; !blank(text) {
		takes, found := scenario.ReadTakes("takes", []byte(text), ask.start)
		ask.scene.Takes, all = takes, append(all, found...)
	}
	return all
}

// blank reports whether a document says nothing: blanks and comments alone.
func blank(text string) bool {
	for _, line := range bytes.Split([]byte(text), []byte("\n")) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return false
		}
	}
	return true
}

func instant(text, name string, otherwise time.Time) (time.Time, error) {
	if text == "" {
		return otherwise, nil
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || !scenario.Representable(at) {
		return at, badMember("/"+name, name+" must be an instant as in RFC 3339, such as 2026-03-01T00:00:00Z, from 1678 to 2261 (limit timer-horizon)")
	}
	return at.UTC(), nil
}

// playRecord is a record with the instance that it is of.
type playRecord struct {
	Instance string     `json:"instance"`
	Record   recordView `json:"record"`
}

type playRunView struct {
	Status    string            `json:"status"`
	Message   string            `json:"message"`
	Clock     time.Time         `json:"clock"`
	Next      *time.Time        `json:"next,omitempty"`
	Steps     int               `json:"steps"`
	Output    *expr.Value       `json:"output,omitempty"`
	Error     *faultView        `json:"error,omitempty"`
	Limit     string            `json:"limit,omitempty"`
	Stopped   []playStopView    `json:"stopped"`
	Instances []instanceView    `json:"instances"`
	Records   []json.RawMessage `json:"records"`
	Waits     []waitView        `json:"waits"`
	Notes     []string          `json:"notes"`
}

type playStopView struct {
	Instance string      `json:"instance"`
	Node     string      `json:"node"`
	Place    *placeView  `json:"place,omitempty"`
	Data     *expr.Value `json:"data,omitempty"`
}

// elapsed tells a span of virtual time.
func elapsed(d time.Duration) string { return calendar.Duration{Nanos: int64(d)}.String() }
