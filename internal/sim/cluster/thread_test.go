package cluster

import (
	"iter"
	"slices"
	"time"
)

// thread is a coroutine of a process: it stops at every request to the store, and where another
// thread has what it needs.
type thread struct {
	p      *process
	yield  func(string) bool
	resume func() (string, bool)
	stop   func()
	begun  bool
	at     string // where it stands; "": it has nothing to do
	sleeps time.Time
	waits  int // process.moves when it found something locked; -1: it did not
	serves *client
}

// begin adds a thread to a process.
func (p *process) begin(at string, serves *client, do func()) {
	t := &thread{p: p, at: at, serves: serves, waits: -1}
	t.resume, t.stop = iter.Pull(func(yield func(string) bool) {
		t.yield = yield
		do()
	})
	p.threads = append(p.threads, t)
}

// ready reports whether a thread can go on.
func (t *thread) ready() bool {
	p := t.p
	return !t.sleeps.After(p.n.w.now) && t.waits != p.moves && (t.at != "" || p.hasWork())
}

// goOn lets a thread run up to its next stop. Where that is the end of the process, nothing of it is left.
func (t *thread) goOn() {
	p := t.p
	t.run()
	if !p.dead {
		return
	}
	lost := p.unwind()
	p.n.over()
	for _, c := range lost {
		c.lost()
	}
}

// run lets a thread run up to its next stop, and reports whether there is one.
func (t *thread) run() bool {
	p := t.p
	p.runs, t.begun, t.waits = t, true, -1
	at, ok := t.resume()
	if t.at = at; t.waits < 0 {
		p.moves++
	}
	if t.serves != nil {
		p.served++
	}
	if !ok && !(p.dead && t.serves != nil) { // else somebody has to be told
		p.threads = slices.DeleteFunc(p.threads, func(o *thread) bool { return o == t })
	}
	return ok
}

// unwind lets every thread of a dead process end: whatever it asks for fails. It lists those who
// get no answer.
func (p *process) unwind() (lost []*client) {
	for len(p.threads) > 0 {
		for _, t := range slices.Clone(p.threads) {
			if !t.begun {
				t.stop()
			} else if t.run() {
				continue
			}
			if t.serves != nil {
				lost = append(lost, t.serves)
			}
			p.threads = slices.DeleteFunc(p.threads, func(o *thread) bool { return o == t })
		}
	}
	return lost
}

// yield stops the thread that runs. It reports false where the process is over.
func (p *process) yield(at string) bool { return p.runs.yield(at) }

// block stops the thread that runs until another one went on: it has what this one needs.
func (p *process) block() {
	p.runs.waits = p.moves
	p.yield("locked out")
}
