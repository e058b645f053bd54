package expr

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestParseJSON(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{" \t\r\n1 ", "1"},
		{`{"b":1,"a":2}`, `{"a":2,"b":1}`},
		{`{"a":1,"b":2,"a":{"c":3}}`, `{"a":{"c":3},"b":2}`}, // the last wins, whole
		{`{"\u0061":1,"a":2}`, `{"a":2}`},
		{`[ ]`, `[]`},
		{`{ }`, `{}`},
		{`"\"\\\/\b\f\n\r\t"`, `"\"\\/\u0008\u000c\n\r\t"`},
		{`"\u00e9\u4e2d"`, `"é中"`},
		{`"\ud83d\ude00"`, `"😀"`},
		{"\"\u2028</script>\"", "\"\u2028</script>\""}, // nothing is escaped that need not be
		{`12345678901234567890`, `12345678901234567890`},
		{`-0`, `-0`},
		{`1.10`, `1.10`},
		{`1E+2`, `1E+2`},
		{`-9223372036854775808`, `-9223372036854775808`},
	} {
		v, err := ParseJSON([]byte(c.in))
		if err != nil || v.String() != c.want {
			t.Errorf("%s: %s, %v; want %s", c.in, v, err, c.want)
		}
	}
}

func TestParseErrorsSayWhere(t *testing.T) {
	for _, c := range []struct {
		in     string
		offset int
		msg    string
	}{
		{``, 0, "ends where a value"},
		{`  `, 2, "ends where a value"},
		{`{"a":1,}`, 7, "quoted key"},
		{`[1,]`, 3, `unexpected ']'`},
		{`[1 2]`, 3, "expected ',' or ']'"},
		{`{"a" 1}`, 5, `expected ':' after key "a"`},
		{`{"a":1 "b":2}`, 7, "expected ',' or '}'"},
		{`{a:1}`, 1, "quoted key"},
		{`1 x`, 2, `unexpected 'x' after the value`},
		{`1 é`, 2, `unexpected 'é' after the value`},
		{`é`, 0, `unexpected 'é'`},
		{`nul`, 0, `unexpected 'n'`},
		{`truex`, 4, `unexpected 'x'`},
		{`01`, 1, `unexpected '1'`},
		{`-`, 0, "malformed number"},
		{`1.`, 0, "malformed number"},
		{`[1e]`, 1, "malformed number"},
		{`.5`, 0, "unexpected '.'"},
		{`+1`, 0, "unexpected '+'"},
		{`NaN`, 0, "unexpected 'N'"},
		{`"abc`, 0, "no closing quote"},
		{`["a\nb`, 1, "no closing quote"},
		{"\"a\x01\"", 2, "control character 0x01"},
		{"\"\\n\x01\"", 3, "control character 0x01"},
		{`"a\x"`, 3, `unknown escape \x`},
		{`"a\é"`, 3, `unknown escape \é`},
		{`"\u12g4"`, 1, `malformed \u`},
		{`"\ud83d"`, 1, "half of a surrogate pair"},
		{`"\ude00\ud83d"`, 1, "half of a surrogate pair"}, // the wrong way round
		{`["a\ud83d\u0041"]`, 3, "half of a surrogate pair"},
		{`"\ud83d\ud83d\ude00"`, 1, "half of a surrogate pair"},
		{`"\ud83dx"`, 1, "half of a surrogate pair"},
		{`{"a":{"\ud83d":1}}`, 7, "half of a surrogate pair"},
		{`"\u+123"`, 1, `malformed \u`},
		{`"\u1`, 1, `malformed \u`},
		{`"\`, 1, "ends inside an escape"},
		{"\"\xff\"", 1, "not valid UTF-8"},
		{"\"\\n\xff\"", 1, "not valid UTF-8"},
		{`'a'`, 0, `unexpected '\''`},
		{"\ufeff1", 0, `unexpected`},
	} {
		_, err := ParseJSON([]byte(c.in))
		var pe *ParseError
		if !errors.As(err, &pe) {
			t.Errorf("%q: error %v", c.in, err)
			continue
		}
		if pe.Offset != c.offset || !strings.Contains(pe.Msg, c.msg) {
			t.Errorf("%q: %q at %d, want %q at %d", c.in, pe.Msg, pe.Offset, c.msg, c.offset)
		}
	}
}

func TestParseRepaired(t *testing.T) {
	for in, want := range map[string]string{
		`"\ud83d"`:             "\"\ufffd\"",
		`"\ude00\ud83d"`:       "\"\ufffd\ufffd\"", // two halves the wrong way round
		`"\ud83d\u0041"`:       "\"\ufffdA\"",      // the next escape stays
		`"\ud83d\ud83d\ude00"`: "\"\ufffd😀\"",
		`"\ud83dx"`:            "\"\ufffdx\"",
		`{"a":1,"a":2}`:        `{"a":2}`,
	} {
		if v, err := ParseRepaired([]byte(in)); err != nil || v.String() != want {
			t.Errorf("%s: %s, %v; want %s", in, v, err, want)
		}
	}
}

func TestParseUnique(t *testing.T) {
	for in, path := range map[string]string{
		`{"a":1,"b":2,"a":3}`:               "a",
		`{"a":1,"\u0061":3}`:                "a",
		`{"":1,"":3}`:                       "",
		`[0,{"x":[{"a":1},{"b":1,"b":1}]}]`: "1 x 1 b",
		`{"a":{"a":{"a":1}},"b":[1,1]}`:     "none",
		`[{"a":1},{"a":1}]`:                 "none",
		`{"a":1,"A":1}`:                     "none",
	} {
		v, err := ParseUnique([]byte(in))
		got := "none"
		var repeated *RepeatedKeyError
		if errors.As(err, &repeated) {
			got, err = strings.Join(repeated.Path, " "), nil
		}
		if same, _ := ParseJSON([]byte(in)); err != nil || got != path || got == "none" && !Equal(v, same) {
			t.Errorf("%s: %q, %v; want %q", in, got, err, path)
		}
	}
}

func TestParseRefusesDeepNesting(t *testing.T) {
	nested := func(n int) []byte {
		return []byte(strings.Repeat(`{"a":[`, n/2) + "1" + strings.Repeat("]}", n/2))
	}
	v, err := ParseJSON(nested(MaxDepth))
	if err != nil || v.Depth() != MaxDepth {
		t.Fatalf("at the limit: depth %d, %v", v.Depth(), err)
	}
	if _, err = ParseJSON(nested(MaxDepth + 2)); err == nil || !strings.Contains(err.Error(), "value-depth") {
		t.Fatalf("beyond the limit: %v", err)
	}
	// A megabyte of brackets is refused before it costs anything.
	if _, err = ParseJSON(bytes.Repeat([]byte("["), 1<<20)); err == nil {
		t.Fatal("accepted")
	}
}

func TestInvalidUTF8IsWrittenAsReplacement(t *testing.T) {
	v := Object(Member{"k\xff", String("a\xffb\x80\xc3")})
	if got := v.String(); got != "{\"k\ufffd\":\"a\ufffdb\ufffd\ufffd\"}" {
		t.Fatalf("%q", got)
	}
}

func TestJSONRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := anyValue(4).Draw(t, "v")
		text := v.AppendJSON(nil)
		if !json.Valid(text) {
			t.Fatalf("not JSON: %s", text)
		}
		back, err := ParseJSON(text)
		if err != nil || !Equal(back, v) {
			t.Fatalf("%s came back as %s, %v", text, back, err)
		}
		if again := back.AppendJSON(nil); !bytes.Equal(again, text) {
			t.Fatalf("%s was written again as %s", text, again)
		}
		b := NewBudget()
		paid, err := b.AppendJSON(nil, v)
		if err != nil || !bytes.Equal(paid, text) {
			t.Fatalf("with a budget: %s, %v", paid, err)
		}
		if spent := MaxOutput - b.Output; spent != len(text) {
			t.Fatalf("%d bytes cost %d", len(text), spent)
		}
	})
}

// FuzzParseJSON compares with encoding/json: the same texts are valid, and they
// mean the same.
func FuzzParseJSON(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,2.50,-0,1e400],"b":"\ud83d\ude00\ud800","a":null}`, `[]`, `"\u0000"`, ` 1`, `01`, `{"a":1,}`, "\"\xff\"", `"\ud800\ud800\udc00"`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := ParseJSON(data)
		if repaired, bad := ParseRepaired(data); err == nil && (bad != nil || !Equal(v, repaired)) {
			t.Fatalf("%q is %s, repaired %s, %v", data, v, repaired, bad)
		} else if err != nil && strings.Contains(err.Error(), "half of a surrogate") {
			v, err = repaired, bad
		}
		if !utf8.Valid(data) {
			return // encoding/json repairs what we refuse
		}
		if err != nil {
			if json.Valid(data) && !strings.Contains(err.Error(), "value-depth") {
				t.Fatalf("%q refused: %v", data, err)
			}
			return
		}
		if !json.Valid(data) {
			t.Fatalf("%q accepted as %s", data, v)
		}
		var std any
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.UseNumber()
		if err := dec.Decode(&std); err != nil {
			t.Fatalf("%q: encoding/json: %v", data, err)
		}
		want, err := FromGo(std)
		if err != nil || v.String() != want.String() {
			t.Fatalf("%q is %s, encoding/json has %s (%v)", data, v, want, err)
		}
		again, err := ParseJSON(v.AppendJSON(nil))
		if err != nil || !Equal(v, again) {
			t.Fatalf("%s came back as %s, %v", v, again, err)
		}
	})
}
