package jq

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/itchyny/gojq"

	"github.com/lockstep-workflows/lockstep/expr"
)

func parseValue(t *testing.T, text string) expr.Value {
	t.Helper()
	v, err := expr.ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// theTime is that of every run.
var theTime = time.Date(2026, 3, 1, 10, 30, 5, 250_000_000, time.FixedZone("ZONE", 3600))

// run gives what a filter emits, and how it ended.
func run(ctx context.Context, src string, v expr.Value, b Budget) ([]string, error) {
	f, err := Compile(src, b)
	if err != nil {
		return nil, err
	}
	var out []string
	err = f.Run(ctx, theTime, v, func(text []byte) error {
		out = append(out, string(text))
		return nil
	})
	return out, err
}

const job = `{"clientId":"dana","definition":{"title":"expose","urls":["a","b"]},"history":[],"id":"1","mtime":"2026-01-02T03:04:05Z",` +
	`"status":{"clientId":"dana","progress":42,"state":"NEW"},"tags":["x","y","x"],"workflow":{"name":"kanban","states":[{"name":"NEW"},{"name":"DONE"}]}}`

// sameAsGojq are filters that must give what the interpreter gives without a guard.
var sameAsGojq = []string{
	`.`, `.id`, `.status.state`, `.workflow.states[].name`, `.tags[1]`, `.tags[-1]`, `.tags[1:]`, `.clientId[1:3]`, `.nothing`, `.tags[5]`,
	`del(.workflow)`, `del(.workflow, .tags[0])`, `del(.workflow.states[] | select(.name == "NEW"))`, `to_entries`, `with_entries(select(.key | test("^[a-d]")))`,
	`[.tags[] | ascii_upcase]`, `.tags | unique`, `.tags | group_by(.)`, `.tags | length`, `.tags | sort`, `.tags | index("y")`, `.tags | join("-")`, `.tags | add`,
	`"\(.id): \(.status)"`, `@json "x\(.tags)"`, `@base64 "\(.id)"`, `.tags | @csv`, `.tags | @sh`, `.id | @uri`, `@text "plain"`, `.definition | @json`,
	`.status.progress + 1`, `.status.progress - 2`, `.status.progress * 3`, `.status.progress / 5`, `.status.progress % 5`, `-.status.progress`, `[1,2] - [2]`, `"a,b" / ","`, `"ab" * 3`, `{a: {b: 1}} * {a: {c: 2}}`,
	`.a = 1`, `.status.progress |= . + 1`, `.status.progress += 10`, `.tags[] |= ascii_upcase`, `.x //= 5`, `.tags += ["z"]`, `.tags[1:] = ["q"]`, `.tags[10] = 1`, `.status.progress -= 1`, `.status.progress *= 2`, `.status.progress /= 2`, `.status.progress %= 5`,
	`(.a, .b) = (1, 2)`, `.tags |= map(select(. == "x"))`, `.tags[] |= empty`, `..`, `[..]`, `[.. | strings]`, `[paths]`, `[leaf_paths]?`, `[path(..)]`, `[paths(type == "number")]`, `getpath(["status","state"])`, `setpath(["a", 2]; 1)`, `delpaths([["tags"], ["id"]])`, `pick(.status.state)`, `pick(.tags[1])`,
	`reduce .tags[] as $t (""; . + $t)`, `[foreach .tags[] as $t (0; . + 1; [$t, .])]`, `[limit(2; .tags[])]`, `first(.tags[])`, `[.tags[] | select(. != "x")]`, `[range(5)]`, `[range(1; 10; 3)]`, `[range(5; 0; -2)]`, `last(range(5))`, `[skip(1; .tags[])]`, `nth(1; .tags[])`, `until(true; .)`, `[.status.progress | while(. > 1; . / 2 | floor)]`,
	`if .id == "1" then "one" elif .id == "2" then "two" else "more" end`, `.id as $x | [$x, $x]`, `. as {status: {$state}, tags: [$first]} | [$state, $first]`, `. as {("i" + "d"): $x} | $x`, `def f(g; $n): [g, $n]; f(.id; 3)`, `def f: if . > 3 then . else . + 1 | f end; 0 | f`, `.[("st" + "atus")]`, `."st\("atus")"`, `{id, "a\(.id)": 1, (.tags[]): 2, "x y": 3}`, `{$__none: 1}?`,
	`try error("no") catch .`, `.id | tonumber`, `.tags | tojson | fromjson`, `[.tags[] | {key: ., value: 1}] | from_entries`, `any(.tags[]; . == "y")`, `all(.tags[]; . == "y")`, `[.[] | type]`, `keys`, `[.tags | has(0, 9)]`, `map_values(type)`, `map(type)`, `.tags | contains(["x"])`, `.tags | inside(["x", "y", "z"])`, `"x" | IN("x", "y")`, `walk(if type == "string" then length else . end)`, `[splits("a"; null)?]`,
	`.mtime | fromdate`, `0 | todate`, `.mtime[:10] | split("-")`, `.clientId | explode | implode`, `.clientId | sub("(?<l>[a-n])"; "<\(.l)>")`, `.clientId | gsub("a"; "é")`, `.clientId | gsub("(?<l>[a-z])"; "\(.l)\(.l)")`, `"aXbX" | [match("x"; "gi") | .offset]`, `"héllo wörld" | [match("[a-z]+"; "g")]`, `"test 42" | capture("(?<word>[a-z]+) (?<n>[0-9]+)")`, `"a1b22" | [scan("[0-9]+")]`, `"a1b22" | [scan("([a-z])([0-9]+)")]`, `"a, b,c" | [splits(", *")]`, `"a, b" | split(", *"; null)`, `"" | [match(""; "g") | .offset]`, `"ab" | [match("(x)?a"; "g")]`, `"xyz" | sub(""; "-")`, `"aaa" | sub("a"; "b", "c")`,
	`[3,1,2] | sort_by(-.)`, `[3,1,2] | min, max`, `[{a:2},{a:1}] | min_by(.a), max_by(.a), sort_by(.a), unique_by(.a)`, `[[1,2],[3]] | transpose`, `[[1],[[2]]] | flatten, flatten(1)`, `[1,2,3] | bsearch(2)`, `[[1,2],[3,4]] | [combinations]`, `[0,1] | [combinations(2)]`, `1 / 3`, `pow(2; 10)`, `[1.5, 2.5 | floor]`, `infinite, -infinite, nan | tostring`, `label $out | 1, break $out, 2`, `[.tags[] as $a | .tags[] as $b | $a + $b]`, `.tags as [$a, $b] | {$a, $b}`, `[.[]?]`, `.id[]?`, `"abc" | ltrimstr("a"), rtrimstr("c"), startswith("a"), endswith("x")`, `" a " | trim`, `reverse?`, `.tags | reverse`, `tostream`, `[1,[2]] | [tostream]`, `[] | first, last`, `input_line_number?`, `not`, `[.tags[] | . as $x | $x | ascii]?`, `65 | ascii`, `INDEX(.workflow.states[]; .name)`, `isempty(empty)`, `1 as $x | 2 as $y | [$x, $y]`, `. as [$a] ?// {id: $a} | $a`, `"\u00e9" | @uri, length, utf8bytelength`, `[.[] | tostring] | length`, `add(.tags[])`, `{} | .a.b.c = 1 | .a["b"].d |= 2`, `[1,2,3] | .[1:] |= map(. * 2)`, `to_entries | from_entries`, `.tags | @html`, `[1, null, 2] | map(values)`, `splits("x")?`, `limit(0; 1)`, `toarray`, `abs?`, `-5 | abs`, `"x" | ascii_downcase`, `[1,2] | has(1)`, `tojson | length`,
	`fromstream(tostream)`, `[1,[2,{"a":[]}]] | fromstream(tostream)`, `fromstream(empty)`, `fromstream([[], 1], [[0], 2], [[0]], [["a"], 3], [["b", 0], 4], [["b", 0]], [["b"]])`, `[1 | truncate_stream([[0], 1], [[1, 0], 2], [[1, 0]], [[1]])]`, `[5, 0.5, -1.5 | gamma, tgamma, lgamma, erf, erfc, j0, j1]`, `[2 | y0, y1, jn(3; 2), yn(3; 2)]`, `[5 | drem(.; 3), remainder(.; 3), nexttoward(.; 6)]`, `[1, infinite, nan, 0 | finites, normals]`,
	`[.tags[]? | format("json", "text", "html", "uri", "csv", "base64")?]`, `"a" | format("nosuch")?`, `[1, 2] | format("csv", "tsv", "sh")`, `JOIN({"NEW": 1}; .workflow.states[]?; .name)`, `[JOIN({"NEW": 1}; .workflow.states[]?; .name; .[1])]`, `[{"n":"x"}] | JOIN({"x": 1}; .n)`, `0 | gmtime | mktime`, `[4.5 | frexp, modf]`, `def now: 5; now`, `[{a: {b: 1}} * {a: {c: 2}, d: 1} | .a.b, .a.c, .d]`, `{a: [1, {b: 2}]} | .a[1].c = 3 | del(.a[0])`,
}

// TestSameAsGojq: the guard changes what a filter may cost, not what it means.
func TestSameAsGojq(t *testing.T) {
	inputs := []string{job, `null`, `[1,[2,{"a":3}],"x"]`, `"text"`, `12.5`, `{"a":[1,2,{"b":null}]}`}
	compared := 0
	for _, src := range sameAsGojq {
		query, err := gojq.Parse(src)
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		reference, err := gojq.Compile(query)
		if err != nil {
			continue // both lack it; below it is seen that we do
		}
		for _, input := range inputs {
			var want []string
			var failed bool
			results := reference.Run(parseValue(t, input).ToGo())
			for v, ok := results.Next(); ok; v, ok = results.Next() {
				if _, failed = v.(error); failed {
					break
				}
				text, err := gojq.Marshal(v)
				if err != nil {
					t.Fatal(err)
				}
				want = append(want, string(text))
			}
			got, err := run(t.Context(), src, parseValue(t, input), Budget{})
			if !reflect.DeepEqual(decode(t, got), decode(t, want)) || (err != nil) != failed {
				t.Errorf("%s of %.40s: %v, %v; gojq: %v, fails: %v", src, input, got, err, want, failed)
			}
			compared++
		}
	}
	if compared < 900 {
		t.Errorf("only %d were compared", compared)
	}
}

func decode(t *testing.T, list []string) []any {
	t.Helper()
	var out []any
	for _, text := range list {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		out = append(out, v)
	}
	return out
}

func TestNumbersKeepTheirDigits(t *testing.T) {
	const numbers = `[1.10,12345678901234567890123,1e400,-0,0.1000,9007199254740993,1E5]`
	for src, want := range map[string]string{
		`.`:                        numbers,
		`map(.)`:                   numbers,
		`.[1]`:                     "12345678901234567890123",
		`{a: .[0]}`:                `{"a":1.10}`,
		`.[5] + 1`:                 "9007199254740994",
		`.[1] + 1`:                 "12345678901234567890124",
		`tojson`:                   `"` + numbers + `"`,
		`[.[0], 0.5 + 0.25, 1/0]?`: "",
		`[1e3, 1.5e300, 0.00001]`:  "[1000,1.5e+300,1e-05]",
		`infinite`:                 "1.7976931348623157e+308",
		`nan`:                      "null",
	} {
		got, err := run(t.Context(), src, parseValue(t, numbers), Budget{})
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %v %v, want %s", src, got, err, want)
		}
	}
}

func TestSyntaxErrors(t *testing.T) {
	for _, c := range []struct {
		src    string
		offset int
		says   string
	}{
		{"", 0, "empty"},
		{"  ", 0, "empty"},
		{".a | ]", 5, "unexpected"},
		{".a | (", 6, "ends where more"},
		{`"abc`, 4, "unterminated"},
		{".a | nosuch", 5, "nosuch/0"},
		{"input", 0, "input/0"},
		{"[inputs]", 1, "inputs/0"},
		{". | debug", 4, "debug/0"},
		{"debug(1)", 0, "debug/1"},
		{"stderr", 0, "stderr/0"},
		{"env", 0, "env/0"},
		{". | $ENV", 4, "$ENV"},
		{"{$ENV}", 1, "$ENV"},
		{"$__loc__", 0, "$__loc__"},
		{"{$__loc__}", 1, "$__loc__"},
		{"$__prog_args", 0, "$__prog_args"},
		{"halt", 0, "halt/0"},
		{"halt_error", 0, "halt_error/0"},
		{"modulemeta", 0, "modulemeta/0"},
		{`import "a" as a; .`, 0, "modules"},
		{`include "a"; .`, 0, "modules"},
		{"_sort_by([1])", 0, "_sort_by/1"},
		{"_range(0;1;1)", 0, "_range/3"},
		{"_match(1;2;3)", 0, "_match/3"},
		{"@nosuch", 0, "@nosuch"},
		{"input_filename", 0, "input_filename/0"},
		{`get_search_list`, 0, "get_search_list/0"},
		{"$undefined", 0, "$undefined"},
		{"f(1)", 0, "f/1"},
		{"def f: g; f", 7, "g/0"},
		{"def f(x): x; x", 9, "x/0"},
		{"break $x", 0, "$x"},
		{". as [$a] | $b", 0, "$b"},
	} {
		_, err := Compile(c.src, Budget{})
		var at *expr.SyntaxError
		if !errors.As(err, &at) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v", c.src, err)
			continue
		}
		if at.Offset != c.offset && !strings.HasPrefix(c.says, "$") && c.src != "def f(x): x; x" {
			t.Errorf("%q: at %d, want %d: %v", c.src, at.Offset, c.offset, err)
		}
	}
	var limit *expr.LimitError
	if _, err := Compile(strings.Repeat(" ", 5000)+".", Budget{}); !errors.As(err, &limit) || limit.Limit != "filter-source" {
		t.Errorf("a long filter: %v", err)
	}
}

func TestErrors(t *testing.T) {
	for src, says := range map[string]string{
		`.a.b.c`:               "expected an object",
		`error("no luck")`:     "no luck",
		`error({a: 1})`:        `{"a":1} (not a string)`,
		`"a" | test("(")`:      "missing closing",
		`1 | test("a")`:        "are text",
		`"a" | test("a"; "q")`: "flag",
		`{} | .[["a"]]`:        "indices",
	} {
		_, err := run(t.Context(), src, parseValue(t, `{"a":"text"}`), Budget{})
		var failed *Error
		if !errors.As(err, &failed) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", src, err)
		}
	}
	stop := errors.New("stop")
	f, err := Compile("1, 2", Budget{})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Run(t.Context(), theTime, expr.Null, func([]byte) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("what emit says: %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := run(gone, "def f: f; f", expr.Null, Budget{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a run that nobody waits for: %v", err)
	}
}

// TestBuiltins: a filter may call everything that gojq has, but for what looks at the world or
// ends the process; and `builtins` says so.
func TestBuiltins(t *testing.T) {
	out := []string{ // with docs/jobs.md
		"debug/0", "debug/1", "env/0", "halt/0", "halt_error/0", "halt_error/1", "input/0", "inputs/0", "input_line_number/0", "input_filename/0",
		"modulemeta/0", "stderr/0", "get_search_list/0",
	}
	query, err := gojq.Parse("builtins[]")
	if err != nil {
		t.Fatal(err)
	}
	compiles := func(name string) bool {
		function, arity, _ := strings.Cut(name, "/")
		if n := int(arity[0] - '0'); n > 0 {
			function += "(" + strings.TrimSuffix(strings.Repeat("1; ", n), "; ") + ")"
		}
		_, err := Compile(function, Budget{})
		return err == nil
	}
	list, err := run(t.Context(), "builtins[]", expr.Null, Budget{})
	if err != nil || len(list) < 200 {
		t.Errorf("builtins: %v, %v", list, err)
	}
	for _, name := range list {
		if !compiles(strings.Trim(name, `"`)) {
			t.Errorf("%s is among builtins, and cannot be called", name)
		}
	}
	results := query.Run(nil)
	for v, ok := results.Next(); ok; v, ok = results.Next() {
		name, _ := v.(string)
		if may, want := compiles(name), !slices.Contains(out, name); may != want {
			t.Errorf("%s can be called: %v, want %v", name, may, want)
		} else if may != slices.Contains(list, `"`+name+`"`) {
			t.Errorf("%s: builtins does not say %v", name, may)
		}
	}
	for name := range own {
		if !slices.Contains(list, `"`+name+`"`) {
			t.Errorf("%s is not among builtins", name)
		}
	}
}

// TestTime: a run has one time, which the host says, and its zone.
func TestTime(t *testing.T) {
	for src, want := range map[string]string{
		`now`:                                "1772357405.25",
		`[now, now] | unique | length`:       "1",
		`now | localtime | mktime`:           "1772361005.25",
		`now | gmtime`:                       "[2026,2,1,9,30,5.25,0,59]",
		`now | localtime`:                    "[2026,2,1,10,30,5.25,0,59]",
		`now | strflocaltime("%H:%M %Z")`:    `"10:30 ZONE"`,
		`0 | gmtime | strflocaltime("%H%z")`: `"00+0100"`,
		`now | floor | todate`:               `"2026-03-01T09:30:05Z"`,
		`.now = now | .now > 0`:              "true",
	} {
		got, err := run(t.Context(), src, expr.Null, Budget{})
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %v %v, want %s", src, got, err, want)
		}
	}
	for _, src := range []string{`"x" | localtime`, `infinite | localtime`, `1 | strflocaltime(1)`, `[1] | strflocaltime("%Y")`, `0 | strflocaltime("%1000000000Y")`, `[1e300, 0, 0, 0, 0, 0] | strflocaltime("%Y")`} {
		var failed *Error
		if _, err := run(t.Context(), src, expr.Null, Budget{}); !errors.As(err, &failed) {
			t.Errorf("%s: %v", src, err)
		}
	}
}

// TestPrelude compiles every definition, and everything that it may use.
func TestPrelude(t *testing.T) {
	for _, d := range prelude {
		name, arity, _ := strings.Cut(d.name, "/")
		if n := int(arity[0] - '0'); n > 0 {
			name += "(" + strings.TrimSuffix(strings.Repeat("1; ", n), "; ") + ")"
		}
		if _, err := Compile(name, Budget{}); err != nil {
			t.Errorf("%s: %v", d.name, err)
		}
	}
	for name, n := range natives {
		if nativeCode(name) == nil || n.price == nil {
			t.Errorf("%s cannot be called", name)
		}
	}
	for _, name := range harmless {
		function, arity, _ := strings.Cut(name, "/")
		if n := int(arity[0] - '0'); n > 0 {
			function += "(" + strings.TrimSuffix(strings.Repeat("1; ", n), "; ") + ")"
		}
		if _, err := Compile(function, Budget{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
