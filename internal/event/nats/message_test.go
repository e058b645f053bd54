package nats

import (
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
)

func header(pairs ...string) nats.Header {
	h := nats.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h[pairs[i]] = append(h[pairs[i]], pairs[i+1])
	}
	return h
}

func TestReadMessage(t *testing.T) {
	const whole = `{"id":"1","source":"s","specversion":"1.0","type":"t"}`
	binary := []string{"ce-specversion", "1.0", "ce-id", "1", "ce-source", "s", "ce-type", "t"}
	with := func(more ...string) nats.Header { return header(append(binary[:len(binary):len(binary)], more...)...) }
	for _, c := range []struct {
		header nats.Header
		body   string
		want   string
	}{
		{nil, whole, whole},
		{header("Content-Type", "application/cloudevents+json; charset=UTF-8"), whole, whole},
		{header("content-type", "application/cloudevents"), whole, whole},
		{header("content-type", "application/json"), whole, whole},
		{with(), "", whole},
		{header("Ce-Specversion", "1.0", "CE-ID", "1", "ce-Source", "s", "cE-type", "t", "Nats-Msg-Id", "x"), "", whole},
		{with("content-type", "application/json"), `{"a":1.50}`, `{"data":{"a":1.50},"datacontenttype":"application/json","id":"1","source":"s","specversion":"1.0","type":"t"}`},
		{with("ce-datacontenttype", "text/plain"), "hällo", `{"data":"hällo","datacontenttype":"text/plain","id":"1","source":"s","specversion":"1.0","type":"t"}`},
		{with("Content-Type", "application/octet-stream"), "\x01\x02\x03", `{"data_base64":"AQID","datacontenttype":"application/octet-stream","id":"1","source":"s","specversion":"1.0","type":"t"}`},
		{with("ce-subject", "Euro%20%E2%82%AC"), "", `{"id":"1","source":"s","specversion":"1.0","subject":"Euro €","type":"t"}`},
	} {
		e, err := readMessage(c.header, []byte(c.body), maxEvent)
		if err != nil || e.Value().String() != c.want {
			t.Errorf("%v %q: %v\n got %s\nwant %s", c.header, c.body, err, e.Value(), c.want)
		}
	}
	for _, c := range []struct {
		header nats.Header
		body   string
		says   string
	}{
		{nil, "", "event"},
		{nil, "[]", "must be a JSON object"},
		{nil, whole + strings.Repeat(" ", maxEvent), "limit event-bytes"},
		{header("content-type", "application/cloudevents+avro"), whole, "is not supported"},
		{header("content-type", structuredMedia+"; charset=utf-16"), whole, "charset"},
		{header("ce-id", "1"), "", `"specversion"`},
		{with("ce-id", "2"), "", "more than once"},
		{with("CE-Id", "2"), "", "more than once"},
		{with("ce-x", "%zz"), "", "hexadecimal"},
		{with("ce-datacontenttype", "%zz"), "", "hexadecimal"},
		{with("ce-data", "x"), "", "in binary mode"},
		{with("content-type", "application/json"), "{", "not JSON"},
		{with("content-type", "application/json"), `{"a":1,"a":2}`, `"a" is given twice`},
		{with("ce-subject", "a%0Ab"), "", "U+000A"},
		{header("ce-id", "1", "ce-source", "s", "ce-type", "t"), "", "specversion"},
		{nil, `{"id":"1","source":"s","type":"t"}`, "specversion"},
		{nil, `{"specversion":"1.0","id":"1\u0000","source":"s","type":"t"}`, "U+0000"},
		{nil, `{"specversion":"1.0","id":"1","source":"s","type":"t","id":"1"}`, `"id": is given twice`},
		{nats.Header{"content-type": {"text/plain", "text/html"}, "ce-id": {"1"}}, "", "more than once"},
		{nats.Header{"ce-datacontenttype": {"text/plain"}, "Ce-DataContentType": {"text/html"}, "ce-id": {"1"}}, "", "more than once"},
	} {
		if _, err := readMessage(c.header, []byte(c.body), maxEvent); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v %.100q: %v, want %q", c.header, c.body, err, c.says)
		}
	}
}

// TestWriteAndRead: what is written is read again as it was.
func TestWriteAndRead(t *testing.T) {
	for _, text := range []string{
		`{"specversion":"1.0","id":"1","source":"/s?a=b#c","type":"t"}`,
		`{"specversion":"1.0","id":"2","source":"s","type":"t","subject":"ü \"x\" % 😀","time":"2026-03-01T12:00:00.5+01:00","ext":"a b","datacontenttype":"application/json","data":{"n":12345678901234567890}}`,
		`{"specversion":"1.0","id":"3","source":"s","type":"t","datacontenttype":"text/plain","data":"some text"}`,
		`{"specversion":"1.0","id":"4","source":"s","type":"t","datacontenttype":"application/octet-stream","data_base64":"AQID/w=="}`,
	} {
		e, err := event.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		for _, binary := range []bool{false, true} {
			m, err := writeMessage("x", e, binary)
			if err != nil {
				t.Fatal(err)
			}
			got, err := readMessage(m.Header, m.Data, maxEvent)
			if err != nil || !expr.Equal(got.Value(), e.Value()) || isBinary(m.Header) != binary {
				t.Errorf("binary %v: %v\n got %s\nwant %s", binary, err, got.Value(), e.Value())
			}
		}
	}
}

func FuzzMessage(f *testing.F) {
	f.Add("ce-id", "1", "content-type", "application/json", []byte(`{"specversion":"1.0","id":"1","source":"s","type":"t"}`))
	f.Add("ce-specversion", "1.0", "ce-type", "%41", []byte("x"))
	f.Fuzz(func(t *testing.T, name, value, other, text string, body []byte) {
		e, err := readMessage(header(name, value, other, text, "ce-source", "s", "ce-specversion", "1.0"), body, maxEvent)
		if err != nil {
			return
		}
		if err := e.Check(); err != nil {
			t.Errorf("it reads what is no event: %v", err)
		}
	})
}
