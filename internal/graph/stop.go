package graph

import "io"

// askEvery is after how many steps a drawing asks whether to go on: about a millisecond.
const askEvery = 1 << 14

// stopped ends a drawing; WriteUntil catches it.
type stopped struct{ err error }

// WriteUntil is Write for a caller that may not wait to the end: it asks stop now and then, and
// returns its error once there is one.
func WriteUntil(stop func() error, w io.Writer, g *Graph, format string) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case stopped:
			err = r.err
		default:
			panic(r)
		}
	}()
	mine := *g
	mine.stop = stop
	mine.ask()
	return Write(w, &mine, format)
}

func (g *Graph) ask() {
	if g.stop == nil {
		return
	}
	if err := g.stop(); err != nil {
		panic(stopped{err})
	}
}

// work counts steps of the layout.
func (s *sketch) work(n int) {
	if s.steps += n; s.steps-s.asked >= askEvery {
		s.asked = s.steps
		s.g.ask()
	}
}
