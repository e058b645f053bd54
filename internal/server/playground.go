package server

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/scenario"
)

// The playground runs a definition under virtual time, over a store in memory. Mocks answer for
// functions; nothing is fetched or kept. A run that stopped is continued by a request for more steps:
// each run begins anew, and two runs with the same content never differ.

// Limits of one run. A run that reaches one ends, and names it.
const (
	playSteps     = 10_000           // commits ("playground-steps")
	playCalls     = 2_000            // of functions ("playground-calls")
	playInstances = 100              // that have not ended, at a time ("playground-instances")
	playRecords   = 10_000           // in the answer ("playground-records")
	playBytes     = 4 << 20          // of those ("playground-bytes")
	playData      = 1 << 20          // of one state ("playground-data")
	playTime      = 10 * time.Second // real time ("playground-time")
	playRuns      = 4                // at a time ("playground-runs")
	playFiles     = 50               // beside the definition ("playground-files")
)

// playClock is the default start of virtual time, as in scenarios.
var playClock = time.Date(2026, time.March, 1, 0, 0, 0, 0, time.UTC)

// playAsk is a parsed [api.PlayRequest].
type playAsk struct {
	definition, dialect string
	files               map[string][]byte // beside the definition, by path
	mocks               expr.Value        // as they were written
	input               expr.Value
	hasInput            bool
	client              string
	scene               scenario.Scenario // mocks, events and takes
	start               time.Time
	until               time.Time // the end of virtual time; zero: none
	steps               int       // states to run; -1: all
	run                 bool      // false: only check and draw
	scenario            string    // the name of the scenario that the run is written as; "": none
}

func (s *Server) playground(w http.ResponseWriter, r *request) error {
	out, err := s.tryOut(r)
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, out)
}

// tryOut carries out a request. It releases its places before the response is written.
func (s *Server) tryOut(r *request) (out api.PlayResult, err error) {
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
	programs, err := s.compilePlay(ctx, work, ask, found, &out)
	if err != nil || programs == nil {
		return out, err
	}
	work.leave()
	if !ask.run || hasErrors(out.Diagnostics) {
		return out, nil
	}
	out.Run, err = s.play(ctx, ask, programs)
	if err != nil || ask.scenario == "" {
		return out, err
	}
	out.Scenario, err = writeScenario(ask, programs, &out)
	return out, err
}

func drawn(ctx context.Context, p *ir.Program) (string, error) {
	b, err := draw(ctx, p, "svg")
	return string(b), err
}

var playMembers = []string{"definition", "dialect", "input", "mocks", "events", "takes", "client", "clock", "until", "scenario", "steps", "run", "files"}

// playTexts are those that are texts.
var playTexts = playMembers[:10]

// readPlay reads a request. Mistakes in its documents are diagnostics, whose file is the
// name of the member.
func readPlay(body *dialect.Members) (playAsk, dialect.Diagnostics, error) {
	ask := playAsk{start: playClock, steps: -1, run: true}
	texts := map[string]*string{"definition": &ask.definition, "dialect": &ask.dialect, "client": &ask.client, "scenario": &ask.scenario}
	documents := map[string]string{}
	for _, name := range playTexts {
		got := body.Str(name)
		if to := texts[name]; to != nil {
			*to = got
		}
		documents[name] = got
	}
	if body.Err() != nil {
		return ask, nil, memberProblem(body)
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
	if err := ask.readFiles(body); err != nil {
		return ask, nil, err
	}
	return ask, ask.read(documents), nil
}

// numbers reads what is not text.
func (ask *playAsk) numbers(body *dialect.Members) error {
	if v, ok := body.Get("steps"); ok {
		n, whole := v.Int()
		if !whole || n < 0 || n > playSteps {
			return badMember("/steps", fmt.Sprintf("steps must be a whole number from 0 to %d (limit playground-steps)", playSteps))
		}
		ask.steps = int(n)
	}
	ask.run = body.Flag("run", true)
	return memberProblem(body)
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
		mocks, doc, found := scenario.ReadMocks("mocks", []byte(text))
		ask.scene.Mocks, all = mocks, append(all, found...)
		if doc.Root != nil {
			ask.mocks = doc.Root.Value()
		}
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

// blank reports whether a document has only blanks and comments.
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

// elapsed formats a span of virtual time as the page does: the largest two units that say something.
func elapsed(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	type unit struct {
		name string
		size time.Duration
	}
	units := []unit{{"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}}
	i := slices.IndexFunc(units, func(u unit) bool { return d >= u.size })
	whole := d / units[i].size
	text := fmt.Sprintf("%d%s", whole, units[i].name)
	if i+1 < len(units) && whole < 10 {
		if rest := (d - whole*units[i].size) / units[i+1].size; rest > 0 {
			text += fmt.Sprintf(" %d%s", rest, units[i+1].name)
		}
	}
	return text
}
