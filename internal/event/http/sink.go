package http

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/lockstep-workflows/lockstep/event"
)

// Post sends a request with these headers and this body to the receiver of events, and returns
// the status of the answer. The implementation chooses the address and the outbound policy.
type Post func(ctx context.Context, h http.Header, body []byte, key string) (status int, err error)

// Sink sends events, one per request.
type Sink struct {
	Mode Mode // ModeStructured, the default, or ModeBinary
	Post Post
}

// Send sends an event. A status of 2xx means that it was accepted. Its idempotency key is its id,
// which is the same whenever it is sent. The error is a *[RefusedError] if the receiver will never
// accept this event; after any other error it may be sent again.
func (s Sink) Send(ctx context.Context, e event.Event) error {
	header, mode := http.Header{}, cmp.Or(s.Mode, ModeStructured)
	body, err := Write(header, mode, e)
	if err != nil {
		return &RefusedError{Msg: err.Error()} // it would fail again next time
	}
	status, err := s.Post(ctx, header, body, e.ID)
	switch {
	case err != nil:
		return err
	case status >= 200 && status < 300:
		return nil
	}
	text := fmt.Sprintf("the answer is %d %s", status, http.StatusText(status))
	if refuses(status) {
		return &RefusedError{Status: status, Msg: text}
	}
	return errors.New(text)
}

// RefusedError says that an event will never be accepted.
type RefusedError struct {
	Status int // 0: it cannot be sent at all
	Msg    string
}

func (e *RefusedError) Error() string { return e.Msg }

// Refused returns true: sending the event again would not help.
func (e *RefusedError) Refused() bool { return true }

// refuses reports whether a status means that something is wrong with the event. The other 4xx
// are about the receiver, its address or its permissions: they concern every event, until an
// operator corrects that.
func refuses(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusProxyAuthRequired,
		http.StatusRequestTimeout, http.StatusGone, http.StatusMisdirectedRequest, http.StatusLocked, http.StatusTooEarly,
		http.StatusUpgradeRequired, http.StatusTooManyRequests:
		return false
	}
	return status >= 400 && status < 500
}
