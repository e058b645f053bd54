package simclient

import (
	"hash/fnv"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"

	"github.com/lockstep-workflows/lockstep/api"
)

// workflow is a workflow with what a simulated actor needs to choose its moves.
type workflow struct {
	api.Workflow
	moves  map[string][]string // by state: those of the client, or if it has none, of the simulated operator
	theirs map[string]bool     // states whose moves are the operator's
	leads  map[string][2]bool  // by state: whether a success, and a failure, can be reached
	failed map[string]bool     // states that are failures
}

// failureLike matches names of final states that look like failures.
var failureLike = regexp.MustCompile(`(?i)fail|error|abort|reject|discard|cancel|denied|rolled|broken|drop|withdraw`)

func newWorkflow(w api.Workflow, failState string, approve bool) *workflow {
	s := &workflow{Workflow: w, moves: map[string][]string{}, theirs: map[string]bool{}, leads: map[string][2]bool{}, failed: map[string]bool{}}
	for _, state := range w.States {
		s.moves[state.Name] = w.Moves(state.Name, api.ActorClient)
		if len(s.moves[state.Name]) == 0 && approve {
			s.moves[state.Name], s.theirs[state.Name] = w.Moves(state.Name, api.ActorOperator), true
		}
		if failState != "" {
			s.failed[state.Name] = state.Name == failState
		} else if w.Final(state.Name) {
			s.failed[state.Name] = failureLike.MatchString(state.Name) || failureLike.MatchString(w.Group(state.Name))
		}
	}
	for _, state := range w.States {
		s.reach(state.Name, map[string]bool{})
	}
	return s
}

// reach finds what a state leads to. A workflow has no cycles except from a state to itself; seen guards
// against an invalid one.
func (s *workflow) reach(state string, seen map[string]bool) [2]bool {
	if known, ok := s.leads[state]; ok {
		return known
	}
	if seen[state] {
		return [2]bool{}
	}
	seen[state] = true
	var out [2]bool
	switch {
	case s.failed[state]:
		out[1] = true
	case s.Final(state):
		out[0] = true
	default:
		for _, t := range s.Transitions {
			if t.From == state && t.To != state {
				to := s.reach(t.To, seen)
				out[0], out[1] = out[0] || to[0], out[1] || to[1]
			}
		}
	}
	s.leads[state] = out
	return out
}

// choose picks the next state of a job: one that leads to the intended end, if possible.
func (s *workflow) choose(state string, fails bool, rng *rand.Rand) string {
	end := 0
	if fails {
		end = 1
	}
	var good []string
	for _, to := range s.moves[state] {
		if s.leads[to][end] {
			good = append(good, to)
		}
	}
	if len(good) == 0 {
		good = s.moves[state]
	}
	slices.Sort(good)
	return good[rng.IntN(len(good))]
}

// simJob is a job that a device works on.
type simJob struct {
	id, client string
	workflow   *workflow
	state      string

	rng     *rand.Rand
	fails   bool // it will end in a failure
	reports int  // remaining progress reports in this state
	look    bool // read it before anything else
	parked  bool // it waits for an operator, or has ended
	over    bool // it has ended; kept, so that a late event does not add it again
	failed  bool // it reached a failure state
}

// newRandom is the random source for the n-th job of a client. It depends only on the seed, not on other
// jobs.
func newRandom(seed uint64, clientID, workflow string, n int) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(clientID + "\x00" + workflow + "\x00" + strconv.Itoa(n)))
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// enter sets the current state of a job.
func (j *simJob) enter(state string, reports int) {
	if j.state != state {
		j.reports = reports
	}
	j.state = state
	j.parked = len(j.workflow.moves[state]) == 0
}

// next is the next status update of the device.
func (j *simJob) next(reports int) api.JobStatus {
	progress := 100
	out := api.JobStatus{ClientID: j.client, State: j.state, Progress: &progress}
	if j.workflow.theirs[j.state] {
		return api.JobStatus{State: j.workflow.choose(j.state, j.fails, j.rng)}
	}
	if j.reports > 0 {
		progress = 100 * (reports - j.reports + 1) / (reports + 1)
		j.reports--
		return out
	}
	out.State = j.workflow.choose(j.state, j.fails, j.rng)
	progress = 0
	if j.workflow.Final(out.State) {
		progress = 100
	}
	if j.workflow.failed[out.State] {
		out.Message = "the simulated device failed"
		out.Progress = nil
	}
	return out
}
