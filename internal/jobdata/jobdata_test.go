package jobdata_test

import (
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/jobdata"
)

func value(t *testing.T, text string) expr.Value {
	t.Helper()
	v, err := expr.ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestStart(t *testing.T) {
	var m jobdata.Model
	for input, want := range map[string][2]string{
		`{"clientId":"c"}`: {`{"clientId":"c","status":{"clientId":"c"}}`, `{"l":1}`},
		`{"clientId":"c","definition":null,"tags":["t"],"status":{"x":1}}`: {
			`{"clientId":"c","status":{"clientId":"c","x":1}}`, `{"l":1,"tags":["t"]}`,
		},
		`{"clientId":"c","definition":{"a":null}}`: {
			`{"clientId":"c","definition":{"a":null},"status":{"clientId":"c"}}`, `{"l":1}`,
		},
	} {
		in := value(t, input)
		if bad := m.CheckInput(in); len(bad) > 0 {
			t.Errorf("%s: %v", input, bad)
		}
		data, labels := m.Start(in, value(t, `{"l":1}`))
		if data.String() != want[0] || labels.String() != want[1] {
			t.Errorf("%s gives %s and labels %s, want %s", input, data, labels, want)
		}
	}
}

// TestChange: what may change a job, what comes of it and what the record tells.
func TestChange(t *testing.T) {
	var m jobdata.Model
	amend := func(given expr.Value) (next, told expr.Value, err error) {
		return m.Amend(value(t, `{"clientId":"c","definition":1,"status":{"state":"NEW"}}`), given)
	}
	label := func(given expr.Value) (next, told expr.Value, err error) {
		return m.Label(value(t, `{"a":{"x":1},"tags":["s","t"]}`), given)
	}
	choose := func(given expr.Value) (next, told expr.Value, err error) {
		next, err = m.Choose(given, "DONE")
		return next, given, err
	}
	for _, c := range []struct {
		change     func(given expr.Value) (next, told expr.Value, err error)
		given      string
		next, told string
		refused    string
	}{
		{
			change: amend, given: `{"definition":2,"status":{"state":"NEW"}}`,
			next: `{"clientId":"c","definition":2,"status":{"state":"NEW"}}`, told: `{"definition":2,"replaced":1}`,
		},
		{change: amend, given: `{}`, next: `{"clientId":"c","status":{"state":"NEW"}}`, told: `{"replaced":1}`},
		{change: amend, given: `{"clientId":"d"}`, refused: `amend changes the definition of a job; its clientId is "c"`},
		{change: amend, given: `{"status":{}}`, refused: `amend changes the definition of a job; its status is {"state":"NEW"}`},
		{change: amend, given: `[]`, refused: "amend needs an object with the job's definition, not an array"},
		{
			change: label, given: `{"a":{"y":2},"tags":["t","u"]}`,
			next: `{"a":{"x":1,"y":2},"tags":["t","u"]}`, told: `{"a":{"y":2},"added":["u"],"removed":["s"],"tags":["t","u"]}`,
		},
		{change: label, given: `{"b":1}`, next: `{"a":{"x":1},"b":1,"tags":["s","t"]}`, told: `{"b":1}`},
		{change: label, given: `{"tags":["t",1]}`, refused: "the tags of a job must be an array of strings"},
		{change: choose, given: `{"state":"x","n":1}`, next: `{"n":1,"state":"DONE"}`, told: `{"n":1,"state":"x"}`},
		{change: choose, given: `1`, refused: "the status must be an object, not a number"},
	} {
		next, told, err := c.change(value(t, c.given))
		switch {
		case c.refused != "":
			if err == nil || err.Error() != c.refused {
				t.Errorf("%s: %v, want %s", c.given, err, c.refused)
			}
		case err != nil || next.String() != c.next || told.String() != c.told:
			t.Errorf("%s gives %s and tells %s (%v), want %s and %s", c.given, next, told, err, c.next, c.told)
		}
	}
}
