package http

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/lockstep-workflows/lockstep/event"
)

// Post sends a request with these headers and this body to wherever events go, and returns
// the status of the answer. Who makes it chooses the address, and the rules under which it
// may be reached.
type Post func(ctx context.Context, h http.Header, body []byte, key string) (status int, err error)

// Sink sends events, each in a request of its own.
type Sink struct {
	Mode Mode // ModeStructured, which 0 is too, or ModeBinary
	Post Post
}

// Send sends an event; 2xx means that it is taken. Its key is its id, which is the same
// whenever it is sent. Where the receiver will never take this event it is a
// *[RefusedError]; with other errors it may be sent again.
func (s Sink) Send(ctx context.Context, e event.Event) error {
	header, mode := http.Header{}, s.Mode
	if mode == 0 {
		mode = ModeStructured
	}
	body, err := Write(header, mode, e)
	if err != nil {
		return &RefusedError{Msg: err.Error()} // nor would it be different next time
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

// RefusedError says that an event will never be taken.
type RefusedError struct {
	Status int // 0: it cannot be sent at all
	Msg    string
}

func (e *RefusedError) Error() string { return e.Msg }

// Refused is true: there is no use in sending the event again.
func (e *RefusedError) Refused() bool { return true }

// refuses reports whether a status says that something is wrong with the event. Other 4xx
// are about the receiver, its address or who may use it, and would be the same for every
// event: they end when somebody has set that right.
func refuses(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusProxyAuthRequired,
		http.StatusRequestTimeout, http.StatusGone, http.StatusMisdirectedRequest, http.StatusLocked, http.StatusTooEarly,
		http.StatusUpgradeRequired, http.StatusTooManyRequests:
		return false
	}
	return status >= 400 && status < 500
}
