package dialect

import (
	"strings"
	"testing"
)

// TestYAMLScalars holds YAML 1.2's core schema.
func TestYAMLScalars(t *testing.T) {
	for src, want := range map[string]string{
		"y": `"y"`, "yes": `"yes"`, "on": `"on"`, "no": `"no"`, "off": `"off"`, "N": `"N"`,
		"true": `true`, "True": `true`, "FALSE": `false`, "tRue": `"tRue"`,
		"null": `null`, "~": `null`, "": `null`, "NULL": `null`, "nil": `"nil"`,
		"12": `12`, "-7": `-7`, "+7": `7`, "0": `0`, "-0": `-0`,
		"0o17": `15`, "0x1F": `31`, "0o18": `"0o18"`, "0x": `"0x"`, "0xG": `"0xG"`, "-0x1": `"-0x1"`, "0b11": `"0b11"`,
		"0xFFFFFFFFFFFFFFFFFFFF": `1208925819614629174706175`,
		"12345678901234567890":   `12345678901234567890`,
		"1.10":                   `1.10`, ".5": `0.5`, "5.": `5`, "-.5": `-0.5`, "1e3": `1e3`, "1.E+3": `1E+3`, "+.5e-1": `0.5e-1`,
		"1_000": `"1_000"`, "1,5": `"1,5"`, "1:30": `"1:30"`, "12e": `"12e"`, "e3": `"e3"`, ".": `"."`, "-": `"-"`, "+": `"+"`, "1.2.3": `"1.2.3"`,
		"--1": `"--1"`, "+-1": `"+-1"`, "1e+": `"1e+"`, "1e5.5": `"1e5.5"`,
		"2026-03-01": `"2026-03-01"`, "2026-03-01T10:00:00Z": `"2026-03-01T10:00:00Z"`, "PT1M": `"PT1M"`,
		"'12'": `"12"`, `"true"`: `"true"`, "! 12": `"12"`, "!!str 12": `"12"`, "!!int 12": `12`, "!!float 12": `12`, `!!int "12"`: `12`,
		"!!bool true": `true`, "!!null ~": `null`, "!!null": `null`, "!!str": `""`, "!!seq [1]": `[1]`, "!!map {a: 1}": `{"a":1}`,
		"=": `"="`, "$.a[?(@.b == 'c')]": `"$.a[?(@.b == 'c')]"`, "\"\\x41\\u00e9\\U0001F600\\_\"": "\"Aé😀\u00a0\"",
	} {
		if src == "-" { // a list item outside of a flow
			continue
		}
		doc := mustRead(t, "f", "v: "+src+"\n")
		if got := doc.Root.Get("v").Value().String(); got != want {
			t.Errorf("%s is %s, want %s", src, got, want)
		}
	}
}

// Converting a long hexadecimal number costs more than its length.
func TestLongNumbersAreNotConverted(t *testing.T) {
	if number, ok := coreNumber("0xffff", 3); number != "" || !ok {
		t.Errorf("%q %v", number, ok)
	}
}

func TestYAMLKeys(t *testing.T) {
	doc := mustRead(t, "f", "on: 1\nyes: 2\n200: 3\ntrue: 4\n0x1F: 5\n.inf: 6\n010: 7\n'null': 8\n? long\n: 9\n&a x: y\n!!str 5: z\n")
	for _, key := range []string{"on", "yes", "200", "true", "0x1F", ".inf", "010", "null", "long", "x", "5"} {
		if doc.Root.Get(key) == nil {
			t.Errorf("no key %q", key)
		}
	}
	doc = mustRead(t, "f", "a: &k name\n*k : 1\n")
	if v, ok := doc.Root.Get("name").Int(); !ok || v != 1 {
		t.Error("alias as a key")
	}
}

func TestYAMLMerge(t *testing.T) {
	for src, want := range map[string]string{
		"b: &b {x: 1, y: 2}\nc: {x: 3, <<: *b}\n":                `{"x":3,"y":2}`,
		"b: &b {x: 1, y: 2}\nc: {<<: *b, x: 3}\n":                `{"x":3,"y":2}`,
		"b: &b {x: 1}\nd: &d {x: 2, z: 4}\nc:\n  <<: [*b, *d]\n": `{"x":1,"z":4}`,
		"b: &b {x: 1}\nd: &d {<<: *b, z: 4}\nc:\n  <<: *d\n":     `{"x":1,"z":4}`,
		"c:\n  <<: {x: 1}\n":                                     `{"x":1}`,
		"c: {\"<<\": 1}\n":                                       `{"<<":1}`,
		"b: &b []\nc: {<<: *b, x: 1}\n":                          `{"x":1}`,
		"b: &b {x: &x {p: 1}}\nc: {<<: *b, q: *x}\n":             `{"q":{"p":1},"x":{"p":1}}`,
		"b: &b {x: 1}\nb2: &b {x: 2}\nc: *b\n":                   `{"x":2}`,
		"b: &b {a: 1}\nc: [*b, *b]\n":                            `[{"a":1},{"a":1}]`,
	} {
		doc := mustRead(t, "f", src)
		if got := doc.Root.Get("c").Value().String(); got != want {
			t.Errorf("%q gives %s, want %s", src, got, want)
		}
	}
	// Each copy knows the key it stands under.
	doc := mustRead(t, "f", "a: &a {x: 1}\nb: *a\n")
	if a, b := doc.Root.Get("a"), doc.Root.Get("b"); a == b || a.Name() != "a" || b.Name() != "b" || a.Pos() != b.Pos() {
		t.Error("an alias is a copy at the same place under another key")
	}
}

// The directive says what is the case anyway.
func TestYAMLVersion(t *testing.T) {
	for _, src := range []string{
		"%YAML 1.2\n---\na: yes\n", "\ufeff# c\n\n%YAML  1.2 # c\r\n--- # c\r\na: yes\r\n", "%TAG !e! tag:e,2026:\n%YAML 1.2\n---\na: yes\n...\n",
	} {
		doc := mustRead(t, "f", src)
		if got := doc.Root.Value().String(); got != `{"a":"yes"}` || string(doc.Source) != src {
			t.Errorf("%q gives %s", src, got)
		}
		if s, err := doc.Syntax(); err != nil || s.Content[1].Text != "yes" {
			t.Errorf("%q: %v", src, err)
		}
	}
	const refused = `documents are read as YAML 1.2, and this line asks for something else; write "%YAML 1.2", or remove the line`
	checkDiagnostics(t, "f", "%YAML 1.1\n---\na: yes\n", `1:1 DOC001 `+refused)
	checkDiagnostics(t, "f", "# c\n%YAML\n---\na: yes\n", `2:1 DOC001 `+refused)
	checkDiagnostics(t, "f", "%YAML 1.2\n%YAML 1.2\n---\na: 1\n", `2:1 DOC001`)
	checkDiagnostics(t, "f", "%YAML 1.2\na: 1\n", `2:1 DOC001 a line "---" is missing here`)
}

func TestYAMLErrors(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"a: b: c\n", `1:5 DOC001 a ":" cannot stand here`},
		{"a: \"x\n", `1:4 DOC001 the quoted text that begins here is not closed`},
		{"a: 'x\nb: c\n", `1:4 DOC001 the quoted text that begins here is not closed`},
		{"a:\n\t- b", `2:1 DOC001 a tab where YAML needs spaces; indent with spaces`},
		{"a: >\n\tb", `2:1 DOC001 a tab where YAML needs spaces; indent with spaces`},
		{"a: @b", `1:4 DOC001 text cannot begin with "@"; put the text in quotes`},
		{"%a: b", `1:1 DOC001 text cannot begin with "%"`},
		{"é: [1,2\nb: 3", `2:2 DOC001 expected a comma, or the end of what the bracket at line 1, column 4 opens`},
		{"a: [1,2", `1:8 DOC001 expected a comma, or the end of what the bracket at line 1, column 4 opens`},
		{"a: {{ $.x }}\n", `1:4 DOC008 text that begins with "{{" must be in quotes; write "{{ $.x }}"`},
		{"a: {{ $.x }} y\n", `1:14 DOC001 expected a key of the mapping that begins at line 1, column 1; put text with {{ }} in quotes`},
		{"a: {{ f(1, 2) }}\nb: - c\n", `2:4 DOC001 a list item cannot begin here`},
		{"- a\nb: 1\n", `2:1 DOC001 expected "- ", an item of the list that begins at line 1, column 1`},
		{"a: 1\n  b\nc\n", `3:1 DOC001 a ":" is missing after this key`},
		{"a: \"\\q\"", `1:5 DOC001 unknown escape in double quotes`},
		{"a: \"\\uD83D\"", `1:7 DOC001 malformed escape in double quotes`},
		{"a: [}", `1:5 DOC001 a value is missing here`},
		{"a: 1\n...\nb: 2\n", `3:1 DOC001 text after the end of the document`},
		{"a: !e!x z", `1:4 DOC001 this tag is not declared`},
		{"a: x\n? - b\n  c\n", `DOC00`},
		{"", `1:1 DOC005 the document is empty`},
		{"\ufeff", `1:1 DOC005 the document is empty`},
		{"--- \n# only\n", `DOC005`},
		{"--- a\n--- b\n", `2:1 DOC006 a second document begins here`},
		{"a: 1\n---\nb: [\n", `4:1 DOC001 a value is missing here`},
		{"a: 1\nb:\n  c: 1\n  c: 2\na: 2\n", "4:3 DOC002 key \"c\" repeats the one at line 3, column 3\n5:1 DOC002 key \"a\" repeats the one at line 1, column 1"},
		{"1: a\n\"1\": b\n", `2:1 DOC002 key "1" repeats the one at line 1, column 1`},
		{"a: {<<: {}, <<: {}}\n", `1:13 DOC002 key "<<" repeats the one at line 1, column 5`},
		{"a: !!binary aGk=\nb: !x y\nc: &k !set {d: e}\n", "1:4 DOC007 tag \"!!binary\" is not one of YAML's core tags\n2:4 DOC007\n3:7 DOC007"},
		{"!!str a: 1\n!x b: 1\n", `2:1 DOC007`},
		{"a: !!int x\nb: !!int 1.5\nc: !!seq {}\nd: !!bool 1\n", "1:10 DOC007 \"x\" is not what its tag !!int says\n2:10 DOC007\n3:4 DOC007\n4:11 DOC007"},
		{"? [a]\n: 1\n~: 2\nnull: 3\n? \n: 4\n", "1:3 DOC008 a key must be text\n3:1 DOC008 a key cannot be null\n4:1 DOC008\n5:2 DOC008 the key before this \":\" is missing"},
		{"a: .inf\nb: -.INF\nc: .NaN\n", "1:4 DOC009 .inf is not a number\n2:4 DOC009\n3:4 DOC009"},
		{"a: *b\n", `1:4 DOC010 alias "*b" refers to no anchor before it`},
		{"a: &a [x, *a]\n", `1:11 DOC010 alias "*a" is inside what it refers to`},
		{"a: &a\n  b: {<<: *a}\n", `2:11 DOC010 alias "*a" is inside what it refers to`},
		{"a: {<<: 1}\n", `1:9 DOC010 "<<" merges mappings, and this is a number`},
		{"a: 010\nb: -007\nc: 0\nd: 0.5\n", "1:4 DOC011 YAML 1.2 reads 010 as the number 10\n2:4 DOC011 YAML 1.2 reads -007 as the number -7"},
		{"a: \x00", `1:4 DOC004 control character U+0000`},
		{"a: b\nc: d\xff", `2:5 DOC004 byte 0xff is not UTF-8 text`},
		{"\xff\xfea\x00", `1:1 DOC004 byte 0xff is not UTF-8 text; save the file as UTF-8`},
	} {
		checkDiagnostics(t, "f.yaml", c.src, c.want)
	}
}

// checkDiagnostics compares line:column, code and how the message begins, one
// line for each diagnostic.
func checkDiagnostics(t *testing.T, file, src, want string) {
	t.Helper()
	doc, ds := Read(file, []byte(src))
	lines := strings.Split(want, "\n")
	ok := len(ds) == len(lines)
	for i := 0; ok && i < len(ds); i++ {
		d := strings.Replace(strings.TrimPrefix(ds[i].String(), file+":"), " "+string(ds[i].Severity), "", 1)
		ok = strings.HasPrefix(d, lines[i]) || !strings.Contains(lines[i], ":") && strings.Contains(d, lines[i])
	}
	if !ok {
		t.Errorf("%q\ngot\n%v\nwant\n%s", src, ds, want)
	}
	for _, d := range ds {
		checkPlace(t, doc, d.Span())
	}
}

func TestManyErrorsEnd(t *testing.T) {
	for _, src := range []string{strings.Repeat("a: 1\n", 5000), "[" + strings.Repeat("'a', ", 5000) + "1]"} {
		doc, ds := Read("f", []byte(src))
		if len(ds) != maxSyntaxErrors || doc.Root != nil {
			t.Errorf("%.10q: %d diagnostics, root %v", src, len(ds), doc.Root != nil)
		}
	}
	if doc, ds := Read("f", []byte("["+strings.Repeat("1, ", 5000)+"1]")); len(ds) != 0 || len(doc.Root.Items) != 5001 {
		t.Error("a good document ends early")
	}
	doc, ds := Read("f", []byte(strings.Repeat("- 010\n", 5000)+"- .inf\n- 1\n"))
	if errors, warnings := ds.Counts(); errors != 1 || warnings != maxSyntaxErrors || len(doc.Root.Items) != 5002 {
		t.Errorf("%d errors, %d warnings", errors, warnings)
	}
}

// TestSeparatorsEndNoLine: the library ended lines at them, so that what follows one in a
// comment was read, and text changed.
func TestSeparatorsEndNoLine(t *testing.T) {
	for _, sep := range []string{"\u0085", "\u2028", "\u2029"} {
		for src, want := range map[string]string{
			"v: a # b" + sep + "w: 1\n":                              `{"v":"a"}`,
			"# b" + sep + "w: 1\nv: a\n":                             `{"v":"a"}`,
			"v: a" + sep + "b\n":                                     `{"v":"a` + sep + `b"}`,
			"v: a " + sep + " b\n":                                   `{"v":"a ` + sep + ` b"}`,
			"v: 'a " + sep + sep + " b'\n":                           `{"v":"a ` + sep + sep + ` b"}`,
			"v: \"a" + sep + "\"\n":                                  `{"v":"a` + sep + `"}`,
			"v: |\n  a" + sep + "  b\n  c\n":                         `{"v":"a` + sep + `  b\nc\n"}`,
			"v: >\n  a" + sep + "b\n  c\n":                           `{"v":"a` + sep + `b c\n"}`,
			"v" + sep + "w: \"\ue000\\ue001\\U0000E002" + sep + "\"": `{"v` + sep + `w":"` + "\ue000\ue001\ue002" + sep + `"}`,
		} {
			doc := mustRead(t, "f", src)
			if got := doc.Root.Value().String(); got != want {
				t.Errorf("%+q is %+q, want %+q", src, got, want)
			}
		}
		_, found := Read("f", []byte("\ufeff# a"+sep+"b\nv: a"+sep+" b: c\n"))
		if len(found) != 1 || found[0].Line != 2 || found[0].Column != 8 {
			t.Errorf("%+q: %v", sep, found)
		}
	}
	doc := mustRead(t, "f", "a: \"x\u2028\u0085 {{ \"\n")
	if at := doc.Root.Get("a").ColumnIn(len("x\u2028\u0085 ")); at.Line != 1 || at.Column != 9 {
		t.Errorf("it stands at %v", at)
	}

	var all strings.Builder // no character is left to stand in for one
	for c := firstPrivate; c <= lastPrivate; c++ {
		all.WriteRune(c)
	}
	_, found := Read("f", []byte("\ufeffa: 1\nb: x\u2028"+all.String()))
	if len(found) != 1 || found[0].Code != CodeEncoding || found[0].Line != 2 || found[0].Column != 5 || !strings.Contains(found[0].Hint, `\u2028`) {
		t.Errorf("%v", found)
	}
}
