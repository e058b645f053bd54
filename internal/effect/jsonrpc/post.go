package jsonrpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"

	"github.com/lockstep-workflows/lockstep/expr"
)

// Endpoint is where messages are sent over HTTP.
type Endpoint struct {
	URL    *url.URL
	HTTP   *http.Client // of Library of package http, which limits the bytes of answers
	Header http.Header  // of all requests; may be nil
}

// Where names a request to the endpoint without its query.
func (e *Endpoint) Where(method string) string {
	return method + " " + e.URL.Scheme + "://" + e.URL.Host + e.URL.EscapedPath()
}

// Do makes a request with further headers and returns its answer if it went well. Its body must be closed.
func (e *Endpoint) Do(ctx context.Context, method string, body []byte, header http.Header) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, e.URL.String(), bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("the request cannot be made")
	}
	for _, all := range []http.Header{e.Header, {"Accept": {"application/json, text/event-stream"}}, header} {
		for name, values := range all {
			r.Header[name] = values
		}
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	resp, err := e.HTTP.Do(r)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode < 300 {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, refused(resp)
}

// refused is the error of an answer whose status says that the request failed. Its body may say why: as an
// answer of JSON-RPC, or in any other way.
func refused(resp *http.Response) error {
	out := &Error{Status: resp.StatusCode}
	body, err := io.ReadAll(resp.Body)
	if v, bad := expr.ParseJSON(body); err == nil && bad == nil {
		out.Data = v
		if m, bad := messageOf(v); bad == nil && m.Err != nil {
			*out = *m.Err
			out.Status = resp.StatusCode
		}
	}
	if out.Message == "" {
		out.Message = fmt.Sprintf("%s %s://%s%s answered %d %s", resp.Request.Method, resp.Request.URL.Scheme,
			resp.Request.URL.Host, resp.Request.URL.EscapedPath(), resp.StatusCode, http.StatusText(resp.StatusCode))
	}
	return out
}

// Stream is the answer to a request: one message or many.
type Stream struct {
	Header http.Header
	media  string
	body   io.ReadCloser
	events *events   // nil: the body is JSON; servers forget to say so
	ready  []Message // that were read, and not yet returned
	read   bool      // all of the JSON was
}

// Post sends a request and returns the messages of its answer, which must be closed.
func (e *Endpoint) Post(ctx context.Context, body []byte, header http.Header) (*Stream, error) {
	resp, err := e.Do(ctx, "POST", body, header)
	if err != nil {
		return nil, err
	}
	s := &Stream{Header: resp.Header, body: resp.Body}
	if s.media, _, _ = mime.ParseMediaType(resp.Header.Get("Content-Type")); s.media == "text/event-stream" {
		s.events = newEvents(resp.Body)
	}
	return s, nil
}

// ErrEmpty is the error of an answer without a body.
var ErrEmpty = invalid("the answer is empty")

// Close drops the rest.
func (s *Stream) Close() { s.body.Close() }

// Next returns the next message; at the end the error is io.EOF.
func (s *Stream) Next() (Message, error) {
	for len(s.ready) == 0 {
		text, err := s.text()
		if err != nil {
			return Message{}, err
		}
		if s.ready, err = Parse(text); err != nil {
			return Message{}, err
		}
	}
	m := s.ready[0]
	s.ready = s.ready[1:]
	return m, nil
}

func (s *Stream) text() ([]byte, error) {
	if s.events != nil {
		return s.events.next()
	}
	if s.read {
		return nil, io.EOF
	}
	s.read = true
	text, err := io.ReadAll(s.body)
	if err == nil && len(text) == 0 {
		err = ErrEmpty
	}
	if err == nil && s.media != "application/json" && !json.Valid(text) {
		err = invalid("the answer is neither JSON nor a stream of events: its media type is %q", s.media)
	}
	return text, err
}

// Call sends a request with further headers and waits for its answer.
func (e *Endpoint) Call(ctx context.Context, id int64, body []byte, header http.Header) (result expr.Value, answer http.Header, err error) {
	s, err := e.Post(ctx, body, header)
	if err != nil {
		return expr.Null, nil, err
	}
	defer s.Close()
	result, err = Await(id, s.Next, func(text []byte) error { return e.Tell(ctx, text) })
	if errors.Is(err, io.EOF) {
		err = invalid("the stream ended before the answer")
	}
	return result, s.Header, err
}

// Tell sends a message that has no answer.
func (e *Endpoint) Tell(ctx context.Context, body []byte) error {
	resp, err := e.Do(ctx, "POST", body, nil)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
