package hostile

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
)

// slowMatch is a condition that takes long over a long text: after each a of the text, the
// matcher keeps one more place of the pattern in mind.
const slowMatch = `{{ $.text[?(@ =~ /.*a.{800}b/)] }}`

// slowText makes slowMatch as slow as one expression may be; a longer one would be refused.
var slowText = fmt.Sprintf(`{"text": [%q]}`, strings.Repeat("a", 3_000))

// loop is a definition that waits, then goes round between a slow condition and next.
func loop(id, wait, next string) string {
	return definition(id, fmt.Sprintf(`
states:
- {name: Wait, type: delay, timeDelay: %s, start: {kind: default}, transition: {nextState: Ask}}
- {name: Ask, type: switch, dataConditions: [{condition: %q, end: {kind: default}}], default: {transition: {nextState: %s}}}
- {name: Again, type: inject, data: {}, transition: {nextState: Ask}}
`, wait, slowMatch, next))
}

// author is an attacker who may deploy definitions and start instances.
type author struct {
	s   *target
	api *client.Client
}

// newAuthor deploys what the attacks need.
func newAuthor(s *target) *author {
	a := &author{s, s.api(s.author)}
	for _, d := range []string{loop("busy", "PT0.1S", "Again"), loop("brief", "PT0.001S", "Wait"), crossing()} {
		if _, _, err := a.api.DeployDefinition(s.t.Context(), []byte(d), client.Deploy{}); err != nil {
			s.t.Fatal(err)
		}
	}
	return a
}

// attacks lists what the author does, each again and again.
func (a *author) attacks() map[string]func(context.Context, int) {
	return map[string]func(context.Context, int){
		"loops without a wait":     a.loops("busy", 30),
		"loops with a short wait":  a.loops("brief", 30),
		"many regular expressions": a.patterns,
		"many unknown functions":   a.functions,
		"slow playground":          a.playground,
		"large diagrams":           a.diagrams,
		"jobs in bulk":             a.bulk,
	}
}

func (a *author) deploy(ctx context.Context, document string) {
	_, _, _ = a.api.DeployDefinition(ctx, []byte(document), client.Deploy{})
}

// loops starts instances that take as much of the processor as they get.
func (a *author) loops(id string, count int) func(context.Context, int) {
	return func(ctx context.Context, round int) {
		if round > 0 {
			<-ctx.Done() // these never end
			return
		}
		each(count, func(int) { _, _ = a.api.StartInstance(ctx, id, client.Start{Input: api.Data(slowText)}) })
	}
}

// manyPatterns is the rest of a definition whose regular expressions take much memory. Documents are
// made once: the attackers share the processors with the server.
var manyPatterns = sync.OnceValue(func() string {
	var conditions strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&conditions, "  - {condition: \"{{ $[?(@.x%d =~ /(?=a)b{1,1500}/)] }}\", end: {kind: default}}\n", i)
	}
	return `
states:
- name: S
  type: switch
  start: {kind: default}
  default: {end: {kind: default}}
  dataConditions:
` + conditions.String()
})

// manyFunctions is the rest of one with many mistakes, each of which could be compared with many names.
var manyFunctions = sync.OnceValue(func() string {
	var names, calls strings.Builder
	for i := range 15_000 {
		fmt.Fprintf(&names, "- {name: function%d}\n", i)
		fmt.Fprintf(&calls, "  - {functionRef: {refName: missing%d}}\n", i)
	}
	return "\nfunctions:\n" + names.String() + `states:
- name: S
  type: operation
  start: {kind: default}
  end: {kind: default}
  actions:
` + calls.String()
})

func (a *author) patterns(ctx context.Context, round int) {
	a.deploy(ctx, definition(fmt.Sprint("patterns", round), manyPatterns()))
}

func (a *author) functions(ctx context.Context, round int) {
	a.deploy(ctx, definition(fmt.Sprint("functions", round), manyFunctions()))
}

// playground runs slow conditions there, four at a time.
func (a *author) playground(ctx context.Context, _ int) {
	looping := loop("play", "PT1S", "Again")
	each(4, func(int) { _, _ = a.api.Playground(ctx, api.PlayRequest{Definition: looping, Input: slowText}) })
}

// crossing is a definition whose diagram has many lines that cross.
func crossing() string {
	var states strings.Builder
	const n = 1_000
	for i := range n {
		fmt.Fprintf(&states, "- {name: S%d, type: switch, %s default: {end: {kind: default}}, dataConditions: [", i, map[bool]string{true: "start: {kind: default},"}[i == 0])
		for k := range 6 {
			fmt.Fprintf(&states, "{condition: \"{{ $[?(@.x == %d)] }}\", transition: {nextState: S%d}},", k, (i*7+k*131+1)%n)
		}
		states.WriteString("]}\n")
	}
	return definition("crossing", "\nstates:\n"+states.String())
}

// diagrams asks for large diagrams, many at a time.
func (a *author) diagrams(ctx context.Context, _ int) {
	each(20, func(int) { _, _ = a.api.GetGraph(ctx, "crossing", client.Version{}, "svg") })
}

// largeJob is a large job for many clients.
var largeJob = sync.OnceValue(func() api.JobsRequest {
	clients := make([]string, 1_000)
	for i := range clients {
		clients[i] = fmt.Sprint("victim", i)
	}
	return api.JobsRequest{Workflow: "chores", Clients: clients, Definition: api.Data(fmt.Sprintf("{\"x\": %q}", strings.Repeat("x", 3<<20)))}
})

func (a *author) bulk(ctx context.Context, _ int) { _, _ = a.api.CreateJobs(ctx, largeJob(), "") }

// each does something n times at once.
func each(n int, do func(int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { do(i) })
	}
	all.Wait()
}
