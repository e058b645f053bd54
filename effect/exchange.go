package effect

import (
	"context"
	"sync"
)

// Exchange is how a call was carried out over HTTP, for people who look for what was sent and what came back. It is
// kept in the history of the instance.
type Exchange struct {
	Method         string
	Address        string // without user, query and fragment
	RequestHeaders []Header
	Status         int      // of the answer; 0: none came
	Headers        []Header // of the answer
}

// Header is a header of a request or an answer. It has no value where that may be a credential.
type Header struct{ Name, Value string }

// Exchanges notes the last exchange of a call. It is safe for concurrent use.
type Exchanges struct {
	mu   sync.Mutex
	last *Exchange
}

// Last is the last exchange that was noted, or nil.
func (e *Exchanges) Last() *Exchange {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.last
}

type exchangeKey struct{}

// WithExchanges returns a context whose calls are noted in e.
func WithExchanges(ctx context.Context, e *Exchanges) context.Context {
	return context.WithValue(ctx, exchangeKey{}, e)
}

// NoteExchange says how the call of ctx is carried out. An [Invoker] may do so; where it makes several requests
// for one call, the last one counts.
func NoteExchange(ctx context.Context, x Exchange) {
	e, _ := ctx.Value(exchangeKey{}).(*Exchanges)
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.last = &x
}
