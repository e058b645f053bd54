package web

import (
	"io"
	"net/http"
)

// ReadBody returns a body of at most limit bytes. A body that was read already, which has a method
// Bytes, is not copied.
func ReadBody(body io.Reader, limit int64) ([]byte, error) {
	read, ok := body.(interface{ Bytes() ([]byte, error) })
	if !ok {
		return io.ReadAll(http.MaxBytesReader(nil, io.NopCloser(body), limit))
	}
	text, err := read.Bytes()
	if int64(len(text)) > limit {
		return nil, &http.MaxBytesError{Limit: limit}
	}
	return text, err
}

// Reserve counts n bytes of an answer that are about to be written, if the writer counts. The error is
// the answer to a request that is refused.
func Reserve(w http.ResponseWriter, n int) error {
	if r, ok := w.(interface{ Reserve(n int) error }); ok {
		return r.Reserve(n)
	}
	return nil
}
