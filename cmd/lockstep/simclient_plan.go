package main

import (
	"hash/fnv"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"

	"github.com/lockstep-workflows/lockstep/client"
)

// simWorkflow is a workflow as a device sees it: where it can go, and which ends are failures.
type simWorkflow struct {
	client.Workflow
	moves  map[string][]string // by state, those of a client, or where it has none those of an operator who is played too
	theirs map[string]bool     // states in which they are the operator's
	leads  map[string][2]bool  // by state: whether a success, and a failure, can be reached
	failed map[string]bool     // states that are failures
}

// failureLike are names of ends that tell of no success.
var failureLike = regexp.MustCompile(`(?i)fail|error|abort|reject|discard|cancel|denied|rolled|broken|drop|withdraw`)

func newSimWorkflow(w client.Workflow, failState string, approve bool) *simWorkflow {
	s := &simWorkflow{Workflow: w, moves: map[string][]string{}, theirs: map[string]bool{}, leads: map[string][2]bool{}, failed: map[string]bool{}}
	for _, state := range w.States {
		s.moves[state.Name] = w.Moves(state.Name, client.ActorClient)
		if len(s.moves[state.Name]) == 0 && approve {
			s.moves[state.Name], s.theirs[state.Name] = w.Moves(state.Name, client.ActorOperator), true
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

// reach finds what a state leads to. A workflow has no cycles but from a state to itself; seen
// guards against one that is not as it should be.
func (s *simWorkflow) reach(state string, seen map[string]bool) [2]bool {
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

// choose picks the next state of a job: one that leads to the end it is to have, if there is one.
func (s *simWorkflow) choose(state string, fails bool, rng *rand.Rand) string {
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
	workflow   *simWorkflow
	state      string

	rng     *rand.Rand
	fails   bool // it is to end in a failure
	reports int  // how many it still sends of its progress in this state
	look    bool // read it again before anything else
	parked  bool // it waits for an operator, or is over
	over    bool // it is kept, so that a late event does not bring it back
	failed  bool // it came to a state that is a failure
}

// newRandom is the source of the choices for the n-th job of a client: the same for the same seed,
// whatever the others do.
func newRandom(seed uint64, clientID, workflow string, n int) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(clientID + "\x00" + workflow + "\x00" + strconv.Itoa(n)))
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// enter takes note of the state that a job is in.
func (j *simJob) enter(state string, reports int) {
	if j.state != state {
		j.reports = reports
	}
	j.state = state
	j.parked = len(j.workflow.moves[state]) == 0
}

// next is what the device says next.
func (j *simJob) next(reports int) client.JobStatus {
	progress := 100
	out := client.JobStatus{ClientID: j.client, State: j.state, Progress: &progress}
	if j.workflow.theirs[j.state] {
		return client.JobStatus{State: j.workflow.choose(j.state, j.fails, j.rng)}
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
