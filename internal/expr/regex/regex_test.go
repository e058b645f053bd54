package regex

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstep-workflows/lockstep/expr"
)

func compileOrFail(t testing.TB, src, flags string) *Pattern {
	t.Helper()
	f, bad := ParseFlags(flags)
	if bad >= 0 {
		t.Fatalf("flag %q", flags[bad])
	}
	p, err := Compile(src, f)
	if err != nil {
		t.Fatalf("/%s/: %v", src, err)
	}
	return p
}

func match(t testing.TB, p *Pattern, text string) bool {
	t.Helper()
	b := expr.NewBudget()
	ok, err := p.Match(text, &b)
	if err != nil {
		t.Fatal(err)
	}
	if b.Steps == expr.MaxSteps {
		t.Fatal("matching was free")
	}
	return ok
}

// TestJavaSemantics holds what java.util.regex's Matcher.matches answers. A
// pattern marked with ! must take the backtracking matcher, others the linear one.
func TestJavaSemantics(t *testing.T) {
	for _, c := range []struct {
		src, flags string
		yes, no    []string
	}{
		// the whole text
		{"a", "", []string{"a"}, []string{"", "aa", "ba", "ab", "A"}},
		{"", "", []string{""}, []string{"a"}},
		{"a|ab", "", []string{"a", "ab"}, []string{"abb"}},
		{"^a$", "", []string{"a"}, []string{"a\n", "\na"}},
		{".*frontend.*", "i", []string{"a/FrontEnd/b"}, []string{"back"}},

		// characters and classes
		{"a.c", "", []string{"abc", "aéc", "a😀c"}, []string{"ac", "a\nc", "a\rc", "a\u2028c", "a\u0085c"}},
		{"a.c", "s", []string{"a\nc"}, nil},
		{"a.c", "d", []string{"a\rc"}, []string{"a\nc"}},
		{`[a-c]+`, "", []string{"abc"}, []string{"abd", ""}},
		{`[^a-c]+`, "", []string{"xyz", "é"}, []string{"xa"}},
		{`[a-z&&[^aeiou]]+`, "", []string{"xyz"}, []string{"xya", "&"}},
		{`[a-f&&[d-z]&&[^e]]+`, "", []string{"df"}, []string{"e", "a", "z"}},
		{`[a[xy]]+`, "", []string{"axy"}, []string{"[", "b"}},
		{`[^a[b]]`, "", []string{"c"}, []string{"a", "b"}},
		{`[]a]+`, "", []string{"]a"}, []string{"b"}},
		{`[a-]+`, "", []string{"a-"}, []string{"b"}},
		{`[\]\-\\^]+`, "", []string{`]-\^`}, []string{"a"}},
		{`[\d\s]+`, "", []string{"1 2"}, []string{"a"}},
		{`\d\D\w\W\s\S`, "", []string{"1aa- a"}, []string{"aaa- a"}},
		{`\d`, "", []string{"5"}, []string{"٣"}}, // ASCII
		{`\d\w`, "U", []string{"٣é"}, nil},       // Unicode
		{`\s`, "", []string{"\v"}, []string{"\u00a0"}},
		{`\h\v\R`, "", []string{"\u00a0\n\r\n", "\t\u2028\n"}, nil},
		{`\p{L}\p{Lu}\p{IsGreek}\pN\P{L}`, "", []string{"éÉλ5-"}, []string{"5Éλ5-"}},
		{`\p{Alpha}\p{Punct}\p{XDigit}`, "", []string{"a!F"}, []string{"é!F"}},
		{`\t\n\r\f\a\e\x41\u0042\x{1f600}\0101\cA`, "", []string{"\t\n\r\f\a\x1bAB😀A\x01"}, nil},
		{`\ud83d\ude00`, "", []string{"😀"}, nil},
		{`\Qa.b*\E+`, "", []string{"a.b*", "a.b**"}, []string{"axb*"}},
		{`\/\.\-\_\"`, "", []string{`/.-_"`}, nil},

		// case
		{"straße", "i", []string{"STRAßE"}, []string{"STRASSE"}},
		{"é", "i", []string{"é"}, []string{"É"}}, // i alone is ASCII
		{"é", "iu", []string{"é", "É"}, nil},
		{"[a-z]", "i", []string{"Q"}, []string{"\u212a"}},
		{"k", "iu", []string{"K", "\u212a"}, nil},
		{"[^a]", "i", []string{"b"}, []string{"A", "a"}},
		{"(?i)a(?-i)b", "", []string{"Ab"}, []string{"AB"}},
		{"(?i:a)b", "", []string{"Ab"}, []string{"AB"}},
		{"(?:(?i)a)b", "", []string{"Ab"}, []string{"AB"}},
		{"a(?i)b|c", "", []string{"aB", "C"}, []string{"AB"}},

		// repetition
		{"a*b+c?", "", []string{"b", "aabbc"}, []string{"", "ac"}},
		{"a{2}b{1,}c{0,2}", "", []string{"aab", "aabbcc"}, []string{"ab", "aabccc"}},
		{"(ab){2,3}", "", []string{"abab", "ababab"}, []string{"ab", "abababab"}},
		{"a{0}", "", []string{""}, []string{"a"}},
		{"a*?b??", "", []string{"", "aab"}, nil},
		{"(a*)*", "", []string{"", "aaa"}, []string{"b"}},
		{"(a|b*)*c", "", []string{"abbac", "c"}, []string{"ab"}},
		{"(?:a?){3}", "", []string{"", "aaa"}, []string{"aaaa"}},
		{"!a{1001}", "", []string{strings.Repeat("a", 1001)}, []string{strings.Repeat("a", 1000)}},

		// comments
		{" a b # c\n d ", "x", []string{"abd"}, []string{"a b"}},
		{"a\\ b [ c ]", "x", []string{"a bc"}, nil},

		// places
		{`\bab\b`, "", []string{"ab"}, nil},
		{`.*\bfoo\b.*`, "", []string{"a foo b", "foo"}, []string{"afoo"}},
		{`\Aa\z`, "", []string{"a"}, nil},
		{`a\Z`, "", []string{"a"}, []string{"a\n"}},
		{"!a$\n", "", []string{"a\n"}, []string{"a"}},
		{"!a$(\\r\\n)?", "", []string{"a", "a\r\n"}, []string{"a\n\n"}},
		{"!a$.*", "s", []string{"a", "a\n"}, []string{"a\nb"}},
		{"!^a$\n^b$", "m", []string{"a\nb"}, nil},
		{"!a$.^b", "ms", []string{"a\nb", "a\rb"}, []string{"axb"}},
		{"!a$\r^\nb", "m", nil, []string{"a\r\nb"}},
		{"!a$.^b", "msd", []string{"a\nb"}, []string{"a\rb"}},
		{"!é\\bx", "U", nil, []string{"éx"}},

		// look-around
		{"!^(?!.*frontend).*$", "i", []string{"a/backend", ""}, []string{"FRONTEND"}},
		{"!(?=.*\\d)(?=.*[a-z]).{3,}", "", []string{"a1x"}, []string{"abc", "123", "a1"}},
		{"!foo(?=bar)bar", "", []string{"foobar"}, []string{"foobaz"}},
		{"!.*(?<=foo)bar", "", []string{"foobar"}, []string{"fobar"}},
		{"!.*(?<!foo)bar", "", []string{"fobar", "bar"}, []string{"foobar"}},
		{"!.*(?<=é{1,2})b", "", []string{"éb", "éééb"}, []string{"eb"}},
		{"!(?=(a+))a\\1b", "", nil, []string{"aab"}}, // a look is not tried again: \1 is "aa"
		{"!(?=(a+))\\1b", "", []string{"aab"}, nil},
		{"!(?!(a)b)a?.*\\1?", "", []string{"ac"}, []string{"ab"}},
		{"!(?=.*)(a*)*", "", []string{"", "aaa"}, []string{"b"}}, // an empty turn ends a loop
		{"!(?!x)(a*|b)*?c", "", []string{"c", "abac"}, []string{"ab"}},
		{"!(?=(?!x).)y", "", []string{"y"}, []string{"x"}},
		{"!(?<=^|,)[^,]*", "", []string{"abc"}, nil},

		// atomic and possessive
		{"!(?>a+)ab", "", nil, []string{"aaab"}},
		{"!(?>a+)b", "", []string{"aaab"}, nil},
		{"!a++ab", "", nil, []string{"aaab"}},
		{"!(?>a|ab)c", "", []string{"ac"}, []string{"abc"}},
		{"!a?+a", "", []string{"aa"}, []string{"a"}},
		{"!(?:a{1,2}+)a", "", []string{"aaa"}, []string{"aa"}},

		// back-references
		{`!(a+)b\1`, "", []string{"aabaa"}, []string{"aaba"}},
		{`!(['"]).*\1`, "", []string{`'x'`, `"x"`}, []string{`'x"`}},
		{`!(?<q>a|b)\k<q>`, "", []string{"aa", "bb"}, []string{"ab"}},
		{`!(a)\1`, "i", []string{"aA"}, []string{"ab"}},
		{`!(a)?\1b`, "", []string{"aab"}, []string{"b", "ab"}}, // a group that took no part fails
		{`!(a)\11`, "", []string{"aa1"}, []string{"aaa"}},
		{`!(a|b\1)+`, "", []string{"a", "aba"}, []string{"b"}},
		{`!(?:(a)|b)*\1`, "", []string{"aba"}, []string{"abb"}},
	} {
		src, backtracking := strings.CutPrefix(c.src, "!")
		p := compileOrFail(t, src, c.flags)
		if p.linear == backtracking {
			t.Errorf("/%s/%s: backtracking %t", src, c.flags, !p.linear)
		}
		for _, text := range c.yes {
			if !match(t, p, text) {
				t.Errorf("/%s/%s does not match %q", src, c.flags, text)
			}
		}
		for _, text := range c.no {
			if match(t, p, text) {
				t.Errorf("/%s/%s matches %q", src, c.flags, text)
			}
		}
	}
}

func TestSearchInJavaScript(t *testing.T) {
	for _, c := range []struct {
		src     string
		yes, no []string
	}{
		{"b", []string{"abc", "b", "\nb\n"}, []string{"", "ac"}},
		{"^b", []string{"bc"}, []string{"abc", "a\nb"}},
		{"b$", []string{"ab"}, []string{"b\n"}},
		{"^[[a]+$", []string{"[a["}, []string{"b"}},
		{"^[a&&b]+$", []string{"a&b"}, []string{"c"}},
		{"^a{,2}$", []string{"a{,2}"}, []string{"aa"}},
		{"^{a}$", []string{"{a}"}, nil},
		{"^a{2}$", []string{"aa"}, nil},
		{"^(?!admin)\\w+$", []string{"user"}, []string{"admin", "administrator", "a b"}},
		{"(a)\\1", []string{"xaay"}, []string{"xay"}},
		{"^.$", []string{"\u0085"}, []string{"\n", "\u2028"}},
	} {
		p, err := CompileSearch(c.src, JavaScript)
		if err != nil {
			t.Errorf("/%s/: %v", c.src, err)
			continue
		}
		for _, text := range c.yes {
			if !match(t, p, text) {
				t.Errorf("/%s/ is not found in %q", c.src, text)
			}
		}
		for _, text := range c.no {
			if match(t, p, text) {
				t.Errorf("/%s/ is found in %q", c.src, text)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		src    string
		offset int
		msg    string
	}{
		{"(a", 0, "group is not closed"},
		{"a)", 1, "closes nothing"},
		{"*a", 0, "nothing to repeat"},
		{"a|+", 2, "nothing to repeat"},
		{"a**", 2, "nothing to repeat"},
		{"a+*", 2, "nothing to repeat"},
		{"[a", 0, "class is not closed"},
		{"[z-a]", 1, "wrong way round"},
		{`[a-\d]`, 1, "wrong way round"},
		{"a{2,1}", 1, "wrong way round"},
		{"a{x}", 1, "malformed"},
		{"a{2", 1, "not closed"},
		{"a{70000}", 1, "expression-regex"},
		{`\`, 0, "ends with a backslash"},
		{`a\y`, 1, `unknown escape \y`},
		{`\p{Nope}`, 0, "unknown property"},
		{`\p{L`, 0, "not closed"},
		{`\x4`, 0, `malformed \x`},
		{`\u12`, 0, `malformed \u`},
		{`\x{110000}`, 0, `malformed \x`},
		{`\08`, 0, "octal"},
		{`\k<a>`, 0, `no group "a"`},
		{`\k`, 0, "without a name"},
		{`(a)\2`, 0, "no group 2"},
		{"(?<1>a)", 3, "letters and digits"},
		{"(?<a", 0, "not closed with >"},
		{"(?#a)", 2, "unknown kind of group"},
		{"(?", 2, "unknown kind of group"},
		{"(?=a", 0, "group is not closed"},
	} {
		_, err := Compile(c.src, 0)
		if err == nil || err.Offset != c.offset || !strings.Contains(err.Msg, c.msg) {
			t.Errorf("/%s/: %v, want %q at %d", c.src, err, c.msg, c.offset)
		}
	}
	if _, bad := ParseFlags("imq"); bad != 2 {
		t.Errorf("the bad flag is at %d", bad)
	}
}

// regular generates patterns that both matchers can take.
func regular(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		atoms := []string{"a", "b", ".", "[ab]", "[^a]", `\w`, `\d`, "c", "é", `\b`, `\B`, "^", "(?i)b", ""}
		if depth == 0 {
			return rapid.SampledFrom(atoms).Draw(t, "atom")
		}
		sub := regular(depth - 1)
		switch rapid.IntRange(0, 5).Draw(t, "form") {
		case 0:
			return rapid.SampledFrom(atoms).Draw(t, "atom")
		case 1:
			return "(?:" + sub.Draw(t, "a") + "|" + sub.Draw(t, "b") + ")"
		case 2:
			return "(" + sub.Draw(t, "a") + ")" + rapid.SampledFrom([]string{"*", "+", "?", "{2}", "{1,2}", "{2,}", "*?", "+?", "??", "{0,2}?"}).Draw(t, "times")
		default:
			return sub.Draw(t, "a") + sub.Draw(t, "b")
		}
	})
}

// TestBothMatchersAgree compares Go's regexp with the backtracking matcher on
// patterns that either can take.
func TestBothMatchersAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := regular(4).Draw(t, "pattern")
		tree, groups, serr := parse(src, 0)
		if serr != nil {
			t.Fatalf("/%s/: %v", src, serr)
		}
		p, serr := Compile(src, 0)
		if serr != nil {
			t.Fatalf("/%s/: %v", src, serr)
		}
		// Skip leaves out the generated case, not the test.
		if !p.linear {
			t.Skip("too large for one of them")
		}
		if progSize(tree) > maxProgram {
			t.Skip("too large for the other")
		}
		prog := compileTree(tree, groups)
		text := rapid.StringOfN(rapid.SampledFrom([]rune("abBcé1\n ")), 0, 8, -1).Draw(t, "text")
		b := expr.NewBudget()
		want, err := p.Match(text, &b)
		if err != nil {
			t.Fatal(err)
		}
		got, err := prog.match(text, &b)
		if limit := (*expr.LimitError)(nil); errors.As(err, &limit) {
			t.Skip("backtracks too long")
		}
		if err != nil || got != want {
			t.Fatalf("/%s/ on %q: backtracking %t, %v; linear %t", src, text, got, err, want)
		}
	})
}

func TestCatastrophesEnd(t *testing.T) {
	text := strings.Repeat("a", 40)
	for _, src := range []string{`(?=a)(a+)+b`, `(a|aa)+(?!a)b`, `(a*)*\1b`, `(?<!b)(.*)*x`, `((a?){20}){20}(?=b)`, `(?>(a+)+b)`, `(?=((a+)+b))`, `(.*)(.*)(.*)(.*)(.*)\1\2\3\4\5x`} {
		p := compileOrFail(t, src, "")
		b := expr.NewBudget()
		_, err := p.Match(text, &b)
		var limit *expr.LimitError
		if !errors.As(err, &limit) || limit.Limit != "expression-steps" {
			t.Errorf("/%s/: %v", src, err)
		}
	}
	// The same shapes are harmless where the pattern is regular.
	for _, src := range []string{`(a+)+b`, `(a|aa)+b`, `(a*)*b`, `(.*)*x`} {
		if p := compileOrFail(t, src, ""); !p.linear || match(t, p, text) {
			t.Errorf("/%s/ is not linear, or matches", src)
		}
	}
}

// FuzzMatch: no panic, and the same answer for the same steps.
func FuzzMatch(f *testing.F) {
	for _, s := range []string{`(?=(a+))\1b`, `[a-z&&[^x]]{2,3}?`, `(?<n>.)\k<n>`, `(?i)\p{Lu}`, `\Qa\E(?>x|y)*+`, `(?<!a)^$`, `[]-\]]`, `a{1001}(?x) # c`} {
		f.Add(s, "aab", uint8(0))
	}
	f.Fuzz(func(t *testing.T, src, text string, flags uint8) {
		if len(src) > 200 {
			return
		}
		for _, compile := range []func(string, Flags) (*Pattern, *expr.SyntaxError){Compile, CompileSearch} {
			p, serr := compile(src, Flags(flags))
			if serr != nil {
				if serr.Offset < 0 || serr.Offset > len(src) || serr.Msg == "" {
					t.Fatalf("/%s/: %#v", src, serr)
				}
				continue
			}
			one := expr.Budget{Steps: 20_000}
			two := one
			ok1, err1 := p.Match(text, &one)
			ok2, err2 := p.Match(text, &two)
			if ok1 != ok2 || (err1 == nil) != (err2 == nil) || one != two {
				t.Fatalf("/%s/ on %q: %t, %v then %t, %v", src, text, ok1, err1, ok2, err2)
			}
		}
	})
}
