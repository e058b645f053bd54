package graph

import (
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/ir"
)

func TestCatchesAreNamed(t *testing.T) {
	for want, c := range map[string]ir.Catch{
		"E":               {Error: "E"},
		"*":               {Any: true},
		"A, 404, timeout": {When: []ir.Match{{Error: "A", Code: "1"}, {Code: "404"}, {Type: "https://example.com/errors/timeout", Status: "408"}}},
	} {
		if got := catchName(c); got != want {
			t.Errorf("%+v is %q, want %q", c, got, want)
		}
	}
	if got := catchName(ir.Catch{When: []ir.Match{{Error: "A"}, {}}}); got != "*" {
		t.Errorf("one that takes every error is %q", got)
	}
}
