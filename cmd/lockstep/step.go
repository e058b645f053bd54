package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/core"
	"github.com/lockstep-workflows/lockstep/dialect"
	"github.com/lockstep-workflows/lockstep/expr"
)

// stepper stops a run before every state and asks what to do: lockstep run --step.
type stepper struct {
	out   io.Writer
	lines <-chan string
	stops []stop // not answered yet
	free  bool   // runs on
	until string // runs on until this state
}

// stop is an instance that paused before a state.
type stop struct {
	instance string
	record   core.Record
}

// newStepper reads answers from in, in the background: a run that is ended must not
// wait for them.
func newStepper(ctx context.Context, in io.Reader, out io.Writer) *stepper {
	lines := make(chan string)
	go func() {
		defer close(lines)
		scan := bufio.NewScanner(in)
		scan.Buffer(nil, dialect.DefaultLimits.Bytes)
		for scan.Scan() {
			select {
			case lines <- scan.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return &stepper{out: out, lines: lines}
}

const stepHelp = `  Enter        go on to the next state
  = JSON       change the data, for example = {"amount": 3}
  d            show the data again
  u STATE      go on until this state
  c            go on without stopping
  q            cancel the instance
`

// step answers the stops that records told of, until nothing is stopped.
func (s *session) step(ctx context.Context) error {
	for s.steps != nil {
		s.mu.Lock()
		if len(s.steps.stops) == 0 {
			s.mu.Unlock()
			return nil
		}
		at := s.steps.stops[0]
		s.steps.stops = s.steps.stops[1:]
		s.mu.Unlock()
		if err := s.answer(ctx, at); err != nil {
			return err
		}
	}
	return nil
}

// place is where a stopped instance is: its file and line.
func (s *session) place(ctx context.Context, at stop) string {
	row, err := s.engine.Get(ctx, at.instance)
	for _, d := range s.definitions {
		if err == nil && d.Program.ID == row.Definition {
			return fmt.Sprintf("%s:%d", d.file, at.record.Pos.Line)
		}
	}
	return fmt.Sprintf("line %d", at.record.Pos.Line)
}

// isState reports whether a state of that name is anywhere in what runs, and if not,
// which may be meant.
func (s *session) isState(name string) (bool, string) {
	var names []string
	for _, d := range s.definitions {
		for _, state := range d.Program.States {
			names = append(names, state.Name)
		}
	}
	return slices.Contains(names, name), dialect.Suggest(name, names)
}

// answer asks about one stop and carries the answer out.
func (s *session) answer(ctx context.Context, at stop) error {
	p := s.steps
	name := at.record.Node
	if p.free || p.until != "" && p.until != name {
		return s.engine.Control(ctx, at.instance, core.Control{Verb: core.VerbResume})
	}
	p.until = ""
	data := at.record.Data
	fmt.Fprintf(p.out, "→ %s   %s   %s\n", plain(name), s.progress.types[name], s.place(ctx, at))
	p.show(data)
	for {
		fmt.Fprint(p.out, "[Enter, = JSON, d, u STATE, c, q, ?] ")
		line, err := p.ask(s.asking)
		if err != nil {
			return err
		}
		verb, arg, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch verb {
		case "", "n":
		case "c":
			p.free = true
		case "u":
			until := strings.TrimSpace(arg)
			known, near := s.isState(until)
			if !known {
				fmt.Fprintf(p.out, "  there is no state %q", until)
				if near != "" {
					fmt.Fprintf(p.out, "; did you mean %q?", near)
				}
				fmt.Fprintln(p.out)
				continue
			}
			p.until = until
		case "q":
			first, _, _ := s.seen() // with everything that it started
			return s.engine.Control(ctx, first, core.Control{Verb: core.VerbCancel})
		case "d":
			p.show(data)
			continue
		case "=":
			changed, err := expr.ParseJSON([]byte(arg))
			if err == nil {
				err = s.engine.Control(ctx, at.instance, core.Control{Verb: core.VerbAmend, Data: changed, HasData: true})
			}
			if err != nil {
				fmt.Fprintf(p.out, "  the data is as it was: %v\n", err)
				continue
			}
			data = changed
			p.show(data)
			continue
		default:
			fmt.Fprint(p.out, stepHelp)
			continue
		}
		return s.engine.Control(ctx, at.instance, core.Control{Verb: core.VerbResume})
	}
}

// ask reads an answer. Where there are no more, the run goes on by itself.
func (p *stepper) ask(ctx context.Context) (string, error) {
	select {
	case line, open := <-p.lines:
		if !open {
			if ctx.Err() != nil {
				return "", context.Cause(ctx)
			}
			fmt.Fprintln(p.out)
			return "c", nil
		}
		return line, nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

func (p *stepper) show(data expr.Value) {
	var b bytes.Buffer
	if json.Indent(&b, data.AppendJSON(nil), "  ", "  ") == nil {
		fmt.Fprintf(p.out, "  %s\n", b.String())
	}
}
