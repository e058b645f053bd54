package dialect

import "testing"

func TestJSONValues(t *testing.T) {
	for src, want := range map[string]string{
		`{"b":1,"a":[]}`: `{"a":[],"b":1}`,
		`[1, -0, 1.50, 1e3, 12345678901234567890]`:   `[1,-0,1.50,1e3,12345678901234567890]`,
		`{"a\/\"\\\b\f\n\r\t\u00e9\ud83d\ude00":""}`: `{"a/\"\\\u0008\u000c\n\r\té😀":""}`,
		"\ufeff[true,false,null]":                    `[true,false,null]`,
		" [ ] ":                                      `[]`,
		`[{}]`:                                       `[{}]`,
	} {
		doc := mustRead(t, "f.json", src)
		if got := doc.Root.Value().String(); got != want {
			t.Errorf("%s gives %s, want %s", src, got, want)
		}
	}
	if v := mustRead(t, "f.json", `"x"`).Root.Value().String(); v != `"x"` {
		t.Error("a scalar as a document: " + v)
	}
}

func TestJSONErrors(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{`{"a":1,"b":2,"a":3,"b":4}`, "1:14 DOC002 key \"a\" repeats the one at line 1, column 2\n1:20 DOC002 key \"b\" repeats the one at line 1, column 8"},
		{`{"\u0061":1,"a":2}`, `1:13 DOC002`},
		{"{\n\t\"a\": 1,\n}", `2:8 DOC001 a comma before the closing "}"; remove the comma`},
		{`[1,]`, `1:3 DOC001 a comma before the closing "]"`},
		{`[,]`, `1:2 DOC001 unexpected "," where a value is expected`},
		{`[1,,2]`, `1:4 DOC001 unexpected "," where a value is expected`},
		{`{"a":1,,"b":2}`, `1:8 DOC001 unexpected "," where a key is expected`},
		{"// x\n[1 /* y */, 2] # z", "1:1 DOC001 JSON has no comments\n2:4 DOC001\n2:16 DOC001"},
		{`[1 /* y`, `1:4 DOC001 this comment is not closed`},
		{`[1, ...]`, `1:5 DOC001 "..." is not JSON`},
		{`{...}`, `1:2 DOC001 "..." is not JSON`},
		{`{"a": ..., "b": …}`, "1:7 DOC001 \"...\" is not JSON\n1:17 DOC001 \"...\" is not JSON"},
		{`{'a': 'b\"c'}`, "1:2 DOC001 JSON strings use double quotes; write \"a\"\n1:7 DOC001 JSON strings use double quotes; write \"b\\\"c\""},
		{`{a: b}`, "1:2 DOC001 key \"a\" must be in double quotes\n1:5 DOC001 text must be in double quotes; write \"b\""},
		{`{1: 2}`, `1:2 DOC001 key "1" must be in double quotes`},
		{`["é" 1 {}]`, "1:5 DOC001 a comma is missing\n1:7 DOC001 a comma is missing"},
		{`{"a": 1 "b": 2}`, `1:8 DOC001 a comma is missing`},
		{`{"a" 1, "b": 2, "a": 3}`, "1:5 DOC001 a \":\" is missing after key \"a\"\n1:17 DOC002"},
		{`{"a"}`, `1:5 DOC001 unexpected "}" after key "a"; expected ":"`},
		{`{"a":}`, `1:6 DOC001 unexpected "}" where a value is expected`},
		{`{"a":[1}`, `1:8 DOC001 "}" does not match the "[" of line 1, column 6`},
		{`{"a":[1`, `1:8 DOC001 the document ends before the "[" of line 1, column 6 is closed`},
		{`{"a":`, `1:6 DOC001 the document ends where a value is expected`},
		{`{"a"`, `1:5 DOC001 the document ends after key "a"`},
		{`{`, `1:2 DOC001 the document ends before the "{" of line 1, column 1 is closed`},
		{`{"a":"x`, `1:6 DOC001 the string that begins here is not closed`},
		{"{\"a\":\"x\n\"}", `1:6 DOC001 the string is not closed on its line`},
		{"{\"a\":\"x\\\n\"}", "1:6 DOC001 the string is not closed on its line\n1:8 DOC001 unknown escape"},
		{"[\"a\tb\"]", `1:4 DOC001 a tab inside of a string; write \t`},
		{`["\q\é\u12G4\ud800"]`, "1:3 DOC001 unknown escape\n1:5 DOC001 unknown escape\n1:7 DOC001 four hexadecimal digits must follow \\u\n1:13 DOC001 \\ud800 is half of a character"},
		{`["\`, `1:2 DOC001 the string that begins here is not closed`},
		{`[True, None, NaN]`, "1:2 DOC001 \"True\" is not JSON; did you mean true?\n1:8 DOC001 \"None\" is not JSON; did you mean null?\n1:14 DOC009 NaN is not a JSON number"},
		{`[+1, .5, 0x1F, 01, 1., 1-2, -]`, "1:2 DOC001 \"+1\" is not a JSON number; write 1\n1:6 DOC001 \".5\" is not a JSON number; write 0.5\n" +
			"1:10 DOC001 \"0x1F\" is not a JSON number; write 31\n1:16 DOC001 \"01\" is not a JSON number; write 1\n1:20 DOC001\n" +
			"1:24 DOC001 \"1-2\" is not a JSON number; put text in double quotes\n1:29 DOC001"},
		{`[FALSE, "\ud83d\u12", "\u1"]`, "1:2 DOC001 \"FALSE\" is not JSON; did you mean false?\n1:10 DOC001 \\ud83d is half of a character\n1:16 DOC001 four\n1:24 DOC001 four"},
		{`{} {}`, `1:4 DOC006 unexpected "{" after the end of the document; write one definition in each file`},
		{`{} x`, `1:4 DOC001 unexpected "x" after the end of the document`},
		{`[1] "\x"`, `1:5 DOC001`},
		{``, `1:1 DOC005 the document is empty`},
		{" \n\t", `1:1 DOC005`},
		{`@`, `1:1 DOC001 unexpected "@" where a value is expected`},
		{"[\"\x01\"]", `1:3 DOC004 control character U+0001`},
		{"[\"é\xc3\"]", `1:4 DOC004 byte 0xc3 is not UTF-8 text`},
	} {
		checkDiagnostics(t, "f.json", c.src, c.want)
	}
}

// Lesser errors leave the tree, so that one pass finds the front-end's too.
func TestTreeInSpiteOfErrors(t *testing.T) {
	for src, want := range map[string]string{
		`{"a": 1, "a": 2, b: [True,],}`: `{"a":1,"b":[true]}`,
		"a: 1\na: 2\nb: !x 3\n":         `{"a":1,"b":"3"}`,
	} {
		doc, ds := Read("f", []byte(src))
		if !ds.HasErrors() || doc.Root == nil || doc.Root.Value().String() != want {
			t.Errorf("%s: %v", src, doc.Root.Value())
		}
	}
	if doc, _ := Read("f", []byte(`{"a": [}`)); doc.Root != nil {
		t.Error("a tree that ends in the middle")
	}
}
