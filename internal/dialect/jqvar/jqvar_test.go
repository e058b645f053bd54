package jqvar

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
)

func TestFind(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{".", ""},
		{"$a", "a@0"},
		{"$a.b.c", "a.b@0"},
		{`$a["b"], $a."c", $a.bc`, "a.b@0 a.c@9 a.bc@17"},
		{`$a["b"], $a[0]`, "a.b@0 a@9"},
		{"$a | .b", "a.b@0"},
		{"$a | .b, .c", "a.b@0 a.c@0"},
		{"$a | keys", "a@0"},
		{"{$a, b: $c}", "a@1 c@8"},
		{`"$no \($a.x) # \("y\($b)") $no" + $c # $no`, "a.x@7 b@21 c@34"},
		{". as $x | $x + $y", "y@15"},
		{"if $a then $b elif $c then $d else $e end", "a@3 b@11 c@19 d@27 e@35"},
		{"map(select(.id == $item.id))[0]", "item.id@18"},
	} {
		found, err := Find(c.src)
		if err != nil {
			t.Errorf("%s: %v", c.src, err)
			continue
		}
		var got []string
		for _, v := range found {
			name := v.Name
			if v.Member != "" {
				name += "." + v.Member
			}
			got = append(got, fmt.Sprintf("%s@%d", name, v.Offset))
			if !strings.HasPrefix(c.src[v.Offset:], "$"+v.Name) {
				t.Errorf("%s: no $%s at %d", c.src, v.Name, v.Offset)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %v", c.src, got, c.want)
		}
	}
}

func TestFindErrors(t *testing.T) {
	for _, c := range []struct {
		src    string
		offset int
	}{
		{"", 0},
		{"  ", 0},
		{".a +", 4},
		{".a ) .b", 3},
		{".a | nosuch", 5},
		{".nosuch | nosuch(1)", 10},
		{`import "a" as a; .`, 0},
		{strings.Repeat(".a|", 32<<10) + ".", 0},
		{"$ENV.PATH", 0},
	} {
		_, err := Find(c.src)
		var syntax *expr.SyntaxError
		if !errors.As(err, &syntax) {
			t.Errorf("%.40q: %v", c.src, err)
		} else if syntax.Offset != c.offset {
			t.Errorf("%.40q: at %d, want %d (%v)", c.src, syntax.Offset, c.offset, err)
		}
	}
}
