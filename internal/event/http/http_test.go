package http

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
)

// request makes a request of a body and headers, which are names and values in turn.
func request(body string, headers ...string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return r
}

var binary = []string{"ce-specversion", "1.0", "ce-id", "1", "ce-source", "s", "ce-type", "t"}

func TestReadBinary(t *testing.T) {
	for _, c := range []struct {
		body    string
		headers []string
		want    string
	}{
		{"", nil, `{"id":"1","source":"s","specversion":"1.0","type":"t"}`},
		{`{"a":1.50}`, []string{"Content-Type", "application/json"}, `{"data":{"a":1.50},"datacontenttype":"application/json","id":"1","source":"s","specversion":"1.0","type":"t"}`},
		{`[1]`, []string{"Content-Type", "application/x+json; charset=utf-8"}, `{"data":[1],"datacontenttype":"application/x+json; charset=utf-8","id":"1","source":"s","specversion":"1.0","type":"t"}`},
		{"hällo", []string{"Content-Type", "text/plain"}, `{"data":"hällo","datacontenttype":"text/plain","id":"1","source":"s","specversion":"1.0","type":"t"}`},
		{"<a/>", []string{"Content-Type", "application/xml"}, `{"data":"<a/>","datacontenttype":"application/xml","id":"1","source":"s","specversion":"1.0","type":"t"}`},
		{"\x01\x02\x03", []string{"Content-Type", "application/octet-stream"}, `{"data_base64":"AQID","datacontenttype":"application/octet-stream","id":"1","source":"s","specversion":"1.0","type":"t"}`},
		{"h\xe4llo", []string{"Content-Type", "text/plain; charset=latin1"}, `{"data_base64":"aORsbG8=","datacontenttype":"text/plain; charset=latin1","id":"1","source":"s","specversion":"1.0","type":"t"}`},
		{"{}", nil, `{"data_base64":"e30=","id":"1","source":"s","specversion":"1.0","type":"t"}`},
		{"", []string{"ce-subject", "Euro%20%E2%82%AC%20%F0%9F%98%80", "ce-ext", `"a \"quoted\" %41"`, "ce-n", "7"}, `{"ext":"a \"quoted\" A","id":"1","n":"7","source":"s","specversion":"1.0","subject":"Euro € 😀","type":"t"}`},
	} {
		list, mode, err := Read(request(c.body, append(binary, c.headers...)...), DefaultLimits)
		if err != nil || mode != ModeBinary || len(list) != 1 {
			t.Errorf("%q %v: %v", c.body, c.headers, err)
			continue
		}
		if got := list[0].Value().String(); got != c.want {
			t.Errorf("%q %v:\n got %s\nwant %s", c.body, c.headers, got, c.want)
		}
	}
}

func TestRefused(t *testing.T) {
	with := func(headers ...string) []string { return append(binary[:len(binary):len(binary)], headers...) }
	for _, c := range []struct {
		body    string
		headers []string
		says    string
	}{
		{"", with("ce-x", "%4"), `attribute "x": a % must be followed`},
		{"", with("ce-x", "%zz"), `a % must be followed`},
		{"", with("ce-x", "%ff"), `not UTF-8`},
		{"", with("ce-x", "1", "ce-x", "2"), "more than once"},
		{"", with("ce-x_y", "1"), "letters and digits"},
		{"", with("ce-time", "now"), "RFC 3339"},
		{"", with("ce-data", "1"), "in binary mode"},
		{"", with("ce-datacontenttype", "text/plain"), "in binary mode"},
		{"{", with("Content-Type", "application/json"), "not JSON"},
		{"", []string{"ce-id", "1"}, "specversion"},
		{"", []string{"ce-specversion", "0.3", "ce-id", "1", "ce-source", "s", "ce-type", "t"}, `"0.3" is not supported`},
		{"", []string{"ce-specversion", "1.0", "ce-source", "s", "ce-type", "t"}, `attribute "id"`},
		{"{}", []string{"Content-Type", "application/json"}, "not a content type of CloudEvents"},
		{"{}", nil, "no content type"},
		{"{}", []string{"Content-Type", "application/cloudevents+avro"}, "not a content type"},
		{"{}", []string{"Content-Type", Structured + "; charset=utf-16"}, "not a content type"},
		{"{}", []string{"Content-Type", Batch}, "must be"},
		{`[{"id":"1","source":"s","type":"t"},{"id":"2"}]`, []string{"Content-Type", Batch}, `event 1: attribute "source"`},
	} {
		_, _, err := Read(request(c.body, c.headers...), DefaultLimits)
		if err == nil || !strings.Contains(err.Error(), c.says) && c.says != "must be" {
			t.Errorf("%q %v: %v, want %q", c.body, c.headers, err, c.says)
		}
	}
}

func TestLimits(t *testing.T) {
	limits := Limits{Event: 80, Batch: 120, Events: 2}
	one := `{"specversion":"1.0","id":"1","source":"s","type":"t"}`
	for _, c := range []struct {
		body  string
		media string
		limit string
	}{
		{one + strings.Repeat(" ", 80), Structured, "event-bytes"},
		{"[" + strings.Repeat(" ", 120) + "]", Batch, "event-batch-bytes"},
		{"[{},{},{}]", Batch, "event-batch-items"},
	} {
		for _, known := range []bool{true, false} { // how long the body is
			r := request(c.body, "Content-Type", c.media)
			if !known {
				r.ContentLength = -1
			}
			_, _, err := Read(r, limits)
			var over *LimitError
			if !errors.As(err, &over) || over.Limit != c.limit {
				t.Errorf("%s: %v, want the limit %s", c.media, err, c.limit)
			}
		}
	}
	if _, _, err := Read(request(one, "Content-Type", Structured), limits); err != nil {
		t.Error(err)
	}
}

// events are of all kinds.
func events(t *testing.T) []event.Event {
	t.Helper()
	var out []event.Event
	for _, text := range []string{
		`{"specversion":"1.0","id":"1","source":"/s?a=b#c","type":"t"}`,
		`{"specversion":"1.0","id":"2","source":"s","type":"t","subject":"ü \"x\" % 😀","time":"2026-03-01T12:00:00.5+01:00","dataschema":"urn:x","ext":"a b","data":{"n":12345678901234567890}}`,
		`{"specversion":"1.0","id":"3","source":"s","type":"t","datacontenttype":"text/plain","data":"some text"}`,
		`{"specversion":"1.0","id":"4","source":"s","type":"t","datacontenttype":"application/octet-stream","data_base64":"AQID/w=="}`,
		`{"specversion":"1.0","id":"5","source":"s","type":"t","datacontenttype":"application/json","data":null}`,
		`{"specversion":"1.0","id":"6","source":"s","type":"t","datacontenttype":"application/json","data":"a string"}`,
	} {
		e, err := event.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e)
	}
	return out
}

// TestWriteAndRead: what is written is read again as it was. Binary mode names the
// content type that JSON data has by default.
func TestWriteAndRead(t *testing.T) {
	all := events(t)
	for _, e := range all {
		for _, mode := range []Mode{ModeStructured, ModeBinary} {
			h := http.Header{}
			body, err := Write(h, mode, e)
			if err != nil {
				t.Fatal(err)
			}
			r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body))
			r.Header = h
			list, got, err := Read(r, DefaultLimits)
			if err != nil || got != mode {
				t.Errorf("%s: mode %d, %v", e.ID, got, err)
				continue
			}
			want := e
			if mode == ModeBinary && want.HasData && want.DataContentType == "" {
				want.DataContentType = "application/json"
			}
			if !expr.Equal(list[0].Value(), want.Value()) {
				t.Errorf("mode %d:\n got %s\nwant %s", mode, list[0].Value(), want.Value())
			}
		}
	}
	h := http.Header{}
	body, err := Write(h, ModeBatch, all...)
	if err != nil {
		t.Fatal(err)
	}
	list, _, err := Read(request(string(body), "Content-Type", h.Get("Content-Type")), DefaultLimits)
	if err != nil || len(list) != len(all) || !expr.Equal(list[5].Value(), all[5].Value()) {
		t.Errorf("%v, %v", list, err)
	}
	if _, err := Write(h, ModeBinary, all...); err == nil {
		t.Error("several events are one")
	}
}
