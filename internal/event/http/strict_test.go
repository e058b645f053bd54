package http

import (
	"errors"
	"strings"
	"testing"
)

// TestWhatCloudEventsForbids: in every mode the event and the attribute are named, and
// nothing of a batch is read where one event is wrong.
func TestWhatCloudEventsForbids(t *testing.T) {
	const well = `{"specversion":"1.0","id":"0","source":"s","type":"t"}`
	for _, c := range []struct{ event, attribute string }{
		{`{"id":"1","source":"s","type":"t"}`, "specversion"},
		{`{"specversion":"1.0","id":"1\u0000","source":"s","type":"t"}`, "id"},
		{`{"specversion":"1.0","id":"1","source":"s\n","type":"t"}`, "source"},
		{`{"specversion":"1.0","id":"1","source":"s","type":"\u007f"}`, "type"},
		{`{"specversion":"1.0","id":"1","source":"s","type":"t","subject":"\t"}`, "subject"},
		{`{"specversion":"1.0","id":"1","source":"s","type":"t","ext":"\u0085"}`, "ext"},
		{`{"specversion":"1.0","id":"1","source":"s","type":"t","type":"u"}`, "type"},
		{`{"specversion":"1.0","id":"1","source":"s","type":"t","data":{"a":1,"a":1}}`, "data"},
	} {
		for mode, body := range map[Mode]string{ModeStructured: c.event, ModeBatch: "[" + well + "," + c.event + "]"} {
			media, index := Structured, 0
			if mode == ModeBatch {
				media, index = Batch, 1
			}
			list, _, err := Read(request(body, "Content-Type", media), DefaultLimits)
			var bad *InvalidError
			if !errors.As(err, &bad) || len(list) > 0 || bad.Mode != mode || len(bad.Events) != 1 || bad.Events[0].Attribute != c.attribute || bad.Events[0].Index != index {
				t.Errorf("%s: %v, %v", body, list, err)
			}
		}
	}
	with := func(headers ...string) []string { return append(binary[:len(binary):len(binary)], headers...) }
	for _, c := range []struct {
		body, attribute string
		headers         []string
	}{
		{"", "specversion", []string{"ce-id", "1", "ce-source", "s", "ce-type", "t"}},
		{"", "subject", with("ce-subject", "a%0Ab")},
		{"", "ext", with("ce-ext", "%C2%85")},
		{"", "id", with("ce-id", "2")},
		{`{"a":1,"a":2}`, "data", with("Content-Type", "application/json")},
		{`{"a":"\ud800"}`, "data", with("Content-Type", "application/json")},
		{"", "datacontenttype", with("Content-Type", "text/plain", "Content-Type", "text/html")},
	} {
		_, _, err := Read(request(c.body, c.headers...), DefaultLimits)
		var bad *InvalidError
		if !errors.As(err, &bad) || bad.Events[0].Attribute != c.attribute {
			t.Errorf("%q %q: %v", c.body, c.headers, err)
		}
	}
	for _, body := range []string{`{"a":1,"a":2}`, `{"a":{"b":1,"b":2}}`, `{"0":{"b":1,"b":2}}`} {
		var bad *InvalidError
		if _, _, err := Read(request(body, "Content-Type", Batch), DefaultLimits); !errors.As(err, &bad) || strings.Contains(err.Error(), "event 1") {
			t.Errorf("%s: %v", body, err)
		}
	}
}
