package event

import (
	"errors"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
)

// TestRoundTrip reads events and writes them back: nothing is lost.
func TestRoundTrip(t *testing.T) {
	for _, text := range []string{
		`{"data":{"value":"80bpm"},"department":"UrgentCare","id":"A234","patientId":"PID-1","source":"monitor","specversion":"1.0","subject":"Reading","time":"2020-01-05T17:31:00Z","type":"heartRate"}`,
		`{"data":null,"id":"1","source":"s","specversion":"1.0","type":"t"}`,
		`{"id":"1","source":"s","specversion":"1.0","type":"t"}`,
		`{"data_base64":"AQID","datacontenttype":"application/octet-stream","dataschema":"urn:x","id":"1","source":"s","specversion":"1.0","type":"t"}`,
		`{"count":12345678901234567890,"flag":true,"id":"1","ratio":1.50,"source":"s","specversion":"1.0","type":"t"}`,
	} {
		e, err := Parse([]byte(text))
		if err != nil {
			t.Errorf("Parse(%s): %v", text, err)
			continue
		}
		if got := e.Value().String(); got != text {
			t.Errorf("round trip:\n got %s\nwant %s", got, text)
		}
	}
}

func TestDefaults(t *testing.T) {
	e, err := Parse([]byte(`{"specversion":"1.0","id":"1","source":"s","type":"t","subject":null,"ext":null}`))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := e.Value().String(), `{"id":"1","source":"s","specversion":"1.0","type":"t"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if e.HasData {
		t.Error("an event without data has data")
	}
}

// TestRefused lists what is no event: the error names the attribute.
func TestRefused(t *testing.T) {
	for _, c := range []struct{ text, attribute, says string }{
		{`{"source":"s","type":"t"}`, "id", "required"},
		{`{"id":"","source":"s","type":"t"}`, "id", "required"},
		{`{"id":"1","type":"t"}`, "source", "required"},
		{`{"id":"1","source":"s"}`, "type", "required"},
		{`{"id":1,"source":"s","type":"t"}`, "id", "not a number"},
		{`{"specversion":"0.3","id":"1","source":"s","type":"t"}`, "specversion", `"0.3" is not supported`},
		{`{"id":"1","source":"s","type":"t","time":"yesterday"}`, "time", "RFC 3339"},
		{`{"id":"1","source":"s","type":"t","tags":["a"]}`, "tags", "put it into data"},
		{`{"id":"1","source":"s","type":"t","my-tag":"a"}`, "my-tag", "letters and digits"},
		{`{"id":"1","source":"s","type":"t","data_base64":"?"}`, "data_base64", "not base64"},
		{`{"id":"1","source":"s","type":"t","data_base64":"AQID","data":1}`, "data_base64", "beside data"},
		{`[]`, "", "must be a JSON object"},
	} {
		_, err := Parse([]byte(c.text))
		var bad *AttributeError
		if !errors.As(err, &bad) {
			t.Errorf("Parse(%s) gives %v, want an AttributeError", c.text, err)
			continue
		}
		if bad.Attribute != c.attribute || !strings.Contains(err.Error(), c.says) {
			t.Errorf("Parse(%s) gives %q, want one about %q that says %q", c.text, err, c.attribute, c.says)
		}
	}
	if _, err := Parse([]byte(`{`)); err == nil {
		t.Error("Parse takes malformed JSON")
	}
}

func TestAttribute(t *testing.T) {
	e, err := Parse([]byte(`{"specversion":"1.0","id":"1","source":"s","type":"t","n":1.50,"b":true,"data":{"x":1}}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"id": "1", "specversion": "1.0", "n": "1.50", "b": "true"} {
		if got, ok := e.Attribute(name); !ok || got != want {
			t.Errorf("Attribute(%q) = %q, %t, want %q", name, got, ok, want)
		}
	}
	for _, name := range []string{"subject", "data", "x", "data_base64"} {
		if got, ok := e.Attribute(name); ok {
			t.Errorf("Attribute(%q) = %q, want none", name, got)
		}
	}
}

func TestPut(t *testing.T) {
	e := Event{ID: "1", Source: "s", Type: "t"}
	for _, name := range []string{"z", "subject", "my-tag", "a", "z"} {
		if !e.Put(name, expr.Int(int64(len(name)))) {
			t.Errorf("%s is not set", name)
		}
	}
	for _, name := range []string{"id", "source", "type", "specversion", "time", "data", "data_base64"} {
		if e.Put(name, expr.String("x")) {
			t.Errorf("%s is set", name)
		}
	}
	if got, want := e.Value().String(), `{"a":1,"id":"1","my-tag":6,"source":"s","specversion":"1.0","subject":"7","type":"t","z":1}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, ok := e.Attribute("subject"); !ok || got != "7" {
		t.Errorf("subject %q", got)
	}
}

func TestMatch(t *testing.T) {
	e := Event{
		ID: "1", Source: "hospital", Type: "heartRate",
		Extensions: []expr.Member{{Key: "bed", Value: expr.Int(7)}, {Key: "patientId", Value: expr.String("P1")}},
		Data:       expr.Object(expr.Member{Key: "ward", Value: expr.String("W")}), HasData: true,
	}
	for _, c := range []struct {
		name   string
		filter Filter
		why    string // "" matches
	}{
		{"nothing asked", Filter{}, ""},
		{"source and type", Filter{Source: "hospital", Type: "heartRate"}, ""},
		{"other type", Filter{Type: "x"}, `type is "heartRate", not "x"`},
		{"other source", Filter{Source: "x", Type: "heartRate"}, `source is "hospital", not "x"`},
		{"key not fixed", Filter{Keys: []Key{{Name: "patientId"}}}, ""},
		{"key not fixed and absent", Filter{Keys: []Key{{Name: "absent"}}}, ""},
		{"key equal", Filter{Keys: []Key{{Name: "patientId", Value: "P1", Fixed: true}, {Name: "bed", Value: "7", Fixed: true}}}, ""},
		{"key differs", Filter{Keys: []Key{{Name: "patientId", Value: "P2", Fixed: true}}}, `patientId is "P1", not "P2"`},
		{"key without a value to equal", Filter{Keys: []Key{{Name: "patientId", Void: true}}}, "does not have"},
		{"key absent", Filter{Keys: []Key{{Name: "room", Value: "1", Fixed: true}}}, `no attribute "room"`},
		{"key fixed to nothing", Filter{Keys: []Key{{Name: "room", Value: "", Fixed: true}}}, `no attribute "room"`},
		{"key in other case", Filter{Keys: []Key{{Name: "patientid", Value: "P1", Fixed: true}}}, `it has "patientId"`},
		{"key in the data", Filter{Keys: []Key{{Name: "ward", Value: "W", Fixed: true}}}, "looks at attributes"},
		{"standard attribute", Filter{Keys: []Key{{Name: "source", Value: "hospital", Fixed: true}}}, ""},
	} {
		ok, why := c.filter.Match(e)
		if ok != (c.why == "") || !strings.Contains(why, c.why) {
			t.Errorf("%s: %t, %q, want %q", c.name, ok, why, c.why)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"id":"1","source":"s","type":"t","ext":1,"data":{"a":[1]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		e, err := Parse(text)
		if err != nil {
			return
		}
		again, err := FromValue(e.Value())
		if err != nil {
			t.Fatalf("what was accepted is refused: %v", err)
		}
		if !expr.Equal(again.Value(), e.Value()) {
			t.Fatalf("%s becomes %s", e.Value(), again.Value())
		}
	})
}
