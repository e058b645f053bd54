package dialect

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
)

var testCodes = FieldCodes{
	Type: "T", Missing: "M", Empty: "E", Choice: "C", Number: "N", Unknown: "U", Both: "B", Twice: "W", Unquoted: "Q",
}

// readThing asks for a member of every kind.
func readThing(r *Reader, n *Node) *Fields {
	f := r.Fields(n, "a thing")
	f.Name("name")
	f.OptionalName("id")
	f.Literal("version")
	f.Flag("on", true)
	f.Choice("mode", "fast", "slow")
	f.ChoiceFold("Loud", "YES", "NO")
	f.NeedList("parts")
	f.Full("extras")
	f.Either("a", "b")
	f.Allow("a", "b")
	if n := f.Get("count"); n != nil {
		r.Whole(n, "count", 1, 9)
	}
	if n := f.Get("least"); n != nil {
		r.Whole(n, "least", 0, math.MaxInt32)
	}
	f.Done()
	return f
}

func TestFieldsReportEveryMistake(t *testing.T) {
	for _, c := range []struct {
		name, text string
		reader     Reader
		want       []string
	}{
		{"nothing wrong", "{name: x, version: '1', on: false, mode: slow, Loud: yes, parts: [1], a: 1, count: '3', least: 4}", Reader{}, nil},
		{"not an object", "[1]", Reader{}, []string{"1:1 error T a thing must be an object, not an array"}},
		{"all is missing", "{}", Reader{}, []string{`1:1 error M a thing needs "a" or "b"`, `1:1 error M a thing needs "name"`, `1:1 error M a thing needs "parts"`}},
		{"null is absent", "{name: x, id: null, version: null, on: null, mode: null, parts: [1], extras: null, a: 1, b: null, count: null, other: null}", Reader{}, []string{
			`1:112 warning U unknown key "other" in a thing; it is ignored; the keys are name, id, version, on, mode, Loud, parts, extras, a, b, count, least`,
		}},
		{"null is a value", "{name: x, id: null, parts: [1], a: 1, version: null}", Reader{Strict: true}, []string{
			"1:15 error T id must be a string, not null", "1:48 error T version must be a string, not null",
		}},
		{
			"wrong kinds", "{name: 7, id: true, version: {}, on: 1, mode: [], Loud: 1, parts: {}, extras: 1, a: 1, count: {}, least: x}",
			Reader{},
			[]string{
				`1:8 error T name must be a string, not a number; put it in quotes: "7"`,
				`1:15 error T id must be a string, not a boolean; put it in quotes: "true"`,
				"1:30 error T version must be a string, not an object",
				"1:38 error T on must be a boolean, not a number",
				"1:47 error T mode must be a string, not an array",
				`1:57 error T Loud must be a string, not a number; put it in quotes: "1"`,
				"1:67 error T parts must be an array, not an object",
				"1:79 error T extras must be an array, not a number",
				"1:95 error T count must be a whole number, not an object",
				`1:106 error N least must be a whole number from 0, not "x"`,
			},
		},
		{
			"wrong values", "{name: ' ', id: '', version: 1.10, mode: Slo, Loud: maybe, parts: [], extras: [], a: 1, b: 2, count: 10}",
			Reader{},
			[]string{
				"1:8 error E name must not be empty", "1:17 error E id must not be empty",
				`1:30 warning Q version must be a string; this number is read as "1.10"; put it in quotes`,
				`1:42 error C mode cannot be "Slo"; did you mean "slow"?`,
				`1:53 error C Loud cannot be "maybe"; one of YES, NO`,
				"1:67 error E parts must not be empty", "1:79 error E extras must not be empty",
				`1:89 error B a thing has both "a" and "b"; only one is allowed`,
				"1:102 error N count must be a whole number from 1 to 9, not 10",
			},
		},
		{"blanks are a name", "{name: ' ', parts: [1], a: 1}", Reader{Blanks: true}, nil},
		{"a text is no number", "{name: x, parts: [1], a: 1, count: '3'}", Reader{Strict: true}, []string{"1:36 error T count must be a whole number, not a string"}},
		{"unknown keys", "{name: x, parts: [1], a: 1, nmae: y}", Reader{Strict: true}, []string{`1:29 error U unknown key "nmae" in a thing; did you mean "name"?`}},
		{
			"several spellings", "{NAME: x, name: y, Parts: [1], a: 1, MODE: slow, prats: 2}",
			Reader{Ways: func(key string) []string {
				return []string{strings.ToUpper(key), key, strings.ToUpper(key[:1]) + key[1:]}
			}},
			[]string{`1:11 error W "NAME" and "name" are the same key`, `1:50 warning U unknown key "prats" in a thing; it is ignored; did you mean "parts"?`},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc, _ := Read("f", []byte(c.text))
			r := c.reader
			r.Reporter, r.Codes = &Reporter{}, testCodes
			readThing(&r, doc.Root)
			var got []string
			for _, d := range r.Diagnostics() {
				got = append(got, strings.TrimPrefix(d.String(), "f:"))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// TestFieldsFold: where case does not matter, a key may be written in any.
func TestFieldsFold(t *testing.T) {
	doc, _ := Read("f", []byte("{AND: 1, Or: 2}"))
	r := Reader{Reporter: &Reporter{}, Codes: testCodes}
	f := r.Fields(doc.Root, "a condition")
	f.Fold = true
	if f.Get("and") == nil || f.Get("or") == nil || f.Get("not") != nil {
		t.Errorf("%v", f.Keys())
	}
	f.Done()
	if ds := r.Diagnostics(); len(ds) > 0 {
		t.Error(ds)
	}
}

func TestVisitTellsTheKeys(t *testing.T) {
	doc, _ := Read("f", []byte("{name: x}"))
	var got []string
	r := Reader{Reporter: &Reporter{}, Codes: testCodes, Visit: func(f *Fields) { got = f.Keys() }}
	readThing(&r, doc.Root)
	if want := strings.Fields("name id version on mode Loud parts extras a b count least"); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestMembersKeepTheFirstMistake(t *testing.T) {
	for text, want := range map[string]string{
		`{"name": "x", "on": true, "tags": ["a"], "data": {}}`: "",
		`[1]`:                            `|the body must be an object, not an array|0`,
		`{"name": "x", "nam": 1}`:        `/nam|unknown key "nam" in the body; did you mean "name"?|1`,
		`{"name": "x", "a/b~c": 1}`:      `/a~1b~0c|unknown key "a/b~c" in the body; the keys are name, note, on, tags, data|1`,
		`{}`:                             `/name|the body needs "name"|2`,
		`{"name": "", "on": 1}`:          `/name|name must not be empty|2`,
		`{"name": null}`:                 `/name|name must be a string, not null|3`,
		`{"name": "x", "note": 5}`:       `/note|note must be a string, not a number|3`,
		`{"name": "x", "on": "yes"}`:     `/on|on must be a boolean, not a string|4`,
		`{"name": "x", "tags": "a"}`:     `/tags|tags must be an array, not a string|4`,
		`{"name": "x", "tags": ["", 1]}`: `/tags/1|tags[1] must be a string, not a number|4`,
		`{"name": "x", "data": []}`:      `/data|data must be an object, not an array|4`,
	} {
		v, err := expr.ParseJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		m := ReadMembers(v, "the body", "", "name", "note", "on", "tags", "data")
		m.Name("name")
		m.Str("note")
		m.Flag("on", false)
		m.Strings("tags")
		m.Object("data")
		got := ""
		if e, ok := m.Err().(*MemberError); ok {
			got = fmt.Sprintf("%s|%s|%d", e.Pointer, e, e.Mistake)
		}
		if got != want {
			t.Errorf("%s\ngot  %s\nwant %s", text, got, want)
		}
	}
}

func TestMalformedPointsIntoTheText(t *testing.T) {
	doc, _ := Read("f", []byte(`{x: "ab\tcd"}`))
	var r Reporter
	r.Malformed(doc.Root.Get("x"), 1, "C", "path", &expr.SyntaxError{Offset: 2, Msg: "odd", Hint: "even"})
	r.Malformed(doc.Root.Get("x"), 0, "C", "path", fmt.Errorf("plain"))
	if got, want := r.Diagnostics().Error(), "f:1:5 error C malformed path: plain\nf:1:10 error C malformed path: odd; even"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
