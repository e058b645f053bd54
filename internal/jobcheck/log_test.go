package jobcheck

import (
	"strings"
	"testing"
)

// moves of a small board.
var moves = Moves{
	"NEW":  {"CLIENT": {"WORK"}, "WFX": {"GONE"}},
	"WORK": {"CLIENT": {"DONE"}, "clock": {"LATE"}},
}

func update(l *Log, actor, state, message string, v Verdict) {
	l.Update(0, actor, Status{state, message}, func() (Verdict, Status) { return v, Status{state, message} })
}

func since(l *Log, state, was, message string, v Verdict) {
	l.UpdateSince(0, "CLIENT", Status{state, was}, Status{state, message}, func() (Verdict, Status) { return v, Status{state, message} })
}

func read(l *Log, state, message string) {
	l.Read(1, func() (Status, bool) { return Status{state, message}, true })
}

// TestCheckTellsGoodFromBad gives the checker histories of which it is known whether a job
// could have had them.
func TestCheckTellsGoodFromBad(t *testing.T) {
	for name, c := range map[string]struct {
		do      func(*Log)
		history []Status
		want    string // part of the error; "": none
	}{
		"in order": {
			func(l *Log) {
				update(l, "CLIENT", "WORK", "1", Accepted)
				read(l, "WORK", "1")
				update(l, "CLIENT", "WORK", "2", Accepted)
			},
			[]Status{{"WORK", "1"}, {"WORK", "2"}},
			"",
		},
		"out of order": {
			func(l *Log) {
				update(l, "CLIENT", "WORK", "1", Accepted)
				update(l, "CLIENT", "WORK", "2", Accepted)
			},
			[]Status{{"WORK", "2"}, {"WORK", "1"}},
			"does not explain",
		},
		"a lost update": {
			func(l *Log) { update(l, "CLIENT", "WORK", "1", Accepted) },
			nil,
			"is lost",
		},
		"twice": {
			func(l *Log) { update(l, "CLIENT", "WORK", "1", Accepted) },
			[]Status{{"WORK", "1"}, {"WORK", "1"}},
			"2 times",
		},
		"refused, yet done": {
			func(l *Log) { update(l, "CLIENT", "GONE", "1", Refused) },
			[]Status{{"GONE", "1"}},
			"was refused",
		},
		"from nowhere": {
			func(l *Log) { update(l, "CLIENT", "WORK", "1", Accepted) },
			[]Status{{"WORK", "1"}, {"WORK", "2"}},
			"never sent",
		},
		"a stale read": {
			func(l *Log) {
				update(l, "CLIENT", "WORK", "1", Accepted)
				update(l, "CLIENT", "WORK", "2", Accepted)
				read(l, "WORK", "1")
			},
			[]Status{{"WORK", "1"}, {"WORK", "2"}},
			"does not explain",
		},
		"at a revision": {
			func(l *Log) {
				update(l, "CLIENT", "WORK", "1", Accepted)
				since(l, "WORK", "1", "2", Accepted)
				since(l, "WORK", "1", "3", Stale)
			},
			[]Status{{"WORK", "1"}, {"WORK", "2"}},
			"",
		},
		"at a revision that is no more": {
			func(l *Log) {
				update(l, "CLIENT", "WORK", "1", Accepted)
				update(l, "CLIENT", "WORK", "2", Accepted)
				since(l, "WORK", "1", "3", Accepted)
			},
			[]Status{{"WORK", "1"}, {"WORK", "2"}, {"WORK", "3"}},
			"does not explain",
		},
		"by itself": {
			func(l *Log) {
				update(l, "CLIENT", "WORK", "1", Accepted)
				read(l, "LATE", "whatever")
				l.Itself("clock", Status{"LATE", "clock"})
			},
			[]Status{{"WORK", "1"}, {"LATE", "clock"}},
			"",
		},
		"accepted against the rules": {
			func(l *Log) { update(l, "WFX", "WORK", "1", Accepted) },
			[]Status{{"WORK", "1"}},
			"does not explain",
		},
		"refused without a reason": {
			func(l *Log) { update(l, "CLIENT", "WORK", "1", Refused) },
			nil,
			"does not explain",
		},
		"no answer, and it happened": {
			func(l *Log) {
				update(l, "CLIENT", "WORK", "1", Unknown)
				l.Gone()
				read(l, "WORK", "1")
			},
			[]Status{{"WORK", "1"}},
			"",
		},
		"no answer, and it did not happen": {
			func(l *Log) {
				update(l, "CLIENT", "WORK", "1", Unknown)
				l.Gone()
				read(l, "NEW", "")
			},
			nil,
			"",
		},
		"no answer, and it happened after the server was gone": {
			func(l *Log) {
				update(l, "CLIENT", "WORK", "1", Unknown)
				l.Gone()
				read(l, "NEW", "")
				read(l, "WORK", "1")
			},
			[]Status{{"WORK", "1"}},
			"does not explain",
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := &Log{Moves: moves, Initial: Status{State: "NEW"}}
			c.do(l)
			err := l.Check(c.history)
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got %v, want an error that says %q", err, c.want)
			}
		})
	}
}
