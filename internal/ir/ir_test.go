package ir

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

// whole uses every operation and every table.
func whole() *Program {
	span := Span{Set: true, Months: 1, Days: 2, Nanos: 3}
	return &Program{
		ID: "whole", Version: "1", Name: "Whole", Dialect: "test", Edition: Edition, Digest: "ab",
		Nodes: []Node{
			{},
			{Name: "A", Pos: Pos{3, 5}, Mark: MarkEntered, Op: &Eval{Check: 1, CheckPos: Pos{4, 5}, From: 1, Put: Put{Pick: Pick{Expr: 1, Key: "k", Wrap: WrapSingle}, Mode: PutReplace}, Checkpoint: true}, Next: 2},
			{Name: "B", Op: &Branch{Cases: []Case{{When: 1, Next: 3}}}, Next: 3, Out: 0},
			{Name: "C", Op: &Call{Scope: Pick{Expr: 1}, Args: 1, Result: Put{Mode: PutMerge, Warn: true}}, Next: 4},
			{Name: "D", Op: &Await{Arms: []Arm{{Event: 0, Listen: 1, Next: 5}}, Need: 1, Timeout: span, OnTimeout: 5}},
			{Name: "E", Op: &Emit{Event: 0, From: 1, Attrs: 1}, Next: 6},
			{Name: "F", Op: &Fan{Branches: []FanBranch{{Region: 1, Detached: true}}, Need: 1, Join: JoinMerge}, Next: 7},
			{Name: "G", Op: &Fan{Each: &Each{Over: 1, Body: 1, Var: "x"}, Join: JoinAppend, Path: []string{"a", "b"}}, Next: 8},
			{Name: "H", Op: &Enter{Region: 1}, Next: 9},
			{Name: "I", Op: &Spawn{Workflow: "w", Wait: true}, Next: 10},
			{Name: "J", Op: &Undo{}, Next: 11},
			{Name: "K", Mark: MarkLeft, Op: &End{Terminate: true}},
			{Name: "L", Op: &Raise{Error: "E", Final: true}, Out: 11},
		},
		Regions: []Region{
			{Name: "main", Entry: 1},
			{Name: "r", Entry: 12, Timeout: span, Undo: 1, Listen: []EventID{0}, Collect: true, Catch: []Catch{{Error: "x", Code: "1", Retry: &Retry{Delay: span, Max: 2, JitterMillis: 100}, Next: 11}}},
		},
		Exprs:     []Expr{{}, {Lang: "l", Src: "s", Pos: Pos{1, 2}, Parts: []Pos{{1, 3}}}},
		Functions: []Function{{Name: "f", Operation: "o", Resource: 1}},
		Resources: []Resource{{Ref: "o", Text: "{}"}},
		Events:    []Event{{Name: "e", Source: "s", Type: "t", Either: "i", Correlate: []Correlation{{Attribute: "a", From: "$.a", Value: 1}}}},
		Start:     Start{Events: []EventID{0}, Any: []Need{{Slots: []int{0}, Window: span}}, Window: span, Schedule: &Schedule{Cron: "* * * * *"}},
		Labels:    []Label{{"name", 1}},
		States:    []State{{Name: "A", Type: "inject", In: "b"}},
		Edges:     []Edge{{From: "A", To: "B", Kind: EdgeNext}},
		Metadata:  `{"a":1}`,
	}
}

func TestEncodeDecodeIsLossless(t *testing.T) {
	p := whole()
	data, err := Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, p) {
		t.Errorf("decoded program differs:\n%+v\n%+v", got, p)
	}
	again, err := Encode(got)
	if err != nil || !bytes.Equal(again, data) {
		t.Errorf("second encoding differs: %v", err)
	}
}

func TestDecodeRefusesWhatItDoesNotKnow(t *testing.T) {
	data, err := Encode(whole())
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string][2]string{
		"a later format":      {`"format":1`, `"format":2`},
		"an unknown field":    {`"dialect"`, `"flavour":"x","dialect"`},
		"an unknown op":       {`"op":"undo"`, `"op":"redo"`},
		"an unknown op field": {`"op":"spawn","arg":{`, `"op":"spawn","arg":{"urgent":true,`},
	} {
		t.Run(name, func(t *testing.T) {
			damaged := strings.Replace(string(data), change[0], change[1], 1)
			if damaged == string(data) {
				t.Fatal("the case changes nothing")
			}
			if _, err := Decode([]byte(damaged)); err == nil {
				t.Error("was accepted")
			}
		})
	}
}

func TestCheckFindsEveryBadReference(t *testing.T) {
	for name, damage := range map[string]func(*Program){
		"next":               func(p *Program) { p.Nodes[1].Next = 99 },
		"out":                func(p *Program) { p.Nodes[12].Out = -1 },
		"check":              func(p *Program) { p.Nodes[1].Op.(*Eval).Check = 9 },
		"pick":               func(p *Program) { p.Nodes[1].Op.(*Eval).Put.Pick.Expr = 9 },
		"mode":               func(p *Program) { p.Nodes[1].Op.(*Eval).Put.Mode = "x" },
		"case":               func(p *Program) { p.Nodes[2].Op.(*Branch).Cases[0].When = 9 },
		"case next":          func(p *Program) { p.Nodes[2].Op.(*Branch).Cases[0].Next = 99 },
		"function":           func(p *Program) { p.Nodes[3].Op.(*Call).Function = 1 },
		"resource":           func(p *Program) { p.Functions[0].Resource = 2 },
		"args":               func(p *Program) { p.Nodes[3].Op.(*Call).Args = 2 },
		"arm event":          func(p *Program) { p.Nodes[4].Op.(*Await).Arms[0].Event = 1 },
		"arm next":           func(p *Program) { p.Nodes[4].Op.(*Await).Arms[0].Next = 99 },
		"need":               func(p *Program) { p.Nodes[4].Op.(*Await).Need = 2 },
		"needs no arm":       func(p *Program) { p.Nodes[4].Op = &Await{Need: 1} },
		"list and wildcard":  func(p *Program) { p.Regions[1].Catch[0] = Catch{When: []Match{{}}, Any: true} },
		"batch of any size":  func(p *Program) { p.Nodes[7].Op.(*Fan).Each.Max, p.Nodes[7].Op.(*Fan).Each.Batch = 0, true },
		"waits and is over":  func(p *Program) { p.Nodes[9].Op = &Spawn{Workflow: "w", Wait: true, Continue: true} },
		"no instant":         func(p *Program) { p.Start.Schedule = &Schedule{Cron: "0 * * * *", Until: "tomorrow"} },
		"bound of nothing":   func(p *Program) { p.Start.Schedule = &Schedule{From: "2026-01-01T00:00:00Z"} },
		"back from nowhere":  func(p *Program) { p.Start.Schedule = &Schedule{Every: Span{Set: true, Days: 1}, Back: true} },
		"wrap":               func(p *Program) { p.Nodes[1].Op.(*Eval).Put.Pick.Wrap = "x" },
		"timeout":            func(p *Program) { p.Nodes[4].Op.(*Await).Timeout.Expr = 9 },
		"emitted event":      func(p *Program) { p.Nodes[5].Op.(*Emit).Event = 5 },
		"branch":             func(p *Program) { p.Nodes[6].Op.(*Fan).Branches[0].Region = 7 },
		"branch is main":     func(p *Program) { p.Nodes[6].Op.(*Fan).Branches[0].Region = 0 },
		"body":               func(p *Program) { p.Nodes[7].Op.(*Fan).Each.Body = 7 },
		"both kinds of fan":  func(p *Program) { p.Nodes[7].Op.(*Fan).Branches = []FanBranch{{Region: 1}} },
		"region":             func(p *Program) { p.Nodes[8].Op.(*Enter).Region = 2 },
		"no op":              func(p *Program) { p.Nodes[9].Op = nil },
		"entry":              func(p *Program) { p.Regions[1].Entry = 99 },
		"undo":               func(p *Program) { p.Regions[1].Undo = 5 },
		"listen":             func(p *Program) { p.Regions[1].Listen[0] = 5 },
		"handler":            func(p *Program) { p.Regions[1].Catch[0].Next = 99 },
		"start event":        func(p *Program) { p.Start.Events[0] = 3 },
		"start slot":         func(p *Program) { p.Start.Any[0].Slots[0] = 1 },
		"start of nothing":   func(p *Program) { p.Start.Any[0].Slots = nil },
		"two kinds of start": func(p *Program) { p.Start.All = true },
		"label":              func(p *Program) { p.Labels[0].Value = 9 },
		"correlation":        func(p *Program) { p.Events[0].Correlate[0].Value = 9 },
		"schema":             func(p *Program) { p.OutputSchema = 9 },
		"no main":            func(p *Program) { p.Regions = nil },
		"no placeholder":     func(p *Program) { p.Nodes = nil },
	} {
		t.Run(name, func(t *testing.T) {
			p := whole()
			damage(p)
			if err := p.Check(); err == nil {
				t.Error("was accepted")
			}
		})
	}
	p := whole()
	p.Nodes[4].Op = &Await{} // waits until something around it ends
	p.Start.Schedule = &Schedule{Every: Span{Set: true, Days: 1}, Until: "2026-01-01T00:00:00+01:00", Back: true}
	if err := p.Check(); err != nil {
		t.Error(err)
	}
}

// job is a state machine with two states.
func job() *Program {
	set := Put{Mode: PutSet, Path: []string{"status"}}
	self := []Arm{{Offer: &Offer{Actor: "CLIENT", Choice: "B"}, Put: set, Stay: true}}
	return &Program{
		ID: "job", Dialect: "test", Edition: Edition, Job: true,
		Nodes: []Node{
			{},
			{Name: "A", Op: &Await{Arms: []Arm{{Offer: &Offer{Actor: "WFX", Choice: "B"}, Put: set, Next: 2}, {Offer: &Offer{Actor: "CLIENT", Choice: "A"}, Put: set, Stay: true}}, Need: 1}},
			{Name: "B", Op: &End{Offers: self}},
		},
		Regions: []Region{{Name: "main", Entry: 1}},
		Exprs:   []Expr{{}},
	}
}

func TestJobsKeepTheirShape(t *testing.T) {
	data, err := Encode(job())
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Decode(data); err != nil || !reflect.DeepEqual(got, job()) {
		t.Errorf("decoded job differs: %v\n%+v", err, got)
	}
	for name, damage := range map[string]func(*Program){
		"set nowhere":               func(p *Program) { p.Nodes[1].Op.(*Await).Arms[0].Put.Path = nil },
		"an event stays":            func(p *Program) { p.Events = []Event{{Name: "e"}}; p.Nodes[1].Op.(*Await).Arms[1].Offer = nil },
		"counted and stays":         func(p *Program) { p.Nodes[1].Op.(*Await).Need = 2 },
		"leads on after the end":    func(p *Program) { p.Nodes[2].Op.(*End).Offers[0].Stay = false },
		"no job, but after its end": func(p *Program) { p.Job = false },
		"starts by itself":          func(p *Program) { p.Start.Schedule = &Schedule{Cron: "* * * * *"} },
		"several regions":           func(p *Program) { p.Regions = append(p.Regions, Region{Name: "r", Entry: 1}) },
	} {
		p := job()
		damage(p)
		if err := p.Check(); err == nil {
			t.Errorf("%s: was accepted", name)
		}
	}
}
