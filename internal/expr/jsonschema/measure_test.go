package jsonschema

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
)

// schemaOf writes a schema of n parts of a kind.
func schemaOf(kind string, n int) string {
	list := func(format string) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = strings.ReplaceAll(format, "N", fmt.Sprint(i))
		}
		return strings.Join(parts, ",")
	}
	switch kind {
	case "empty":
		return `{"properties":{` + list(`"pN":{}`) + `}}`
	case "typed":
		return `{"properties":{` + list(`"pN":{"type":["string","number"],"minLength":N,"maximum":N.5,"description":"what N is about"}`) + `}}`
	case "nested":
		return `{"properties":{` + list(`"pN":{"items":{"properties":{"a":{"enum":[N,"b",null,{"c":[true]}]}},"required":["a","b"]}}`) + `}}`
	case "references":
		return `{"$defs":{` + list(`"dN":{"type":"string"}`) + `},"properties":{` + list(`"pN":{"$ref":"#/$defs/dN"}`) + `}}`
	case "patterns":
		return `{"properties":{` + list(`"pN":{"pattern":"^[a-z]{0,N}$"}`) + `}}`
	case "patternProperties":
		return `{"patternProperties":{` + list(`"^xN":{"type":"string"}`) + `}}`
	case "combined":
		return `{"allOf":[` + list(`{"if":{"required":["aN"]},"then":{"dependentRequired":{"aN":["b"]}},"else":false}`) + `]}`
	case "elsewhere":
		return `{"x":{` + list(`"dN":{"type":"string"}`) + `},"properties":{` + list(`"pN":{"$ref":"#/x/dN"}`) + `}}`
	case "identified":
		return `{"$defs":{` + list(`"dN":{"$id":"iN"}`) + `}}`
	}
	panic(kind)
}

// TestWeightIsTheMemory: a checker takes no more than the schema says, and not much less.
func TestWeightIsTheMemory(t *testing.T) {
	for _, kind := range []string{"empty", "typed", "nested", "references", "patterns", "patternProperties", "combined"} {
		src := schemaOf(kind, 400)
		doc, own, err := read(src)
		if err != nil {
			t.Fatal(err)
		}
		kept := make([]*checker, 8)
		kept[0], _ = newChecker(doc) // the library's own schemas are read once
		before := heap()
		for i := range kept {
			doc, _, err := read(src)
			if err != nil {
				t.Fatal(err)
			}
			if kept[i], err = newChecker(doc); err != nil {
				t.Fatal(err)
			}
		}
		each := (heap() - before) / len(kept)
		runtime.KeepAlive(kept)
		if each > own || own > 6*each {
			t.Errorf("%s: a checker takes %d bytes and says %d", kind, each, own)
		}
	}
}

func heap() int {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// TestWeightHasPatterns: the programs of patterns, which are compiled when a text meets them,
// count as well.
func TestWeightHasPatterns(t *testing.T) {
	plain, err := Compiler{}.Compile(`{"properties":{"a":{"pattern":"x"}}}`)
	if err != nil {
		t.Fatal(err)
	}
	for _, src := range []string{`{"properties":{"a":{"pattern":"[a-z]{1,1000}"}}}`, `{"patternProperties":{"[a-z]{1,1000}":true}}`, `{"propertyNames":{"pattern":"[a-z]{1,1000}"}}`} {
		large, err := Compiler{}.Compile(src)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := plain.(expr.Weighed).Weight(), large.(expr.Weighed).Weight(); b < a+80_000 {
			t.Errorf("%s: weight %d, and %d with a large pattern", src, a, b)
		}
	}
}

// TestQuadraticSchemas: what the library would need the square of the time for is refused.
func TestQuadraticSchemas(t *testing.T) {
	for kind, limit := range map[string]string{
		"empty": "schema-parts", "references": "schema-parts", "elsewhere": "schema-references", "identified": "schema-references",
	} {
		n := map[string]int{"schema-parts": 5000, "schema-references": 300}[limit]
		_, err := Compiler{}.Compile(schemaOf(kind, n))
		if syntax := (*expr.SyntaxError)(nil); !errors.As(err, &syntax) || !strings.Contains(syntax.Msg, "limit "+limit) || syntax.Hint == "" {
			t.Errorf("%d of %s: %v", n, kind, err)
		}
		if _, err := (Compiler{}).Compile(schemaOf(kind, 100)); err != nil {
			t.Errorf("100 of %s: %v", kind, err)
		}
	}
	if _, err := (Compiler{}).Compile(schemaOf("references", 1000)); err != nil { // to usual places
		t.Error(err)
	}
}

func TestUsualReferences(t *testing.T) {
	for ref, want := range map[string]bool{
		"#": true, "#/$defs/a": true, "#/definitions/a/properties/b": true, "#/items": true, "#/items/3": true, "#/prefixItems/0/not": true, "#/allOf/1": true,
		"#/x/a": false, "#/$defs": false, "#/properties": false, "other#/$defs/a": false, "#anchor": false, "#/$defs/a/x": false,
	} {
		if usual(ref, false) != want {
			t.Errorf("usual(%q) is not %t", ref, want)
		}
	}
	if usual("#/$defs/a", true) || !usual("#/definitions/a", true) {
		t.Error("draft 7 knows definitions, and not $defs")
	}
}

// TestManyViolations: what is wrong in more places than anybody reads is refused, and telling
// what is wrong is work that counts.
func TestManyViolations(t *testing.T) {
	p, err := Compiler{}.Compile(`{"items":{"anyOf":[{"type":"string"},{"type":"object"}]}}`)
	if err != nil {
		t.Fatal(err)
	}
	check := func(n int, item string) (spent int, err error) {
		data, err := expr.ParseJSON([]byte("[" + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + "]"))
		if err != nil {
			t.Fatal(err)
		}
		b := expr.NewBudget()
		_, err = p.Eval(data, &b)
		return b.Spent(expr.MaxSteps), err
	}
	limit := (*expr.LimitError)(nil)
	if _, err := check(maxViolations/2+1, "1"); !errors.As(err, &limit) || limit.Limit != "schema-violations" { // two for each
		t.Errorf("more than %d: %v", maxViolations, err)
	}
	if _, err := check(maxViolations/5, "1"); err != nil {
		t.Errorf("fewer than %d: %v", maxViolations, err)
	}
	right, err := check(1000, `"a"`)
	if err != nil {
		t.Fatal(err)
	}
	if wrong, err := check(1000, "1"); err != nil || wrong < right+1000*violationSteps {
		t.Errorf("1,000 values that are wrong cost %d steps, and %d that are right: %v", wrong, right, err)
	}
}
