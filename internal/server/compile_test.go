package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw05"
	wfxdef "github.com/lockstep-workflows/lockstep/internal/dialect/wfx"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/server/admit"
	"github.com/lockstep-workflows/lockstep/internal/server/wfx"
)

// largePrograms is a definition whose programs are larger than all limits: it waits a second, then decides.
func largePrograms() string {
	var b strings.Builder
	b.WriteString("id: heavy\nname: Heavy\nversion: \"1\"\nstates:\n" +
		"- {name: Wait, type: delay, timeDelay: PT1S, start: {kind: default}, transition: {nextState: Decide}}\n" +
		"- name: Decide\n  type: switch\n  default: {end: {kind: default}}\n  dataConditions:\n")
	for i := range 400 {
		fmt.Fprintf(&b, "  - {condition: '{{ $.s[?(@ =~ /[a-z]{1,1000}%d/)] }}', end: {kind: default}}\n", i)
	}
	return b.String()
}

// older are the languages of a program that did not weigh expressions.
func older() expr.Languages {
	langs := expr.Languages{}
	for name, c := range languages() {
		langs[name] = unweighed{c}
	}
	return langs
}

type unweighed struct{ expr.Compiler }

func (u unweighed) Compile(src string) (expr.Program, error) {
	p, err := u.Compiler.Compile(src)
	return struct{ expr.Program }{p}, err
}

// TestDefinitionBeyondALimit: a definition that was deployed before a limit existed stops no server
// and loses no instance: it is set aside, all who ask are told so, and its instances go on where it fits.
func TestDefinitionBeyondALimit(t *testing.T) {
	s := newMemory()
	clock := engine.NewVirtualClock(time.Date(2026, time.March, 1, 0, 0, 0, 0, time.UTC))
	var reported []string
	at := func(langs expr.Languages) *world {
		return newWorldAtRest(t, s, func(_ *Config, ec *engine.Config) {
			ec.Clock, ec.Languages = clock, langs
			ec.OnError = func(err error) { reported = append(reported, err.Error()) }
		})
	}
	before := at(older())
	doc, _ := dialect.Read("heavy.yaml", []byte(largePrograms()))
	p, found := sw05.FrontEnd{}.Compile(dialect.Source{Document: doc})
	if p == nil {
		t.Fatal(found)
	}
	if err := before.engine.Deploy(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	before.do("POST", "/api/v1/definitions", largePrograms(), "Content-Type", "application/yaml").problem(api.CodeInvalid).says("definition-programs").says("DEF001")
	id := before.start("heavy", `{"s":["abc"]}`)

	waiting, err := s.Instance(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}

	w := at(languages()) // a new version starts on the same store
	if !strings.Contains(strings.Join(reported, "\n"), "definition-programs") {
		t.Errorf("reported: %q", reported)
	}
	w.deploy("hello")
	w.do("GET", "/api/v1/definitions", "").want(200).says("set aside").says("definition-programs")
	w.do("GET", "/api/v1/definitions/heavy", "").want(200).says("set aside")
	w.do("POST", "/api/v1/definitions/heavy/instances", `{}`).problem(api.CodeDamaged).says("definition-programs")
	for range 30 { // more often than an instance may fail
		clock.Advance(clock.Now().Add(60500 * time.Millisecond)) // as long as it is left alone
		_, _ = w.engine.Poll(t.Context())
	}
	row, err := s.Instance(t.Context(), id)
	if err != nil || row.Status != waiting.Status || row.Rev != waiting.Rev {
		t.Fatalf("the instance is %s, %v", row.Status, err)
	}

	after := at(older()) // one in which it fits
	for range 5 {
		if _, err := after.engine.Poll(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if row, err := s.Instance(t.Context(), id); err != nil || row.Status != "completed" {
		t.Errorf("the instance is %s, %v", row.Status, err)
	}
}

// TestCompilationsAtATime: two definitions are compiled at a time, the others wait within their
// own time, and who fetches something meanwhile holds up nobody.
func TestCompilationsAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Server{compiles: newCompilations()}
		var held []*compilation
		for i := range compilations {
			c, err := s.compiling(t.Context(), admit.Holder{Key: fmt.Sprint(i)}, "deploy-time", deployTime)
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, c)
		}
		begun := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), deployTime)
		defer cancel()
		_, err := s.compiling(ctx, admit.Holder{Key: "another"}, "deploy-time", deployTime)
		if p, ok := errors.AsType[*problemError](err); !ok || p.Limit != "compilations" || time.Since(begun) != deployTime {
			t.Errorf("%v after %s", err, time.Since(begun))
		}
		held[0].leave() // as while something is fetched
		if _, err := s.compiling(ctx, admit.Holder{Key: "1"}, "deploy-time", deployTime); err == nil {
			t.Error("one author has all places")
		}
		third, err := s.compiling(t.Context(), admit.Holder{Key: "another"}, "deploy-time", deployTime)
		if err != nil {
			t.Fatal(err)
		}
		back := make(chan error, 1)
		go func() { back <- held[0].enter() }()
		synctest.Wait()
		select {
		case <-back:
			t.Error("three at a time")
		default:
		}
		third.leave()
		if err := <-back; err != nil {
			t.Error(err)
		}
		for _, c := range held {
			c.leave()
			c.leave() // once more changes nothing
		}
		if n := s.compiles.Used(); n != 0 {
			t.Errorf("%d places are taken", n)
		}
	})
}

// faulty is a front-end with a mistake.
type faulty struct{ wfxdef.FrontEnd }

func (faulty) Compile(dialect.Source) (*ir.Program, dialect.Diagnostics) { panic("a mistake") }

// TestFaultsGivePlacesBack: whoever compiles gives its places back, also where compiling panics.
func TestFaultsGivePlacesBack(t *testing.T) {
	w := newWorldAtRest(t, newMemory(), func(c *Config, _ *engine.Config) { c.Registry = dialect.NewRegistry(faulty{}) })
	for path, body := range map[string]string{
		"/api/v1/definitions": twoStates, "/api/wfx/v1/workflows": twoStates, "/api/v1/playground": `{"definition":` + strconv.Quote(twoStates) + `}`,
	} {
		for range compilations + 1 {
			if a := w.knock(door{side: wfx.North, method: "POST", path: path}, "", strings.NewReader(body)); a.Code != http.StatusInternalServerError {
				t.Fatalf("%s: %d %s", path, a.Code, a.Body)
			}
			if n := w.server.compiles.Used() + w.server.plays.Used() + w.server.north.used(); n != 0 {
				t.Fatalf("%s: %d places are still taken", path, n)
			}
		}
	}
}

// TestCompilingHasATime: compiling ends with the time of its request, and says which limit that was.
func TestCompilingHasATime(t *testing.T) {
	w := newWorldAtRest(t, newMemory(), nil)
	ctx, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	c := &compilation{ctx: ctx, pool: w.server.compiles, within: "1m0s (limit deploy-time)"}
	compiled, found := w.server.cfg.Registry.Compile(documentName, []byte(largePrograms()), nil, dialect.Options{Budget: c.budget()})
	if compiled.Program != nil || len(found) != 1 || found[0].Code != dialect.CodeStopped || !strings.Contains(found[0].Message, "limit deploy-time") {
		t.Error(found)
	}
	if _, err := w.server.compile(ctx, admit.Holder{}, Bundle{Documents: []Document{{Text: []byte(largePrograms())}}}); err == nil {
		t.Error("it was compiled")
	}
}

// TestDrawingsAreKept: a drawing is made once for all who ask, is bounded, and can be given up.
func TestDrawingsAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d drawings
		made := 0
		wait := make(chan struct{})
		key := drawingKey{"a", "svg"}
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				data, err := d.get(t.Context(), key, func() ([]byte, error) { made++; <-wait; return []byte("drawing"), nil })
				if err != nil || string(data) != "drawing" {
					t.Errorf("%q %v", data, err)
				}
			})
		}
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := d.get(ctx, key, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("who left waits: %v", err)
		}
		close(wait)
		all.Wait()
		if made != 1 {
			t.Errorf("drawn %d times", made)
		}
		failed := errors.New("failed")
		if _, err := d.get(t.Context(), drawingKey{"b", "svg"}, func() ([]byte, error) { return nil, failed }); !errors.Is(err, failed) {
			t.Error(err)
		}
		if data, err := d.get(t.Context(), drawingKey{"b", "svg"}, func() ([]byte, error) { return []byte("again"), nil }); err != nil || string(data) != "again" {
			t.Errorf("a failure is kept: %q %v", data, err)
		}
		large := make([]byte, drawingBytes/3)
		for i := range 10 {
			if _, err := d.get(t.Context(), drawingKey{fmt.Sprint(i), "svg"}, func() ([]byte, error) { return large, nil }); err != nil {
				t.Fatal(err)
			}
			if d.bytes > drawingBytes || len(d.kept) != d.order.Len() {
				t.Fatalf("%d bytes are kept", d.bytes)
			}
		}
	})
}

// TestGraphEndsWithItsRequest: nobody draws for who left, neither on request nor in the playground.
func TestGraphEndsWithItsRequest(t *testing.T) {
	w := newWorldAtRest(t, newMemory(), nil)
	w.deploy("hello")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	row, err := w.engine.Definition(t.Context(), "hello", "")
	if err != nil {
		t.Fatal(err)
	}
	doc, _ := dialect.Read("hello.yaml", row.Source)
	p, _ := sw05.FrontEnd{}.Compile(dialect.Source{Document: doc})
	if _, err := draw(ctx, p, "svg"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	first := w.do("GET", "/api/v1/definitions/hello/graph.svg?format=svg", "").want(200).text
	if again := w.do("GET", "/api/v1/definitions/hello/graph.svg", "").want(200).text; again != first || len(w.server.drawings.kept) != 1 {
		t.Errorf("%d drawings are kept", len(w.server.drawings.kept))
	}
}
