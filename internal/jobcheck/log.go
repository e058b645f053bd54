package jobcheck

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
)

// Status is what a client sees of a job.
type Status struct{ State, Message string }

// Verdict is how an operation ended.
type Verdict int

// The verdicts. Unknown is for operations without an answer.
const (
	Unknown Verdict = iota
	Accepted
	Refused // the move is not allowed in the state that the job is in
	Stale   // it named a revision, and the job has another one
)

// Moves says which states an actor may choose in a state, besides the state itself.
type Moves map[string]map[string][]string

// allows reports whether an actor may take a job from one state to another.
func (m Moves) allows(actor, from, to string) bool {
	return from == to || slices.Contains(m[from][actor], to)
}

// operation is one request about the job.
type operation struct {
	worker  int
	actor   string
	want    Status  // of an update
	since   *Status // if it named a revision: the status at that revision
	read    bool
	began   int64
	ended   int64 // 0: no answer
	verdict Verdict
	saw     Status // the answer
	turn    int    // its index in the history
	itself  bool   // not requested
}

// Log is what clients did to one job and saw of it.
type Log struct {
	Moves   Moves
	Initial Status
	Clock   func() int64 // strictly increasing; nil: the machine's clock

	mu    sync.Mutex
	ops   []*operation
	start time.Time
}

// now is the time since the first operation.
func (l *Log) now() int64 {
	if l.Clock != nil {
		return l.Clock()
	}
	if l.start.IsZero() {
		l.start = time.Now()
	}
	return int64(time.Since(l.start)) + 1
}

func (l *Log) begin(op *operation) *operation {
	l.mu.Lock()
	defer l.mu.Unlock()
	op.began = l.now()
	l.ops = append(l.ops, op)
	return op
}

func (l *Log) end(op *operation, v Verdict, saw Status) {
	l.mu.Lock()
	defer l.mu.Unlock()
	op.verdict, op.saw = v, saw
	if v != Unknown {
		op.ended = l.now()
	}
}

// Update logs an update. Its message must be unique.
func (l *Log) Update(worker int, actor string, want Status, do func() (Verdict, Status)) Verdict {
	return l.update(&operation{worker: worker, actor: actor, want: want}, do)
}

// UpdateSince is Update with the revision of an earlier read: if anything changed since, it must not be
// accepted.
func (l *Log) UpdateSince(worker int, actor string, was, want Status, do func() (Verdict, Status)) Verdict {
	return l.update(&operation{worker: worker, actor: actor, want: want, since: &was}, do)
}

func (l *Log) update(op *operation, do func() (Verdict, Status)) Verdict {
	l.begin(op)
	v, saw := do()
	l.end(op, v, saw)
	return v
}

// Itself notes a move in the history that was not requested, such as one after a timeout. The job's
// message after it is unknown.
func (l *Log) Itself(actor string, want Status) {
	l.begin(&operation{actor: actor, want: want, itself: true}).began = 0
}

// Read logs a read. A read without an answer is dropped.
func (l *Log) Read(worker int, do func() (Status, bool)) {
	op := l.begin(&operation{worker: worker, read: true})
	saw, ok := do()
	v := Unknown
	if ok {
		v = Accepted
	}
	l.end(op, v, saw)
}

// Gone notes that every server that got requests so far is dead: an operation without an answer has
// taken effect by now or never will.
func (l *Log) Gone() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, op := range l.ops {
		if op.verdict == Unknown && op.ended == 0 {
			op.ended = l.now()
		}
	}
}

// Check compares the log with the history of the job, which lists its updates in order. The history
// must contain each accepted update once, in an order that is consistent with the times, and nothing
// else.
func (l *Log) Check(history []Status) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	happened, turn := map[string]int{}, map[string]int{}
	for i, s := range history {
		happened[s.Message]++
		turn[s.Message] = i
	}
	var ops []porcupine.Operation
	known := map[string]bool{}
	for _, op := range l.ops {
		n := happened[op.want.Message]
		op.turn = turn[op.want.Message]
		known[op.want.Message] = known[op.want.Message] || !op.read
		switch {
		case op.read && op.verdict == Unknown:
			continue
		case op.read, op.verdict >= Refused && n == 0:
		case op.verdict >= Refused:
			return fmt.Errorf("update %q was refused, and is in the history", op.want.Message)
		case n > 1:
			return fmt.Errorf("update %q is %d times in the history", op.want.Message, n)
		case op.verdict == Accepted && n == 0:
			return fmt.Errorf("update %q was accepted, and is lost", op.want.Message)
		case n == 0:
			continue // it never happened
		}
		ops = append(ops, l.toPorcupine(op))
	}
	for _, s := range history {
		if !known[s.Message] {
			return fmt.Errorf("update %q is in the history, but was never sent", s.Message)
		}
	}
	if !porcupine.CheckOperations(l.model(), ops) {
		return fmt.Errorf("the order of the history does not explain what clients saw in %d operations", len(ops))
	}
	return nil
}

func (l *Log) toPorcupine(op *operation) porcupine.Operation {
	ended := op.ended
	if ended == 0 {
		ended = l.now()
	}
	return porcupine.Operation{ClientId: op.worker, Input: op, Call: op.began, Output: op, Return: ended}
}

// model is a job as the specification describes it, with the updates in the order of the history. Some
// other order would not be good enough, and searching for one among thousands of updates would take
// forever.
func (l *Log) model() porcupine.Model {
	type job struct {
		Status
		turn   int
		unsaid bool // the message is unknown
	}
	return porcupine.Model{
		Init: func() any { return job{Status: l.Initial} },
		Step: func(state, _, output any) (bool, any) {
			now, op := state.(job), output.(*operation)
			switch {
			case op.read:
				return op.saw == now.Status || now.unsaid && op.saw.State == now.State, now
			case op.verdict == Refused:
				return !l.Moves.allows(op.actor, now.State, op.want.State), now
			case op.verdict == Stale:
				return true, now
			}
			fits := op.turn == now.turn && (op.verdict == Unknown || op.saw == op.want)
			if op.since != nil && *op.since != now.Status && !now.unsaid {
				fits = false // something changed in between
			}
			return fits && l.Moves.allows(op.actor, now.State, op.want.State), job{op.want, now.turn + 1, op.itself}
		},
	}
}

// Count is how many updates were acknowledged, refused, and got no answer.
func (l *Log) Count() (accepted, refused, unknown int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, op := range l.ops {
		switch {
		case op.read:
		case op.verdict == Accepted:
			accepted++
		case op.verdict == Refused:
			refused++
		default:
			unknown++
		}
	}
	return accepted, refused, unknown
}
