package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// stepper stops a run before every state and asks what to do: lockstep run --step.
type stepper struct {
	out     io.Writer
	answers <-chan typed
	until   []stateKey // no questions until one of these

	// These are guarded by the session's lock: records change them.
	stops []stop // not handled yet
	asked *stop  // the current question
	gone  chan core.Status
	free  bool // no more questions
}

// stop is an instance that paused before a state.
type stop struct {
	instance string
	record   core.Record
}

// over removes the stops of an instance that ended, and cancels a question about it.
func (p *stepper) over(instance string, status core.Status) {
	p.stops = slices.DeleteFunc(p.stops, func(s stop) bool {
		if s.instance == instance && !p.free {
			p.reportGone(s, status)
		}
		return s.instance == instance
	})
	if p.asked != nil && p.asked.instance == instance {
		select {
		case p.gone <- status:
		default: // already reported
		}
	}
}

// reportGone reports that an instance ended while it was stopped.
func (p *stepper) reportGone(at stop, status core.Status) {
	how := "was " + string(status)
	if status == core.Completed || status == core.Failed {
		how = "is not run: its workflow " + string(status)
	}
	fmt.Fprintf(p.out, "! %s %s meanwhile\n", cli.Plain(at.record.Node), how)
}

const stepHelp = `  Enter        continue to the next state
  = JSON       change the data, for example = {"amount": 3}
  d            show the data again
  u STATE      continue to this state
  c            continue without stopping
  q            cancel the instance
`

// step handles the stops until nothing is stopped.
func (s *session) step(ctx context.Context) error {
	for s.steps != nil {
		at, ok := s.nextStop()
		if !ok {
			return nil
		}
		err := s.answer(ctx, at)
		var gone *goneError
		switch {
		case errors.As(err, &gone):
			s.mu.Lock()
			if !s.steps.free {
				s.steps.reportGone(at, gone.status)
			}
			s.mu.Unlock()
		case err != nil:
			return err // asked keeps the state, for the message about a timeout
		}
		s.mu.Lock()
		s.steps.asked = nil
		s.mu.Unlock()
	}
	return nil
}

// nextStop takes the first stop. From then on gone reports when its instance ends.
func (s *session) nextStop() (stop, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.steps
	if len(p.stops) == 0 {
		return stop{}, false
	}
	at := p.stops[0]
	p.stops = p.stops[1:]
	p.asked, p.gone = &at, make(chan core.Status, 1)
	return at, true
}

// asked is the state that the user is asked about; "": none.
func (s *session) asked() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.steps == nil || s.steps.asked == nil {
		return ""
	}
	return s.steps.asked.record.Node
}

// goneError says that the stopped instance ended.
type goneError struct{ status core.Status }

func (e *goneError) Error() string { return "the instance is " + string(e.status) }

// resume continues a stopped instance.
func (s *session) resume(ctx context.Context, at stop) error {
	return s.unlessOver(ctx, at.instance, s.engine.Control(ctx, at.instance, core.Control{Verb: core.VerbResume}))
}

// unlessOver returns a goneError if an instance refused because it ended meanwhile.
func (s *session) unlessOver(ctx context.Context, instance string, err error) error {
	var refused *core.Rejected
	if !errors.As(err, &refused) {
		return err
	}
	if row, got := s.engine.Get(ctx, instance); got == nil && row.Status.Final() {
		return &goneError{row.Status}
	}
	return err
}

// place returns where an instance stopped: the type of the state, its file and line, and the state.
func (s *session) place(ctx context.Context, at stop) (kind, where string, state stateKey) {
	row, err := s.engine.Get(ctx, at.instance)
	if err == nil {
		state = stateKey{row.Definition, at.record.Node}
	}
	where = fmt.Sprintf("line %d", at.record.Pos.Line)
	for _, d := range s.definitions {
		if d.Program.ID == state.definition {
			where = fmt.Sprintf("%s:%d", d.File, at.record.Pos.Line)
		}
	}
	return s.progress.types[state], where, state
}

// statesNamed finds states by name or, if there are none, by id. It also suggests a similar name.
func (s *session) statesNamed(name string) (found []stateKey, near string) {
	var byID []stateKey
	var all []string
	for _, d := range s.definitions {
		for _, state := range d.Program.States {
			key := stateKey{d.Program.ID, state.Name}
			all = append(all, state.Name)
			switch name {
			case state.Name:
				found = append(found, key)
			case state.ID:
				byID = append(byID, key)
			}
			if state.ID != "" {
				all = append(all, state.ID)
			}
		}
	}
	if len(found) == 0 {
		found = byID
	}
	return found, dialect.Suggest(name, all)
}

// goFree continues the run without questions.
func (s *session) goFree() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps.free = true
}

// quit cancels the first instance with everything that it started.
func (s *session) quit(ctx context.Context) error {
	s.goFree()
	first, _, _ := s.seen()
	err := s.unlessOver(ctx, first, s.engine.Control(ctx, first, core.Control{Verb: core.VerbCancel}))
	if _, ok := errors.AsType[*goneError](err); ok {
		return nil // over finds out how it ended
	}
	return err
}

// answer asks about one stop and carries out the answer.
func (s *session) answer(ctx context.Context, at stop) error {
	p := s.steps
	kind, where, state := s.place(ctx, at)
	if p.free || len(p.until) > 0 && !slices.Contains(p.until, state) {
		return s.resume(ctx, at)
	}
	p.until = nil
	data := at.record.Data
	fmt.Fprintf(p.out, "→ %s   %s   %s\n", cli.Plain(at.record.Node), kind, cli.Plain(where))
	p.show(data)
	for {
		fmt.Fprint(p.out, "[Enter, = JSON, d, u STATE, c, q, ?] ")
		line, err := p.ask(s.asking)
		if errors.Is(err, errLongAnswer) {
			fmt.Fprintf(p.out, "  the data is unchanged: %v\n", err)
			continue
		}
		if err != nil {
			return err
		}
		verb, arg, _ := strings.Cut(strings.TrimSpace(line), " ")
		if data, ok := strings.CutPrefix(strings.TrimSpace(line), "="); ok {
			verb, arg = "=", data
		}
		switch verb {
		case "", "n":
		case "c":
			s.goFree()
		case "u":
			until := strings.TrimSpace(arg)
			states, near := s.statesNamed(until)
			if len(states) == 0 {
				fmt.Fprintf(p.out, "  there is no state %q", until)
				if near != "" {
					fmt.Fprintf(p.out, "; did you mean %q?", near)
				}
				fmt.Fprintln(p.out)
				continue
			}
			p.until = states
		case "q":
			return s.quit(ctx)
		case "d":
			p.show(data)
			continue
		case "=":
			changed, ok := p.read(arg)
			if !ok {
				continue
			}
			amend := core.Control{Verb: core.VerbAmend, Data: changed, HasData: true}
			err := s.unlessOver(ctx, at.instance, s.engine.Control(ctx, at.instance, amend))
			var gone *goneError
			switch {
			case errors.As(err, &gone):
				return err
			case err != nil:
				fmt.Fprintf(p.out, "  the data is unchanged: %s\n", cli.Plain(err.Error()))
				continue
			}
			data = changed
			p.show(data)
			continue
		default:
			fmt.Fprint(p.out, stepHelp)
			continue
		}
		return s.resume(ctx, at)
	}
}
