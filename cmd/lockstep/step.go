package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
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

// answer asks about one stop and carries the answer out.
func (s *session) answer(ctx context.Context, at stop) error {
	p := s.steps
	name := at.record.Node
	if p.free || p.until != "" && p.until != name {
		return s.engine.Control(ctx, at.instance, core.Control{Verb: core.VerbResume})
	}
	p.until = ""
	data := at.record.Data
	fmt.Fprintf(p.out, "→ %s   %s   line %d\n", plain(name), s.progress.types[name], at.record.Pos.Line)
	p.show(data)
	for {
		fmt.Fprint(p.out, "[Enter, = JSON, d, u STATE, c, q, ?] ")
		line, err := p.ask(ctx)
		if err != nil {
			return err
		}
		verb, arg, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch verb {
		case "", "n":
		case "c":
			p.free = true
		case "u":
			p.until = strings.TrimSpace(arg)
		case "q":
			return s.engine.Control(ctx, at.instance, core.Control{Verb: core.VerbCancel})
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
