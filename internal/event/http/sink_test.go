package http

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
)

func TestSink(t *testing.T) {
	e := event.Event{ID: "i/1.1", Source: "s", Type: "made", DataContentType: "application/json", Data: expr.Object(expr.Member{Key: "x", Value: expr.Int(1)}), HasData: true}
	for _, mode := range []Mode{ModeStructured, ModeBinary} {
		called := 0
		s := Sink{Mode: mode, Post: func(_ context.Context, h http.Header, body []byte, key string) (int, error) {
			called++
			req, _ := http.NewRequest("POST", "http://x/", nil)
			req.Header = h
			req.Body = io.NopCloser(bytes.NewReader(body))
			list, got, err := Read(req, DefaultLimits)
			if err != nil || got != mode || key != e.ID || len(list) != 1 || !expr.Equal(list[0].Value(), e.Value()) {
				t.Errorf("mode %v: %+v %v %v, key %s", mode, list, got, err, key)
			}
			return 202, nil
		}}
		if err := s.Send(t.Context(), e); err != nil || called != 1 {
			t.Errorf("mode %v: %v", mode, err)
		}
	}
	// A status is about the event, or about whoever has to set something right.
	for status, want := range map[int]string{
		200: "", 202: "", 204: "", 299: "", 100: "again", 301: "again", 304: "again", 500: "again", 503: "again", 599: "again",
		400: "never", 409: "never", 413: "never", 415: "never", 422: "never", 499: "never",
		401: "again", 403: "again", 404: "again", 405: "again", 407: "again", 408: "again", 410: "again", 421: "again", 425: "again", 429: "again",
	} {
		err := Sink{Post: func(context.Context, http.Header, []byte, string) (int, error) { return status, nil }}.Send(t.Context(), e)
		var refused *RefusedError
		got := ""
		switch {
		case errors.As(err, &refused) && refused.Refused() && refused.Status == status:
			got = "never"
		case err != nil:
			got = "again"
		}
		if got != want {
			t.Errorf("%d: %q, want %q", status, got, want)
		}
	}
	down := errors.New("down")
	if err := (Sink{Post: func(context.Context, http.Header, []byte, string) (int, error) { return 0, down }}).Send(t.Context(), e); !errors.Is(err, down) {
		t.Error(err)
	}
	bad := e
	bad.HasData, bad.DataBase64 = false, "%"
	var refused *RefusedError
	if err := (Sink{Mode: ModeBinary}).Send(t.Context(), bad); !errors.As(err, &refused) {
		t.Errorf("what cannot be sent at all: %v", err)
	}
}
