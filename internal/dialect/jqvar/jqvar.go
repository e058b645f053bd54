// Package jqvar finds the variables that expressions in jq use, with their places, for the front-ends
// whose language is jq.
package jqvar

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/expr/jq"
)

// Use is a use of a variable that an expression does not bind itself.
type Use struct {
	Name   string // without $
	Member string // "a" in $name.a and $name["a"]; "" where more of it may be used
	Offset int    // of the $ in the source
}

// Find returns the uses of variables in an expression in the order written. A
// *expr.SyntaxError says where the expression does not compile, variables aside.
func Find(src string) ([]Use, error) {
	if strings.TrimSpace(src) == "" {
		return nil, &expr.SyntaxError{Msg: "there is no expression", Hint: `"." is the data itself`}
	}
	in, err := jq.Inspect(src)
	if err != nil {
		return nil, hinted(src, err)
	}
	var out []Use
	for _, u := range in.Uses {
		for _, at := range u.Offsets {
			for _, member := range members(u, src[at+1+len(u.Name):]) {
				out = append(out, Use{u.Name, member, at})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Use) int { return cmp.Compare(a.Offset, b.Offset) })
	return out, nil
}

// members are those that are selected of a variable where rest follows it: the one that stands
// there, else all that the expression selects of it somewhere.
func members(u jq.Use, rest string) []string {
	for _, m := range u.Members {
		after, plain := strings.CutPrefix(rest, "."+m)
		if plain && (after == "" || !isWord(after[0])) || strings.HasPrefix(rest, `["`+m+`"]`) || strings.HasPrefix(rest, `."`+m+`"`) {
			return []string{m}
		}
	}
	if u.Whole || len(u.Members) == 0 {
		return []string{""}
	}
	return u.Members
}

// hinted says which function may have been meant where an expression calls one that does not exist.
func hinted(src string, err error) error {
	var at *expr.SyntaxError
	if !errors.As(err, &at) || at.Hint != "" || !strings.HasPrefix(at.Msg, "there is no function") {
		return err
	}
	name := src[at.Offset:]
	if end := strings.IndexFunc(name, func(r rune) bool { return r > 127 || !isWord(byte(r)) }); end >= 0 {
		name = name[:end]
	}
	if near := dialect.Suggest(name, jq.Functions()); near != "" {
		at.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	return at
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// IsName reports whether a variable can have the name, which is without $.
func IsName(name string) bool {
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		return false
	}
	return strings.IndexFunc(name, func(r rune) bool { return r > 127 || !isWord(byte(r)) }) < 0
}
