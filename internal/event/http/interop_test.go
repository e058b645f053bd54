package http

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	"github.com/cloudevents/sdk-go/v2/binding"
	sdkhttp "github.com/cloudevents/sdk-go/v2/protocol/http"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
)

// sdkEvent is an event as the CloudEvents SDK makes it.
func sdkEvent(t *testing.T) cloudevents.Event {
	t.Helper()
	e := cloudevents.NewEvent()
	e.SetID("e 1")
	e.SetSource("/shop")
	e.SetType("paid")
	e.SetSubject("order 42")
	e.SetTime(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	e.SetExtension("orderid", "42")
	if err := e.SetData(cloudevents.ApplicationJSON, map[string]any{"amount": 10}); err != nil {
		t.Fatal(err)
	}
	return e
}

const sdkJSON = `{"data":{"amount":10},"datacontenttype":"application/json","id":"e 1","orderid":"42","source":"/shop","specversion":"1.0","subject":"order 42","time":"2026-03-01T12:00:00Z","type":"paid"}`

// TestReadWhatTheSDKWrites: structured, binary and batch.
func TestReadWhatTheSDKWrites(t *testing.T) {
	for name, mode := range map[string]Mode{"structured": ModeStructured, "binary": ModeBinary} {
		ctx := binding.WithForceStructured(context.Background())
		if mode == ModeBinary {
			ctx = binding.WithForceBinary(context.Background())
		}
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		e := sdkEvent(t)
		if err := sdkhttp.WriteRequest(ctx, binding.ToMessage(&e), r); err != nil {
			t.Fatal(err)
		}
		list, got, err := Read(r, DefaultLimits)
		if err != nil || got != mode || list[0].Value().String() != sdkJSON {
			t.Errorf("%s: mode %d, %v, %v", name, got, list, err)
		}
	}
	text, err := json.Marshal([]cloudevents.Event{sdkEvent(t), sdkEvent(t)})
	if err != nil {
		t.Fatal(err)
	}
	list, mode, err := Read(request(string(text), "Content-Type", cloudevents.ApplicationCloudEventsBatchJSON), DefaultLimits)
	if err != nil || mode != ModeBatch || len(list) != 2 || list[1].Value().String() != sdkJSON {
		t.Errorf("batch: mode %d, %v, %v", mode, list, err)
	}
}

// TestTheSDKReadsWhatIsWritten, except that the SDK leaves percent-encoding in headers.
func TestTheSDKReadsWhatIsWritten(t *testing.T) {
	v, err := expr.ParseJSON([]byte(`{"data":{"amount":10},"datacontenttype":"application/json","id":"e1","orderid":"42","source":"/shop","specversion":"1.0","subject":"42","time":"2026-03-01T12:00:00Z","type":"paid"}`))
	if err != nil {
		t.Fatal(err)
	}
	e, err := event.FromValue(v)
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []Mode{ModeStructured, ModeBinary} {
		h := http.Header{}
		body, err := Write(h, mode, e)
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body))
		r.Header = h
		got, err := binding.ToEvent(context.Background(), sdkhttp.NewMessageFromHttpRequest(r))
		if err != nil {
			t.Fatalf("mode %d: %v", mode, err)
		}
		text, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := event.Parse(text); err != nil || !expr.Equal(back.Value(), v) {
			t.Errorf("mode %d: %s, %v", mode, text, err)
		}
	}
	h := http.Header{}
	body, err := Write(h, ModeBatch, e, e)
	if err != nil {
		t.Fatal(err)
	}
	var list []cloudevents.Event
	if err := json.Unmarshal(body, &list); err != nil || len(list) != 2 || list[0].ID() != "e1" {
		t.Errorf("batch: %v, %v", list, err)
	}
}
