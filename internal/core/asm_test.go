package core

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/expr/languages"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/jobdata"
)

// assemble reads a program from text, one table entry a line:
//
//	expr jsonpath $.a            the next expression, from 1
//	event Paid shop paid corr    name, source, type, correlation attributes (attr or attr=expr-id)
//	func charge                  the next function, from 0
//	region name ENTRY {json}     the next region, from 0
//	start 0 1                    events that start an instance; "start all 0 1"
//	limit fuel 10
//	stop STATE                   pause before it
//	job                          the program is one
//	variables                    its expressions see variables, and its input is any value
//	warn                         violations of its schemas are warnings, one by one
//	error FAULT TYPE STATUS      how a fault looks as an error object; - is all others
//	node [@entered|@left] NAME op {json} [-> next] [=> out]   the next node, from 1
func assemble(text string) (*Program, error) {
	p := &ir.Program{
		ID: "test", Dialect: "asm", Edition: ir.Edition,
		Nodes: make([]ir.Node, 1), Exprs: make([]ir.Expr, 1),
	}
	limits := DefaultLimits
	var stops []string
	for no, line := range strings.Split(text, "\n") {
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		var err error
		switch verb {
		case "", "#":
		case "expr":
			lang, src, _ := strings.Cut(rest, " ")
			p.Exprs = append(p.Exprs, ir.Expr{Lang: lang, Src: src})
		case "event":
			f := strings.Fields(rest)
			e := ir.Event{Name: f[0], Source: f[1], Type: f[2]}
			for _, c := range f[3:] {
				attr, id, _ := strings.Cut(c, "=")
				n, _ := strconv.Atoi(id)
				e.Correlate = append(e.Correlate, ir.Correlation{Attribute: attr, Value: ir.ExprID(n)})
			}
			p.Events = append(p.Events, e)
		case "func":
			p.Functions = append(p.Functions, ir.Function{Name: rest})
		case "region":
			f := strings.SplitN(rest, " ", 3)
			var r ir.Region
			if len(f) == 3 {
				err = json.Unmarshal([]byte(f[2]), &r)
			}
			entry, _ := strconv.Atoi(f[1])
			r.Name, r.Entry = f[0], ir.NodeID(entry)
			p.Regions = append(p.Regions, r)
		case "schema":
			var in, out int
			_, err = fmt.Sscan(rest, &in, &out)
			p.InputSchema, p.OutputSchema = ir.ExprID(in), ir.ExprID(out)
		case "job":
			p.Job = true
		case "warn":
			p.WarnInput, p.WarnOutput = true, true
		case "variables":
			p.Variables, p.AnyInput = true, true
		case "error":
			f := strings.Fields(rest)
			n, _ := strconv.Atoi(f[2])
			p.Errors = append(p.Errors, ir.ErrorType{Fault: strings.TrimPrefix(f[0], "-"), Type: f[1], Status: n})
		case "stop":
			stops = append(stops, rest)
		case "limit":
			f := strings.Fields(rest)
			n, _ := strconv.Atoi(f[1])
			*map[string]*int{"fuel": &limits.Fuel, "steps": &limits.Steps, "frames": &limits.Frames, "inflight": &limits.FanInFlight, "data": &limits.DataBytes, "width": &limits.FanWidth, "stepwork": &limits.StepWork, "opwork": &limits.OpWork, "work": &limits.Work, "fan-failures": &limits.FanFailures}[f[0]] = n
		case "node":
			var n ir.Node
			n, err = assembleNode(rest)
			p.Nodes = append(p.Nodes, n)
		default:
			err = fmt.Errorf("unknown entry %q", verb)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", no+1, err)
		}
	}
	encoded, err := ir.Encode(p)
	if err != nil {
		return nil, err
	}
	if p, err = ir.Decode(encoded); err != nil { // what runs is what was stored
		return nil, err
	}
	linked, err := Link(p, languages.All(), jobdata.Model{})
	if err != nil {
		return nil, err
	}
	linked.Limits, linked.Stops = limits, stops
	return linked, nil
}

func assembleNode(rest string) (n ir.Node, err error) {
	f := strings.Fields(rest)
	n.Pos = ir.Pos{Line: 1, Column: 1}
	switch f[0] {
	case "@entered":
		n.Mark, f = ir.MarkEntered, f[1:]
	case "@left":
		n.Mark, f = ir.MarkLeft, f[1:]
	}
	n.Name = f[0]
	op, f := f[1], f[2:]
	for len(f) >= 2 {
		id, convErr := strconv.Atoi(f[len(f)-1])
		if convErr != nil {
			break
		}
		switch f[len(f)-2] {
		case "->":
			n.Next = ir.NodeID(id)
		case "=>":
			n.Out = ir.NodeID(id)
		}
		f = f[:len(f)-2]
	}
	arg := strings.Join(f, " ")
	if arg == "" {
		arg = "{}"
	}
	var wrapped ir.Node
	err = json.Unmarshal(fmt.Appendf(nil, `{"op":%q,"arg":%s}`, op, arg), &wrapped)
	n.Op = wrapped.Op
	return n, err
}

func mustAssemble(t testing.TB, text string) *Program {
	t.Helper()
	p, err := assemble(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
