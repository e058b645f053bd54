package jsonschema

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
)

func parse(t testing.TB, text string) expr.Value {
	t.Helper()
	v, err := expr.ParseJSON([]byte(text))
	if err != nil {
		t.Fatalf("parse %s: %v", text, err)
	}
	return v
}

func compile(t testing.TB, schema string) expr.Program {
	t.Helper()
	p, err := Compiler{}.Compile(schema)
	if err != nil {
		t.Fatalf("%s: %v", schema, err)
	}
	return p
}

// check returns the violations, one a line.
func check(t testing.TB, p expr.Program, data expr.Value) string {
	t.Helper()
	b := expr.NewBudget()
	r, err := p.Eval(data, &b)
	if err != nil {
		t.Fatal(err)
	}
	if r.Missing || r.List || !r.Value.IsArray() || b.Steps == expr.MaxSteps {
		t.Fatalf("result %+v after %d steps", r, expr.MaxSteps-b.Steps)
	}
	var lines []string
	for _, v := range r.Value.Items() {
		pointer, _ := v.Get("pointer")
		message, _ := v.Get("message")
		if v.Len() != 2 || message.Str() == "" {
			t.Fatalf("the violation %s", v)
		}
		lines = append(lines, pointer.Str()+" "+message.Str())
	}
	return strings.Join(lines, "\n")
}

// TestMessages has one case for every keyword, and none for what is valid.
func TestMessages(t *testing.T) {
	for _, c := range []struct{ schema, data, want string }{
		{`true`, `1`, ``},
		{`{}`, `{"a":[null]}`, ``},
		{`false`, `1`, ` is not allowed here`},
		{`{"type":"object"}`, `[]`, ` must be an object, not an array`},
		{`{"type":["string","null","integer"]}`, `1.5`, ` must be null, an integer or a string, not a number`},
		{`{"type":"integer"}`, `2.0`, ``},
		{`{"required":["b","a"]}`, `{}`, ` misses the properties "a", "b"`},
		{`{"required":["a"]}`, `{}`, ` misses the property "a"`},
		{`{"properties":{"a":{"type":"string"}}}`, `{"a":1}`, `/a must be a string, not a number`},
		{`{"properties":{"a":false}}`, `{"a":1}`, `/a is not allowed here`},
		{`{"properties":{"a/b~c":{"type":"string"}}}`, `{"a/b~c":1}`, `/a~1b~0c must be a string, not a number`},
		{`{"additionalProperties":false,"properties":{"a":true}}`, `{"c":1,"a":2,"b":3}`, ` does not allow the properties "b", "c"`},
		{`{"unevaluatedProperties":false}`, `{"c":1}`, `/c is not allowed here`},
		{`{"propertyNames":{"pattern":"^[a-z]+$"}}`, `{"B":1,"a":2,"A":3}`, " the name \"A\" is not allowed: must match the pattern ^[a-z]+$\n the name \"B\" is not allowed: must match the pattern ^[a-z]+$"},
		{`{"minProperties":1}`, `{}`, ` must have at least 1 property, has 0`},
		{`{"maxProperties":1}`, `{"a":1,"b":2}`, ` must have at most 1 property, has 2`},
		{`{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, ` misses the property "b", because "a" is given`},
		{`{"items":{"type":"integer"}}`, `[1,"x",2,"y",0,0,0,0,0,0,"z"]`, "/1 must be an integer, not a string\n/3 must be an integer, not a string\n/10 must be an integer, not a string"},
		{`{"prefixItems":[true],"items":false}`, `[1,2]`, `/1 is not allowed here`},
		{`{"minItems":2}`, `[1]`, ` must have at least 2 items, has 1`},
		{`{"maxItems":0}`, `[1]`, ` must have at most 0 items, has 1`},
		{`{"uniqueItems":true}`, `[1,2,1.0]`, ` must not repeat items; 0 and 2 are equal`},
		{`{"contains":{"type":"string"}}`, `[1]`, ` has no item of the kind it must contain`},
		{`{"contains":{"type":"string"},"minContains":2}`, `["a"]`, ` must contain at least 2 items of a kind, has 1`},
		{`{"contains":{"type":"string"},"maxContains":1}`, `["a","b"]`, ` must contain at most 1 item of a kind, has 2`},
		{`{"minLength":2}`, `"é"`, ` must have at least 2 characters, has 1`},
		{`{"maxLength":1}`, `"éé"`, ` must have at most 1 character, has 2`},
		{`{"pattern":"^(?!admin)"}`, `"admin"`, ` must match the pattern ^(?!admin)`},
		{`{"pattern":"b"}`, `"abc"`, ``},
		{`{"minimum":10}`, `9.5`, ` must be at least 10`},
		{`{"maximum":1.5}`, `2`, ` must be at most 1.5`},
		{`{"exclusiveMinimum":1}`, `1`, ` must be greater than 1`},
		{`{"exclusiveMaximum":12345678901234567890}`, `12345678901234567890`, ` must be less than 12345678901234567890`},
		{`{"maximum":12345678901234567890}`, `12345678901234567891`, ` must be at most 12345678901234567890`},
		{`{"multipleOf":0.1}`, `0.3`, ``},
		{`{"multipleOf":2}`, `3`, ` must be a multiple of 2`},
		{`{"enum":["a",1,null,{"b":[1]}]}`, `"b"`, ` must be "a", 1, null or {"b":[1]}`},
		{`{"enum":["a",1,null,{"b":[1]}]}`, `{"b":[1.0]}`, ``},
		{`{"enum":[1]}`, `"1"`, ` must be 1`},
		{`{"enum":[1,2,3,4,5,6,7,8,9,10,11,12]}`, `0`, ` must be one of 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 2 more`},
		{`{"const":null}`, `false`, ` must be null`},
		{`{"const":1.0}`, `1`, ``},
		{`{"not":{"type":"string"}}`, `"x"`, ` is what the schema excludes (not)`},
		{`{"not":{"enum":["x"]}}`, `"x"`, ` is what the schema excludes (not)`},
		{`{"not":{"enum":["x"]}}`, `"y"`, ``},
		{`{"anyOf":[{"type":"string"},{"type":"integer"}]}`, `null`, ` fits none of the alternatives (must be a string, not null; or must be an integer, not null)`},
		{`{"anyOf":[{"required":["a"]},{"properties":{"b":{"const":1}},"required":["b"]}]}`, `{"b":2}`, ` fits none of the alternatives (misses the property "a"; or at /b must be 1)`},
		{`{"oneOf":[{"type":"integer"},{"minimum":2}]}`, `3`, ` fits more than one of the alternatives (numbers 1 and 2)`},
		{`{"oneOf":[{"type":"integer"}]}`, `"x"`, ` must be an integer, not a string`},
		{`{"if":{"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]}}`, `{"a":1}`, ` misses the property "b"`},
		{`{"allOf":[{"required":["a"]},{"required":["b"]}]}`, `{}`, " misses the property \"a\"\n misses the property \"b\""},
		{`{"$defs":{"p":{"type":"string"}},"properties":{"a":{"$ref":"#/$defs/p"},"b":{"$ref":"#/$defs/p"}}}`, `{"b":1,"a":2}`, "/a must be a string, not a number\n/b must be a string, not a number"},
		{`{"$ref":"#"}`, `1`, ` the schema refers to itself without end`},
		{`{"format":"email"}`, `"x"`, ``}, // 2020-12: an annotation
		{`{"items":{"propertyNames":{"maxLength":1}}}`, `[{"aa":1},{"b":1},{"c":{"dd":1}}]`, `/0 the name "aa" is not allowed: must have at most 1 character, has 2`},
	} {
		if got := check(t, compile(t, c.schema), parse(t, c.data)); got != c.want {
			t.Errorf("%s on %s:\n got %q\nwant %q", c.schema, c.data, got, c.want)
		}
	}
}

func TestDrafts(t *testing.T) {
	for _, c := range []struct{ schema, data, want string }{
		{`{"$schema":"http://json-schema.org/draft-04/schema#","minimum":1,"exclusiveMinimum":true}`, `1`, ` must be greater than 1`},
		{`{"$schema":"http://json-schema.org/draft-06/schema#","exclusiveMinimum":1}`, `1`, ` must be greater than 1`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","format":"ipv4"}`, `"x"`, ` must be in the format ipv4: `},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"a":{"enum":["x"]}},"$ref":"#/definitions/a","type":"integer"}`, `"y"`, ` must be "x"`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","dependencies":{"a":["b"]},"items":[{"type":"string"}],"additionalItems":false}`, `{"a":1}`, ` misses the property "b", because "a" is given`},
		{`{"$schema":"http://json-schema.org/draft-07/schema","items":[{"type":"string"}],"additionalItems":false}`, `["a",1,2]`, ` has 2 items too many`},
		{`{"$schema":"https://json-schema.org/draft/2019-09/schema","items":[{"type":"string"}],"unevaluatedItems":false}`, `["a",1]`, `/1 is not allowed here`},
		{`{"$schema":"https://json-schema.org/draft/2020-12/schema","prefixItems":[{"type":"string"}]}`, `[1]`, `/0 must be a string, not a number`},
		{`{"prefixItems":[{"type":"string"}]}`, `[1]`, `/0 must be a string, not a number`},
		{`{"$dynamicAnchor":"n","properties":{"a":{"$dynamicRef":"#n"}},"required":["v"]}`, `{"v":1,"a":{}}`, `/a misses the property "v"`},
		{`{"$ref":"https://json-schema.org/draft/2020-12/schema"}`, `{"type":1}`, `/type fits none of the alternatives (`},
	} {
		got := check(t, compile(t, c.schema), parse(t, c.data))
		if got != c.want && (!strings.HasPrefix(got, c.want) || !strings.HasSuffix(c.want, "(") && !strings.HasSuffix(c.want, ": ")) {
			t.Errorf("%s on %s:\n got %q\nwant %q", c.schema, c.data, got, c.want)
		}
	}
}

// TestNothingIsLoaded: neither files nor the network, whatever the reference.
func TestNothingIsLoaded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "there.json")
	if err := os.WriteFile(file, []byte(`{"type":"string"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for ref, named := range map[string]string{
		"file://" + file:                       file,
		file:                                   file[1:],
		"other.json":                           `"other.json"`,
		"other.json#/a":                        `"other.json"`,
		"http://127.0.0.1:1/schema":            "http://127.0.0.1:1/schema",
		"https://example.com/s#/definitions/x": "https://example.com/s",
		"https://json-schema.org/draft/2020-12/nix": "https://json-schema.org/draft/2020-12/nix",
	} {
		for _, schema := range []string{
			fmt.Sprintf(`{"properties":{"a":{"$ref":%q}}}`, ref),
			fmt.Sprintf(`{"$id":"https://example.com/base/","allOf":[{"$ref":%q}]}`, ref),
		} {
			_, err := Compiler{}.Compile(schema)
			var se *expr.SyntaxError
			if !errors.As(err, &se) || !strings.Contains(se.Msg, "outside") || !strings.Contains(se.Hint, "$defs") {
				t.Errorf("%s: %v", schema, err)
				continue
			}
			if !strings.Contains(schema, "$id") && !strings.Contains(se.Msg, named) {
				t.Errorf("%s: %v does not name %s", schema, err, named)
			}
		}
	}
	if _, err := (Compiler{}).Compile(`{"$schema":"https://example.com/mine"}`); err == nil || !strings.Contains(err.Error(), "https://example.com/mine") {
		t.Errorf("an unknown $schema: %v", err)
	}
}

func TestSchemaErrors(t *testing.T) {
	for _, c := range []struct {
		schema string
		offset int
		msg    string
	}{
		{`{"type":}`, 8, "not valid JSON"},
		{`[]`, 0, "an object, true or false, not an array"},
		{`{"type":"strin"}`, 0, "wrong at /type"},
		{`{"properties":{"a":{"minimum":"x"}}}`, 0, "wrong at /properties/a/minimum: must be a number, not a string"},
		{`{"$ref":"#/$defs/x"}`, 0, "/$defs/x"},
		{`{"pattern":"(a"}`, 0, `wrong at /pattern: must be a regular expression: the group is not closed`},
		{`{"minimum":1e100000000}`, 0, "number at /minimum has too many digits"},
		{`{"a":"` + strings.Repeat("x", MaxSource) + `"}`, 0, "schema-source"},
	} {
		_, err := Compiler{}.Compile(c.schema)
		var se *expr.SyntaxError
		if !errors.As(err, &se) || se.Offset != c.offset || !strings.Contains(se.Msg, c.msg) {
			t.Errorf("%.60s: %v, want %q at %d", c.schema, err, c.msg, c.offset)
		}
	}
}

// TestOrderIsTheSameEveryTime: the library walks maps; the list must not show it.
func TestOrderIsTheSameEveryTime(t *testing.T) {
	p := compile(t, `{"additionalProperties":{"type":"string","minLength":3,"enum":["abc"]},"propertyNames":{"maxLength":1},
		"patternProperties":{"^x":{"const":1},"y$":{"const":2}},"dependentRequired":{"a":["q"],"b":["r"]}}`)
	data := parse(t, `{"a":1,"b":"x","c":{},"dd":[],"ee":"","xy":0}`)
	first := check(t, p, data)
	if strings.Count(first, "\n") < 8 {
		t.Fatalf("too little goes wrong:\n%s", first)
	}
	for range 50 {
		if again := check(t, p, data); again != first {
			t.Fatalf("first\n%s\nthen\n%s", first, again)
		}
	}
}

// TestBombs: what a schema can ask for is bounded by the budget.
func TestBombs(t *testing.T) {
	double := func(keyword string) string { // 2^40 ways through
		var b strings.Builder
		b.WriteString(`{"$ref":"#/$defs/d0","$defs":{"d40":{"type":"integer"}`)
		for i := range 40 {
			fmt.Fprintf(&b, `,"d%d":{%q:[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i, keyword, i+1, i+1)
		}
		return b.String() + "}}"
	}
	twice := `{"patternProperties":{"a":{"$ref":"#"},"^a":{"$ref":"#"}},"type":"object"}`
	deep := expr.Int(1)
	for range 40 {
		deep = expr.Object(expr.Member{Key: "a", Value: deep})
	}
	shared := expr.Int(1)
	for range 60 {
		shared = expr.Array(shared, shared)
	}
	numbers := make([]expr.Value, 3000)
	for i := range numbers {
		numbers[i] = expr.Int(int64(i))
	}
	list := expr.Array(numbers...)
	for name, c := range map[string]struct {
		schema string
		data   expr.Value
	}{
		"allOf":             {double("allOf"), expr.Int(1)},
		"anyOf that fails":  {double("anyOf"), expr.String("x")},
		"oneOf":             {double("oneOf"), expr.Int(1)},
		"not":               {`{"not":` + strings.Replace(double("anyOf"), "#/", "#/not/", -1) + `}`, expr.String("x")},
		"patterns":          {twice, deep},
		"patterns in not":   {`{"not":` + strings.ReplaceAll(twice, `"#"`, `"#/not"`) + `}`, deep},
		"draft-07":          {strings.Replace(strings.ReplaceAll(double("allOf"), "$defs", "definitions"), `"$ref":"#/definitions/d0",`, `"$schema":"http://json-schema.org/draft-07/schema#","allOf":[{"$ref":"#/definitions/d0"}],`, 1), expr.Int(1)},
		"long enum":         {`{"items":{"enum":` + list.String() + `}}`, expr.Array(append([]expr.Value{expr.String("x")}, numbers...)...)},
		"unique":            {`{"items":{"uniqueItems":true}}`, expr.Array(repeat(list, 400)...)},
		"regular, long":     {`{"items":{"pattern":"(a+)+b"}}`, expr.Array(repeat(expr.String(strings.Repeat("a", 1<<20)), 100)...)},
		"catastrophic":      {`{"pattern":"^(?=a)(a+)+b$"}`, expr.String(strings.Repeat("a", 50))},
		"catastrophic keys": {`{"patternProperties":{"^(?=a)(a+)+b$":true}}`, expr.Object(expr.Member{Key: strings.Repeat("a", 50)})},
		"shared parts":      {`{}`, shared},
	} {
		p := compile(t, c.schema)
		b := expr.Budget{Steps: expr.MaxSteps / 10, Output: expr.MaxOutput}
		r, err := p.Eval(c.data, &b)
		var limit *expr.LimitError
		if !errors.As(err, &limit) || limit.Limit != "expression-steps" {
			t.Errorf("%s: %v, %v", name, r.Value, err)
		}
		// The program is as good as before.
		b = expr.Budget{Steps: expr.MaxSteps / 10, Output: expr.MaxOutput}
		if _, again := p.Eval(c.data, &b); fmt.Sprint(again) != fmt.Sprint(err) {
			t.Errorf("%s: %v, then %v", name, err, again)
		}
	}
}

func repeat(v expr.Value, n int) []expr.Value {
	items := make([]expr.Value, n)
	for i := range items {
		items[i] = v
	}
	return items
}

// TestCostIsTheSameEveryTime, although the library's way is not.
func TestCostIsTheSameEveryTime(t *testing.T) {
	p := compile(t, `{"not":{"additionalProperties":{"type":"array","items":{"type":"string"}}}}`)
	data := parse(t, `{"a":["x","y"],"b":[1,2,3],"c":["x"],"d":[4],"e":[],"f":["x","x","x","x"]}`)
	costs := map[int]bool{}
	for range 50 {
		b := expr.NewBudget()
		if _, err := p.Eval(data, &b); err != nil {
			t.Fatal(err)
		}
		costs[expr.MaxSteps-b.Steps] = true
	}
	if len(costs) != 1 {
		t.Errorf("costs %v", costs)
	}
}

// TestHugeNumbersAreReported: the library would compute with every digit of them.
func TestHugeNumbersAreReported(t *testing.T) {
	p := compile(t, `{"items":{"type":"integer"}}`)
	if got := check(t, p, parse(t, `[1,1e1000000000,{"a":1e-99999999}]`)); got != "/1 the number has more than 1024 digits and cannot be checked\n/2/a the number has more than 1024 digits and cannot be checked" {
		t.Error(got)
	}
	if got := check(t, p, parse(t, `[1e1000]`)); got != "" {
		t.Error(got)
	}
}

// TestProgramsServeManyAtOnce, with budgets of their own.
func TestProgramsServeManyAtOnce(t *testing.T) {
	p := compile(t, `{"additionalProperties":{"type":"string"},"required":["z"]}`)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for j := range 50 {
				data := expr.Object(expr.Member{Key: fmt.Sprint("k", i), Value: expr.Int(int64(j))})
				want := " misses the property \"z\"\n" + fmt.Sprintf("/k%d must be a string, not a number", i)
				if got := check(t, p, data); got != want {
					t.Errorf("got %q, want %q", got, want)
				}
				small := expr.Budget{Steps: 1}
				if _, err := p.Eval(data, &small); err == nil {
					t.Error("one step was enough")
				}
			}
		})
	}
	wg.Wait()
}

func FuzzSchema(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"pattern":"^a"}}}`, `{"a":"b"}`)
	f.Add(`{"$schema":"http://json-schema.org/draft-04/schema#","enum":[1,"x"]}`, `1`)
	f.Add(`{"$dynamicAnchor":"n","items":{"$dynamicRef":"#n"},"uniqueItems":true}`, `[[1],[1.0]]`)
	f.Add(`{"propertyNames":{"not":{"const":"a"}},"oneOf":[{},true]}`, `{"a":1e5}`)
	f.Fuzz(func(t *testing.T, schema, text string) {
		data, err := expr.ParseJSON([]byte(text))
		if err != nil {
			return
		}
		p, err := Compiler{}.Compile(schema)
		if err != nil {
			var se *expr.SyntaxError
			if !errors.As(err, &se) || se.Msg == "" {
				t.Fatalf("%#v", err)
			}
			return
		}
		var shown [2]string
		for i := range shown {
			b := expr.Budget{Steps: 20_000, Depth: expr.MaxNested, Output: 1 << 20}
			r, err := p.Eval(data, &b)
			shown[i] = fmt.Sprint(r.Value, err)
			var limit *expr.LimitError
			if err != nil && !errors.As(err, &limit) {
				t.Fatal(err)
			}
		}
		if shown[0] != shown[1] {
			t.Fatalf("%s then %s", shown[0], shown[1])
		}
	})
}

func BenchmarkSchema(b *testing.B) {
	p := compile(b, `{"type":"object","required":["id"],"properties":{"id":{"type":"string","pattern":"^[a-z]+$"},"n":{"type":"integer","minimum":1}}}`)
	data := parse(b, `{"id":"abc","n":5}`)
	b.ReportAllocs()
	for b.Loop() {
		budget := expr.NewBudget()
		if _, err := p.Eval(data, &budget); err != nil {
			b.Fatal(err)
		}
	}
}
