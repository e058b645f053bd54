package redact

import (
	"fmt"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
)

// TestSets: a set is the same one until a secret of it changes, and has no other secrets.
func TestSets(t *testing.T) {
	all := map[string]expr.Value{"a": expr.String("first value"), "b": expr.String("second value")}
	find := func(name string) (expr.Value, bool) { v, ok := all[name]; return v, ok }
	s := NewSets(find)
	a, both := s.For([]string{"a", "none"}), s.For([]string{"a", "b"})
	if a.Values.String() != `{"a":"first value"}` || a.Text("first value, second value") != "‹secret a›, second value" {
		t.Errorf("%s, %s", a.Values, a.Text("first value, second value"))
	}
	if s.For([]string{"a", "none"}) != a || s.For([]string{"a", "b"}) != both || a == both {
		t.Error("a set is made twice")
	}
	if !s.Holds(expr.String("the second value")) || s.Holds(expr.String("the third value")) {
		t.Error("what holds a secret is not known")
	}
	all["b"] = expr.String("third value")
	if s.For([]string{"a", "none"}) != a || s.For([]string{"a", "b"}) == both || !s.Holds(expr.String("the third value")) {
		t.Error("a change is not seen, or seen where there is none")
	}
	for i := range 3 * maxSets {
		s.For([]string{fmt.Sprint(i)})
	}
	if len(s.made) > maxSets {
		t.Errorf("%d sets are kept", len(s.made))
	}
	plain := PlainSets(find).For([]string{"a"})
	if plain.Text("first value") != "first value" || plain.Values.String() != `{"a":"first value"}` {
		t.Error("a plain set redacts")
	}
}
