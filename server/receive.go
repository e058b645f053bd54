package server

import (
	"bytes"
	"errors"
	"io"
	"net/http"
)

// receive reads the body before the request takes one of the places of those that are
// served: who sends a byte a second keeps nobody out. A body that breaks off, or that is
// longer than any may be, is left to the handler to refuse.
func (s *Server) receive(r *http.Request) (done func(), err error) {
	if r.Body == nil || r.Body == http.NoBody {
		return func() {}, nil
	}
	place := s.acquire(s.bodies)
	if place == nil {
		return nil, busy("requests-arriving")
	}
	text := &arrived{s: s}
	done = func() {
		s.kept.Add(-int64(text.Len()))
		place.release()
	}
	rest := r.Body
	_, err = io.Copy(text, io.LimitReader(rest, s.limits.largest()+1))
	if errors.Is(err, errKept) {
		done()
		return nil, busy("requests-arriving-bytes")
	}
	tail := io.Reader(rest)
	if err != nil {
		tail = brokenOff{err}
	}
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(text.Bytes()), tail), rest}
	return done, nil
}

// arrived is what came of a body. All that is kept for all requests is bounded.
type arrived struct {
	bytes.Buffer
	s *Server
}

var errKept = errors.New("too much is kept of requests that arrive")

func (a *arrived) Write(text []byte) (int, error) {
	if a.s.kept.Add(int64(len(text))) > a.s.limits.ArrivingBytes {
		a.s.kept.Add(-int64(len(text)))
		return 0, errKept
	}
	return a.Buffer.Write(text)
}

// ReadFrom hides that of the buffer, which does not count.
func (a *arrived) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{a}, r)
}

// brokenOff is the end of a body that could not be read.
type brokenOff struct{ err error }

func (b brokenOff) Read([]byte) (int, error) { return 0, b.err }
