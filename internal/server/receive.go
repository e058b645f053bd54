package server

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// receive reads the body of a request, at most most bytes, before the request takes a place among those
// in flight. The handler refuses a body that is truncated or too long.
func (v *visit) receive(w *recorder, r *http.Request, most int64) (err error) {
	if r.Body == nil || r.Body == http.NoBody || most == 0 {
		return nil
	}
	if v.pools.arriving != nil {
		if err := v.s.rates.check(v.who, v.starts); err != nil {
			return err
		}
		if v.body, err = v.take(v.pools.arriving, 1); err != nil {
			return full(err)
		}
		if v.bytes, err = v.take(v.pools.arrivingBytes, 0); err != nil {
			return full(err)
		}
	}
	a := &v.arrived
	a.rest = r.Body
	pace := pace{begun: time.Now(), limits: &v.s.limits, within: v.s.limits.ReadTimeout}
	deadline := func(at time.Time) { _ = http.NewResponseController(w.ResponseWriter).SetReadDeadline(at) }
	err = a.fill(v, r.ContentLength, most, &pace, deadline)
	if v.pools.arriving != nil {
		v.s.rates.add(v.who, v.starts, int64(len(a.text)))
	}
	if err != nil {
		return err
	}
	w.received = a.ended
	r.Body = a
	return nil
}

// lingerBytes is how much of a body that is too long is read and dropped after the response.
const lingerBytes = 32 << 20

// linger reads the rest of a body that was refused as too long, and drops it. A connection that is closed
// with unread bytes is reset: a client that still sends would see that instead of the response.
func (w *recorder) linger(rest io.Reader) {
	if !w.tooLong {
		return
	}
	control := http.NewResponseController(w.ResponseWriter)
	if control.Flush() != nil {
		return
	}
	pace := pace{begun: time.Now(), limits: w.limits, within: w.limits.ReadTimeout}
	for part, n := make([]byte, 32<<10), 0; n < lingerBytes; {
		_ = control.SetReadDeadline(pace.next(int64(n) + 1))
		got, err := rest.Read(part)
		if err != nil {
			return
		}
		n += got
	}
}

// errBody is the error of a body that could not be read completely.
var errBody = errors.New("read body")

// arrived is a body in memory, in one piece, so that it is not copied.
type arrived struct {
	text  []byte
	err   error // why it ended early
	ended bool
	at    int
	rest  io.ReadCloser
}

// firstBytes is the initial size of a body's buffer. The announced length is not trusted.
const firstBytes = 4 << 10

// fill reads the body. The capacity of the buffer counts, not its length: a buffer doubles, up to the
// announced length and one byte more, which detects the end.
func (a *arrived) fill(v *visit, length, most int64, pace *pace, deadline func(time.Time)) error {
	room := most + 1
	if length >= 0 {
		room = min(room, length+1)
	}
	for {
		if len(a.text) == cap(a.text) {
			had := int64(cap(a.text))
			if had >= room {
				return nil // too long
			}
			next := min(room, max(firstBytes, 2*had))
			if err := v.bytes.Grow(next); err != nil {
				return full(err)
			}
			a.text = append(make([]byte, 0, next), a.text...)
			v.bytes.Shrink(had)
		}
		deadline(pace.next(int64(len(a.text)) + 1))
		free := min(int64(cap(a.text)), room)
		n, err := a.rest.Read(a.text[len(a.text):free])
		a.text = a.text[:len(a.text)+n]
		switch {
		case errors.Is(err, io.EOF):
			a.ended = true
			_ = a.rest.Close() // else net/http looks for more of it before it sends the response
			return nil
		case err != nil:
			a.err = fmt.Errorf("%w: %w", errBody, err)
			return nil
		case int64(len(a.text)) >= room:
			return nil
		}
	}
}

// Bytes returns the whole body, which the caller may keep, without a copy.
func (a *arrived) Bytes() ([]byte, error) { return a.text, a.err }

func (a *arrived) Read(p []byte) (int, error) {
	if a.at == len(a.text) {
		if a.err != nil {
			return 0, a.err
		}
		return 0, io.EOF
	}
	n := copy(p, a.text[a.at:])
	a.at += n
	return n, nil
}

// Close implements io.Closer.
func (a *arrived) Close() error { return a.rest.Close() }

// pace is the minimum rate at which a client must send or read.
type pace struct {
	begun  time.Time
	limits *Limits
	within time.Duration // for all of it
}

// next is the deadline for n bytes: on average minimum-rate, after rate-grace.
func (p *pace) next(n int64) time.Time {
	span := p.limits.RateGrace + time.Duration(float64(n)/float64(p.limits.MinimumRate)*float64(time.Second))
	return p.begun.Add(min(span, p.within))
}
