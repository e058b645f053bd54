package jsonschema_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonschema"
)

func set(t *testing.T, schemas map[string]string) *jsonschema.Set {
	t.Helper()
	parts := map[string]jsonschema.Part{}
	for name, text := range schemas {
		p, err := jsonschema.NewPart(parsed(t, strings.ReplaceAll(text, "REF", jsonschema.Ref)))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		parts[name] = p
	}
	return jsonschema.NewSet(func(name string) (jsonschema.Part, bool) {
		p, ok := parts[name]
		return p, ok
	})
}

func parsed(t *testing.T, text string) expr.Value {
	t.Helper()
	v, err := expr.ParseJSON([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func TestSchemasOfASet(t *testing.T) {
	s := set(t, map[string]string{
		"tree":   `{"properties":{"left":{"REF":"tree"},"n":{"REF":"number","maximum":9}},"REF":"named"}`,
		"named":  `{"required":["name"],"properties":{"name":{"type":"string"}}}`,
		"number": `{"type":"integer"}`,
		"closed": `{"REF":"named","properties":{"b":{}},"unevaluatedProperties":false}`,
		"data":   `{"const":{"REF":"named"}}`,
	})
	for _, c := range []struct{ name, value, want string }{
		{"tree", `{"name":"a","n":1,"left":{"name":"b"}}`, `[]`},
		{"tree", `{"name":"a","left":{"name":"b","left":{"n":"x"}}}`, `[{"message":"misses the property \"name\"","pointer":"/left/left"},{"message":"must be an integer, not a string","pointer":"/left/left/n"}]`},
		{"tree", `{"name":"a","n":10}`, `[{"message":"must be at most 9","pointer":"/n"}]`},
		{"number", `"x"`, `[{"message":"must be an integer, not a string","pointer":""}]`},
		{"closed", `{"name":"a","b":1}`, `[]`},
		{"data", strings.ReplaceAll(`{"REF":"named"}`, "REF", jsonschema.Ref), `[]`},
	} {
		budget := expr.NewBudget()
		got, err := s.Program(c.name).Eval(parsed(t, c.value), &budget)
		if err != nil || got.Value.String() != c.want {
			t.Errorf("%s %s: %s %v, want %s", c.name, c.value, got.Value, err, c.want)
		}
	}
	budget := expr.NewBudget()
	if got, err := s.Program("closed").Eval(parsed(t, `{"name":"a","c":1}`), &budget); err != nil || got.Value.Len() != 1 {
		t.Errorf("%s %v", got.Value, err)
	}
	for _, bad := range []string{`{"type":"nothing"}`, `{"pattern":"("}`, `{"minimum":1e99999}`, `5`} {
		if _, err := jsonschema.NewPart(parsed(t, bad)); err == nil {
			t.Errorf("%s is a part", bad)
		}
	}
}

// TestSetUsesManyCheckers at a time, each within its budget.
func TestSetUsesManyCheckers(t *testing.T) {
	s := set(t, map[string]string{
		"a": `{"properties":{"x":{"REF":"b"},"y":{"REF":"b"}}}`,
		"b": `{"properties":{"x":{"REF":"a"},"y":{"REF":"a"}}}`,
	})
	deep := `{}`
	for range 10 {
		deep = `{"x":` + deep + `,"y":` + deep + `}`
	}
	v := parsed(t, deep)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			budget := expr.NewBudget()
			if _, err := s.Program("a").Eval(v, &budget); err != nil {
				t.Error(err)
			}
			small := expr.Budget{Steps: 2500}
			var limit *expr.LimitError
			if _, err := s.Program("a").Eval(v, &small); !errors.As(err, &limit) {
				t.Errorf("a small budget: %v", err)
			}
		})
	}
	wg.Wait()
}
