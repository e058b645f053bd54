package trace

import (
	"fmt"
	"strings"
	"testing"
)

func TestParseState(t *testing.T) {
	long := strings.Repeat("x", 200)
	var many []string
	for i := range 33 {
		many = append(many, fmt.Sprintf("k%d=v", i))
	}
	wide := "a=" + long + ",b=1,c=" + long + ",d=" + long + ",e=2"
	for header, want := range map[string]string{
		"":                          "",
		"a=1":                       "a=1",
		" a=1 ,,\tb=two words , ":   "a=1,b=two words",
		"t@v=1,0_-*/=~!":            "t@v=1,0_-*/=~!",
		"a=1,a=2":                   "",
		"A=1":                       "",
		"a":                         "",
		"a=":                        "",
		"a=b=c":                     "",
		"a=b\nc":                    "",
		"a=é":                       "",
		"_a=1":                      "",
		"a@b@c=1":                   "",
		"a=" + long + long:          "",
		strings.Join(many, ","):     "",
		strings.Join(many[1:], ","): strings.Join(many[1:], ","),
		wide:                        "a=" + long + ",b=1,c=" + long + ",e=2",
		strings.Repeat("y", 130) + "=1," + strings.Join(wideMembers(9, 60), ","): strings.Join(wideMembers(8, 60), ","),
	} {
		if got := ParseState(header); got != want {
			t.Errorf("%q: %q, want %q", header, got, want)
		}
	}
}

// wideMembers are members of a length of their own.
func wideMembers(n, length int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf("m%d=%s", i, strings.Repeat("z", length-3)))
	}
	return out
}

func FuzzParseState(f *testing.F) {
	f.Add("a=1,b=2")
	f.Fuzz(func(t *testing.T, header string) {
		got := ParseState(header)
		if len(got) > maxStateLength || ParseState(got) != got {
			t.Errorf("%q is %q, and that %q", header, got, ParseState(got))
		}
		c, _ := Parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
		c.State = got
		if again, ok := ParseText(c.Text()); !ok || again != c {
			t.Errorf("%+v is read as %+v", c, again)
		}
	})
}
