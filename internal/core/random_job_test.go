package core

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/jobdata"
)

// TestRandomJobs gives random moves, times and interventions to random state machines,
// once in memory and once from pages, and compares what they come to with a table of
// the machine: where a job is, what it may do, what its status and definition are.
func TestRandomJobs(t *testing.T) {
	seen := map[string]int{}
	for seed := *randomSeed; seed < *randomSeed+int64(*randomPrograms)/2; seed++ {
		j := newRandomJob(t, seed)
		for i := 0; i < 40 && j.bad == ""; i++ {
			seen[j.act()]++
			j.compare()
		}
		if j.bad != "" {
			t.Fatalf("-core.seed=%d: %s\nlast inputs:\n%s", seed, j.bad, strings.Join(j.log[max(0, len(j.log)-3):], "\n"))
		}
		seen[string(j.mem.Status())]++
	}
	for _, what := range []string{"move", "stay", "stay after the end", "refused", "refused after the end", "timeout", "amend", "amend after the end", "label", "paused", string(Completed), string(Cancelled)} {
		if seen[what] == 0 {
			t.Errorf("no job came to %q: the generator has lost something (%v)", what, seen)
		}
	}
}

// randomJob is a job and what is expected of it.
type randomJob struct {
	twin
	r      *rand.Rand
	states []jobNode

	at         int // the state
	since      Time
	paused     bool
	over       Status // where it is
	status     expr.Value
	definition expr.Value // Null: none
	tags       string
}

// jobNode is a state; moves go to later ones.
type jobNode struct {
	name      string
	immediate int // the state that it goes to at once; 0: none
	moves     []jobMove
	timeout   Time // 0: none
	onTimeout int
}

type jobMove struct {
	actor string
	to    int
}

func newRandomJob(t *testing.T, seed int64) *randomJob {
	j := &randomJob{r: rand.New(rand.NewSource(seed)), definition: expr.Null, tags: `["t"]`}
	n := 3 + j.r.Intn(5)
	for i := range n {
		s := jobNode{name: fmt.Sprintf("S%d", i)}
		switch left := n - i - 1; {
		case left == 0 || i > 0 && j.r.Intn(5) == 0: // final
		case j.r.Intn(4) == 0:
			s.immediate = i + 1 + j.r.Intn(left)
		default:
			for range 1 + j.r.Intn(3) {
				m := jobMove{[]string{"CLIENT", "WFX"}[j.r.Intn(2)], i + 1 + j.r.Intn(left)}
				if !slices.Contains(s.moves, m) {
					s.moves = append(s.moves, m)
				}
			}
			if j.r.Intn(2) == 0 {
				s.timeout, s.onTimeout = Time(1+j.r.Intn(20))*1e9, i+1+j.r.Intn(left)
			}
		}
		j.states = append(j.states, s)
	}
	p := j.program(t)
	j.twin = twin{p: p, now: 1e18, pages: map[pageKey][]byte{}, open: map[Ticket]WaitKind{}}
	input := value(`{"clientId":"dev","tags":["t"],"status":{}}`)
	if j.r.Intn(2) == 0 {
		j.definition = value(`{"url":"` + strings.Repeat("x", j.r.Intn(2)*inlineBytes) + `"}`)
		input = input.With(jobdata.Definition, j.definition)
	}
	j.status = value(`{"clientId":"dev"}`)
	j.step(Start{Data: input})
	j.enter(0)
	j.compare()
	return j
}

// program is the machine as dialects compile it.
func (j *randomJob) program(t *testing.T) *Program {
	p := &ir.Program{ID: "job", Dialect: "asm", Edition: ir.Edition, Job: true, Nodes: make([]ir.Node, 1), Exprs: make([]ir.Expr, 1), Regions: []ir.Region{{Name: "main", Entry: 1}}}
	template := func(src string) ir.ExprID {
		p.Exprs = append(p.Exprs, ir.Expr{Lang: jsonpath.TemplateLang, Src: src})
		return ir.ExprID(len(p.Exprs) - 1)
	}
	add := func(n ir.Node) ir.NodeID {
		p.Nodes = append(p.Nodes, n)
		return ir.NodeID(len(p.Nodes) - 1)
	}
	set := func(path ...string) ir.Put { return ir.Put{Mode: ir.PutSet, Path: path} }
	for i := range j.states { // entries are the first nodes
		add(ir.Node{Name: j.states[i].name, Mark: ir.MarkEntered, Op: &ir.Eval{From: template(fmt.Sprintf("%q", j.states[i].name)), Put: set(jobdata.Status, jobdata.State)}})
	}
	for i := range j.states {
		s := &j.states[i]
		leave := func(to int) ir.NodeID {
			return add(ir.Node{Name: s.name, Mark: ir.MarkLeft, Op: &ir.Eval{}, Next: ir.NodeID(to + 1)})
		}
		var self []ir.Arm
		for _, actor := range []string{"CLIENT", "WFX"} {
			self = append(self, ir.Arm{Offer: &ir.Offer{Actor: actor, Choice: s.name}, Put: set(jobdata.Status), Stay: true})
		}
		var next ir.NodeID
		switch {
		case s.immediate > 0:
			next = leave(s.immediate)
		case len(s.moves) == 0:
			next = add(ir.Node{Name: s.name, Op: &ir.End{Offers: self}})
		default:
			op := &ir.Await{Need: 1}
			for _, m := range s.moves {
				op.Arms = append(op.Arms, ir.Arm{Offer: &ir.Offer{Actor: m.actor, Choice: j.states[m.to].name}, Put: set(jobdata.Status), Next: leave(m.to)})
			}
			op.Arms = append(op.Arms, self...)
			if s.timeout > 0 {
				op.Timeout = ir.Span{Set: true, Nanos: int64(s.timeout)}
				late := template(fmt.Sprintf(`{"state":%q,"message":"late"}`, j.states[s.onTimeout].name))
				op.OnTimeout = add(ir.Node{Name: s.name, Op: &ir.Eval{From: late, Put: set(jobdata.Status)}, Next: leave(s.onTimeout)})
			}
			next = add(ir.Node{Name: s.name, Op: op})
		}
		p.Nodes[i+1].Next = next
	}
	linked, err := Link(p, jsonpath.Languages(), jobdata.Model{})
	if err != nil {
		t.Fatal(err)
	}
	return linked
}

// enter is what the machine's table says of coming to a state.
func (j *randomJob) enter(state int) {
	j.at, j.since = state, j.now
	j.status = j.status.With(jobdata.State, expr.String(j.states[state].name))
	switch s := &j.states[state]; {
	case s.immediate > 0:
		j.enter(s.immediate)
	case len(s.moves) == 0:
		j.over = Completed
	}
}

// act does something and says what.
func (j *randomJob) act() string {
	after := ""
	if j.over != "" {
		after = " after the end"
	}
	switch x := j.r.Intn(20); {
	case x < 10:
		return j.take() + after
	case x < 14 && j.over == "" && !j.paused:
		j.now += Time(j.r.Intn(12)) * 1e9
		var due []Input
		for _, tk := range j.mem.Due(j.now) {
			due = append(due, Reply{Ticket: tk})
		}
		j.step(due...)
		if s := &j.states[j.at]; s.timeout > 0 && j.now >= j.since+s.timeout {
			j.status = value(`{"message":"late"}`)
			j.enter(s.onTimeout)
			return "timeout"
		}
		return "wait"
	case x < 17:
		definition := value(fmt.Sprintf(`{"n":%d}`, j.r.Intn(9)))
		if j.r.Intn(3) == 0 {
			definition = expr.Null
		}
		j.step(Control{Verb: VerbAmend, HasData: true, Data: expr.Object(expr.Member{Key: jobdata.Definition, Value: definition})})
		if j.over == "" || j.over == Completed {
			j.definition = definition
		}
		return "amend" + after
	case x < 18:
		tags := fmt.Sprintf(`["t%d"]`, j.r.Intn(9))
		j.step(Control{Verb: VerbLabel, HasData: true, Data: value(`{"tags":` + tags + `}`)})
		j.tags = tags
		return "label"
	case x < 19 && j.over == "":
		verb := VerbSuspend
		if j.paused {
			verb = VerbResume
		}
		j.step(Control{Verb: verb})
		j.paused = !j.paused
		return "paused"
	case j.over == "" && j.r.Intn(4) == 0:
		j.step(Control{Verb: VerbCancel})
		j.over, j.paused = Cancelled, false
		return "cancel"
	}
	return "nothing"
}

func (j *randomJob) take() string {
	actor := []string{"CLIENT", "WFX"}[j.r.Intn(2)]
	to := j.at + j.r.Intn(min(3, len(j.states)-j.at))
	sent := value(fmt.Sprintf(`{"progress":%d}`, j.r.Intn(100)))
	in := Take{Actor: actor, Choice: j.states[to].name, Value: sent}
	allowed := j.over != Cancelled && !j.paused &&
		(to == j.at || j.over == "" && slices.Contains(j.states[j.at].moves, jobMove{actor, to}))
	before := len(j.open)
	j.step(in)
	if !allowed {
		return "refused"
	}
	j.status = sent.With(jobdata.State, expr.String(j.states[to].name))
	if to == j.at {
		if len(j.open) != before {
			j.fail("a status for the same state opened or closed something")
		}
		return "stay"
	}
	j.enter(to)
	return "move"
}

// compare checks the job against the table.
func (j *randomJob) compare() {
	data := expr.Object(expr.Member{Key: jobdata.Client, Value: expr.String("dev")}, expr.Member{Key: jobdata.Status, Value: j.status})
	if !j.definition.IsNull() {
		data = data.With(jobdata.Definition, j.definition)
	}
	want := Waiting
	switch {
	case j.over != "":
		want = j.over
	case j.paused:
		want = Paused
	}
	tags, _ := j.mem.Labels().Get(jobdata.Tags)
	wake, timed := j.mem.Wake()
	s := &j.states[j.at]
	switch {
	case j.bad != "":
	case !expr.Equal(j.mem.Data(), data):
		j.fail("the data is %s, want %s", j.mem.Data(), data)
	case j.mem.Status() != want:
		j.fail("it is %s, want %s", j.mem.Status(), want)
	case !slices.Equal(j.mem.Active(j.p), []string{s.name}):
		j.fail("it is in %v, want %s", j.mem.Active(j.p), s.name)
	case tags.String() != j.tags:
		j.fail("its tags are %s, want %s", tags, j.tags)
	case want == Completed && !expr.Equal(j.mem.Output(), j.status):
		j.fail("its output is %s, want %s", j.mem.Output(), j.status)
	case timed != (j.over == "" && s.timeout > 0), timed && wake != j.since+s.timeout:
		j.fail("it wakes at %s (%t), want %s after %s", wake, timed, s.timeout, j.since)
	}
}

// TestARefusedValueLeavesTheStateAsItWas: also in memory, where no page brings it back.
func TestARefusedValueLeavesTheStateAsItWas(t *testing.T) {
	p := mustAssemble(t, `limit data 60
region main 1
region inner 2 {"collect":true}
node OUT enter {"region":1} -> 3
node PICK await {"arms":[{"offer":{"actor":"A","choice":"one"},"put":{"mode":"merge"}}],"need":1}
node DONE end`)
	r, err := Step(p, nil, 1, Start{Data: expr.EmptyObject})
	if err != nil {
		t.Fatal(err)
	}
	before := dump(r.State)
	large := value(`{"text":"` + strings.Repeat("x", 60) + `"}`)
	for _, in := range []Input{
		Take{Actor: "A", Choice: "one", Value: large},
		Control{Verb: VerbAmend, Data: large, HasData: true},
	} {
		_, err = Step(p, r.State, 1, in)
		if after := dump(r.State); !isRejected(err) || after != before {
			t.Errorf("%v\n%s\nbefore:\n%s", err, after, before)
		}
	}
}

// TestAJobNeedsItsModel: without it a job would run as if its data meant nothing.
func TestAJobNeedsItsModel(t *testing.T) {
	p := &ir.Program{
		ID: "job", Edition: ir.Edition, Job: true,
		Nodes: []ir.Node{{}, {Op: &ir.End{}}}, Exprs: make([]ir.Expr, 1), Regions: []ir.Region{{Entry: 1}},
	}
	if _, err := Link(p, nil, nil); err == nil {
		t.Error("linked")
	}
	if _, err := Link(p, nil, jobdata.Model{}); err != nil {
		t.Error(err)
	}
}
