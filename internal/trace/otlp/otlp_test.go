package otlp

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/trace"
)

// TestRetryable: after the answers that OTLP says, spans are sent again, and after others they are dropped.
func TestRetryable(t *testing.T) {
	status := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
	defer server.Close()
	x := &Exporter{URL: server.URL, Client: server.Client()}
	for code, refused := range map[int]bool{
		400: true, 401: true, 403: true, 404: true, 413: true, 500: true, 501: true,
		429: false, 502: false, 503: false, 504: false,
	} {
		status = code
		err := x.Export(t.Context(), []trace.Span{{}})
		no, ok := errors.AsType[*RefusedError](err)
		if err == nil || ok != refused || ok && !no.Refused() {
			t.Errorf("%d: %v", code, err)
		}
	}
	server.Close()
	if _, ok := errors.AsType[*RefusedError](x.Export(t.Context(), []trace.Span{{}})); ok {
		t.Error("a collector that is down refuses spans")
	}
}
