package jq

import (
	"fmt"
	"strings"
	"testing"
)

func TestReads(t *testing.T) {
	for src, want := range map[string]string{
		".":                             "",
		".a":                            "a",
		".a.b.c":                        "a.b.c",
		".a[0].b":                       "a",
		".a[].b":                        "a",
		".[0]":                          "",
		`."a b"`:                        "",
		"{t: .a, u: {v: .b}, c, d: $x}": "a b c",
		`{"k": .a, (.b): 1, $y}`:        "a",
		"[.a, .b.c]":                    "a b.c",
		`"x \(.a) \(.a)"`:               "a",
		"(.a + .b) * -.c":               "a b c",
		".a | .b":                       "a",
		"$input + {r: .id}":             "id",
		".a?":                           "",
		".a.b?":                         "",
		".a // .b":                      "",
		"if .a then .b else .c end":     "",
		".a as $x | .b":                 "",
		"map(.a)":                       "",
		"def f: .a; f":                  "",
		"{a: ":                          "",
		"":                              "",
	} {
		var got []string
		for _, path := range Reads(src) {
			got = append(got, strings.Join(path, "."))
		}
		if fmt.Sprint(got) != "["+want+"]" {
			t.Errorf("%s reads %v, want %s", src, got, want)
		}
	}
	if got := Reads(strings.Repeat("(", 5000) + ".a" + strings.Repeat(")", 5000)); got != nil {
		t.Errorf("nested deeply: %v", got)
	}
}
