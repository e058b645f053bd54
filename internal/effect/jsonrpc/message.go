package jsonrpc

import (
	"fmt"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	effecthttp "github.com/lockstep-workflows/lockstep/internal/effect/http"
)

// MaxMessages is how many messages may come for one request (limit stream-messages).
const MaxMessages = 10_000

// ErrMessages is the error of a request for which more come.
var ErrMessages error = &effecthttp.Error{
	Code: effecthttp.CodeTooLarge,
	Msg:  fmt.Sprintf("more than %d messages came for one request (limit stream-messages)", MaxMessages),
}

// Message is one message: a request, a notification (a request without an id) or an answer.
type Message struct {
	Method string     // "": it is an answer
	ID     expr.Value // null: of a notification, and of an answer to what could not be read
	Result expr.Value // of an answer
	Err    *Error     // of an answer; nil: it has a result
}

// codeNoMethod is the error of a request whose method is unknown (JSON-RPC 2.0 §5.1).
const codeNoMethod = -32601

func object(members ...expr.Member) expr.Value {
	return expr.Object(append(members, expr.Member{Key: "jsonrpc", Value: expr.String("2.0")})...)
}

// Request is the text of a request; params may be null.
func Request(id int64, method string, params expr.Value) []byte {
	m := object(expr.Member{Key: "id", Value: expr.Int(id)}, expr.Member{Key: "method", Value: expr.String(method)})
	if !params.IsNull() {
		m = m.With("params", params)
	}
	return m.AppendJSON(nil)
}

// Notification is the text of a notification without parameters.
func Notification(method string) []byte {
	return object(expr.Member{Key: "method", Value: expr.String(method)}).AppendJSON(nil)
}

// Reply is the text that answers a request of the other side. A ping is answered, and nothing else is known.
func Reply(m Message) []byte {
	answer := expr.Member{Key: "result", Value: expr.EmptyObject}
	if m.Method != "ping" {
		answer = expr.Member{Key: "error", Value: expr.Object(
			expr.Member{Key: "code", Value: expr.Int(codeNoMethod)},
			expr.Member{Key: "message", Value: expr.String("Method not found")},
		)}
	}
	return object(expr.Member{Key: "id", Value: m.ID}, answer).AppendJSON(nil)
}

// Parse reads a message, or an array of them.
func Parse(text []byte) ([]Message, error) {
	v, err := expr.ParseJSON(text)
	if err != nil {
		return nil, invalid("a message is not JSON: %v", err)
	}
	items := []expr.Value{v}
	if v.IsArray() {
		items = v.Items()
	}
	out := make([]Message, len(items))
	for i, item := range items {
		if out[i], err = messageOf(item); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func messageOf(v expr.Value) (Message, error) {
	if effect.Name(v, "jsonrpc") != "2.0" {
		return Message{}, invalid("a message is not one of JSON-RPC 2.0")
	}
	id, _ := v.Get("id")
	m := Message{Method: effect.Name(v, "method"), ID: id}
	if m.Method != "" {
		return m, nil
	}
	fault, failed := v.Get("error")
	result, ok := v.Get("result")
	switch {
	case failed && !fault.IsNull():
		m.Err = errorOf(fault)
	case ok:
		m.Result = result
	default:
		return m, invalid("a message has neither a method nor a result nor an error")
	}
	return m, nil
}

// Answers returns the result of an answer to the request with this id.
func (m Message) Answers(id int64) (expr.Value, error) {
	if m.Err != nil && m.ID.IsNull() {
		return expr.Null, m.Err
	}
	if !m.ID.Same(expr.Int(id)) {
		return expr.Null, invalid("an answer is for the request %s, and not for %d", m.ID, id)
	}
	if m.Err != nil {
		return expr.Null, m.Err
	}
	return m.Result, nil
}

// Await reads messages until the answer to the request with this id. It sends replies to requests of the
// other side, and ignores notifications.
func Await(id int64, next func() (Message, error), reply func([]byte) error) (expr.Value, error) {
	for range MaxMessages {
		m, err := next()
		switch {
		case err != nil:
			return expr.Null, err
		case m.Method == "":
			return m.Answers(id)
		case !m.ID.IsNull():
			if err := reply(Reply(m)); err != nil {
				return expr.Null, err
			}
		}
	}
	return expr.Null, ErrMessages
}
