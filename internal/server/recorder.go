package server

import (
	"net/http"
	"time"
)

// recorder notes what was answered, and holds the client to reading it.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int64
	limits *Limits
	visit  *visit // nil: it was not let in

	hasBody, received bool // the request has a body; all of it was read
	paced             bool // the answer's length is known, so that it has to be read at a rate
	pace              pace
	sent              int64 // of it
}

// Reserve counts n bytes that are about to be written: an answer, or a part of one. The
// places of the request are given back with it. The error is the answer of one that is
// refused.
func (w *recorder) Reserve(n int) error {
	if w.visit != nil && n > 0 {
		if err := w.visit.reserve(int64(n)); err != nil {
			return err
		}
	}
	w.paced, w.sent = true, 0
	w.pace = pace{begun: time.Now(), limits: w.limits, within: w.limits.WriteTimeout}
	return nil
}

// WriteHeader notes the status. From now on the client is to read. A connection on which a
// body is still to come is not used again: nobody reads that.
func (w *recorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
		if w.hasBody && !w.received {
			w.Header().Set("Connection", "close")
		}
		w.deadline(time.Now().Add(w.limits.WriteTimeout))
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) deadline(at time.Time) {
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(at)
}

// writePart is how much is written at a time, and counted as read after that.
const writePart = 64 << 10

// Write counts.
func (w *recorder) Write(text []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if !w.paced {
		n, err := w.ResponseWriter.Write(text)
		w.bytes += int64(n)
		return n, err
	}
	done := 0
	for {
		part := text[done:min(len(text), done+writePart)]
		w.sent += int64(len(part))
		w.deadline(w.pace.next(w.sent))
		n, err := w.ResponseWriter.Write(part)
		done += n
		w.bytes += int64(n)
		if w.visit != nil {
			w.visit.pending.Shrink(int64(n))
		}
		if err != nil || done == len(text) {
			return done, err
		}
	}
}

// Unwrap is for http.ResponseController.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// reserve is Reserve, of a writer that may be another.
func reserve(w http.ResponseWriter, n int) error {
	if r, ok := w.(interface{ Reserve(n int) error }); ok {
		return r.Reserve(n)
	}
	return nil
}
