package server

import (
	"net/http"
	"time"
)

// recorder counts what is written, and enforces the rate at which the client reads it.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int64
	limits *Limits
	visit  *visit // nil: the request was not admitted

	hasBody, received bool                   // the request has a body; all of it was read
	tooLong           bool                   // it was refused for the length of its body, of which not all was read
	audit             func(status int) error // stores what the request did; nil: nothing, or done
	unrecorded        bool                   // that failed, and the response says so instead
	paced             bool                   // the length of the response is known, so a minimum rate applies
	pace              pace
	sent              int64 // bytes of the paced part

	values [4]string // of headers, see value
	given  int
}

// value makes the value of a header that differs from response to response.
func (w *recorder) value(text string) []string {
	if w.given == len(w.values) {
		return []string{text}
	}
	w.values[w.given] = text
	w.given++
	return w.values[w.given-1 : w.given : w.given]
}

// setHeader sets a header by its canonical name.
func setHeader(w http.ResponseWriter, name, text string) {
	if rec, ok := w.(*recorder); ok {
		rec.Header()[name] = rec.value(text)
	} else {
		w.Header().Set(name, text)
	}
}

// Reserve counts n bytes that are about to be written: a response, or a part of one. It releases the
// places of the request. The error is the response to a refused request.
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

// WriteHeader notes the status, and gives the client time to read. A connection with an unread request
// body is closed after the response.
func (w *recorder) WriteHeader(status int) {
	if audit := w.audit; audit != nil {
		w.audit = nil
		if audit(status) != nil && status < http.StatusBadRequest {
			for _, name := range []string{"Content-Length", "ETag", "Location"} { // of the response that it replaces
				w.Header().Del(name)
			}
			unrecorded().write(w)
			w.unrecorded = true
		}
	}
	if w.unrecorded {
		return
	}
	if w.status == 0 {
		w.status = status
		if w.hasBody && !w.received {
			w.Header().Set("Connection", "close")
			w.tooLong = status == http.StatusRequestEntityTooLarge && w.visit != nil && http.NewResponseController(w.ResponseWriter).EnableFullDuplex() == nil
		}
		if !w.paced { // else Write sets it
			w.deadline(time.Now().Add(w.limits.WriteTimeout))
		}
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) deadline(at time.Time) {
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(at)
}

// writePart is how many bytes are written at a time; then they count as read.
const writePart = 64 << 10

// Write counts.
func (w *recorder) Write(text []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if w.unrecorded {
		return len(text), nil
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
