package lockstep

import (
	"io"
	"net/http"
)

// inProcess is a transport that hands requests to a handler of this process.
type inProcess struct {
	handler http.Handler
	mayUse  func() error
}

// RoundTrip returns with the head of the answer. The handler goes on writing its body, at the pace
// at which the caller reads it.
func (t *inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := t.mayUse(); err != nil {
		return nil, err
	}
	body, out := io.Pipe()
	w := &answer{header: http.Header{}, head: make(chan *http.Response, 1), body: body, out: out, request: r}
	served := r.Clone(r.Context()) // a handler may change its request
	served.RequestURI = r.URL.RequestURI()
	served.Host = r.URL.Host
	if served.Body == nil {
		served.Body = http.NoBody
	}
	go func() {
		defer func() {
			cut := recover()
			if cut != nil && cut != http.ErrAbortHandler {
				panic(cut)
			}
			if cut != nil {
				out.CloseWithError(io.ErrUnexpectedEOF)
				return
			}
			w.WriteHeader(http.StatusOK)
			out.Close()
		}()
		t.handler.ServeHTTP(w, served)
	}()
	select {
	case resp := <-w.head:
		return resp, nil
	case <-r.Context().Done():
		body.CloseWithError(r.Context().Err())
		return nil, r.Context().Err()
	}
}

// answer is what a handler writes to.
type answer struct {
	request *http.Request
	header  http.Header
	head    chan *http.Response
	sent    bool
	body    *io.PipeReader
	out     *io.PipeWriter
}

func (a *answer) Header() http.Header { return a.header }

func (a *answer) WriteHeader(status int) {
	if a.sent || status < http.StatusOK {
		return
	}
	a.sent = true
	a.head <- &http.Response{
		Status: http.StatusText(status), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: a.header.Clone(), Body: a.body, ContentLength: -1, Request: a.request,
	}
}

func (a *answer) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.out.Write(b)
}

// Flush implements [http.Flusher]: nothing is held back.
func (a *answer) Flush() { a.WriteHeader(http.StatusOK) }
