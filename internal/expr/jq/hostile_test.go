package jq

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
)

// hostile are filters that would take all time or all memory. Each must end with an
// error, soon; $IN stands for what it gets: a list of numbers, or a long text.
var hostile = []string{
	// without end
	`def f: f; f`, `def f: 1 + f; f`, `[repeat(1)]`, `[range(1e18)]`, `last(range(infinite))`, `until(false; .)`, `[recurse(.)]`, `first(recurse(.) | select(false))`,
	`[limit(1e9; repeat(1))]`, `def f(g): g | f(g | g); f(.)`, `try (def f: f; f) catch "caught"`, `(def f: f; f)? // 1`, `label $x | def f: (f | break $x); f`, `while(true; .)`, `[.[] as $a | .[] as $b | .[] as $c | 1]`, `[combinations(50)]?, [[0,1] | combinations(50)]`,
	`reduce range(1e12) as $i (0; . + 1)`, `foreach range(1e12) as $i (0; . + 1; empty)`, `isempty(range(1e15) | select(false))`, `. as $x | def f: $x | walk(f); f`,
	// text that grows
	`"x" * 2000000000`, `2000000000 * "x"`, `"x" * 1e9 * 10`, `reduce range(60) as $i ("x"; . + .)`, `reduce range(60) as $i ("x"; "\(.)\(.)")`, `reduce range(60) as $i ("x"; . * 2)`, `reduce range(60) as $i ("x"; @json "\(.)\(.)")`,
	`reduce range(60) as $i ("<"; @html "\(.)\(.)")`, `reduce range(60) as $i ("%"; @uri "\(.)\(.)")`, `reduce range(90) as $i ("x"; @base64)`, `reduce range(60) as $i ("\""; tojson)`, `[range(5000)] | join("x" * 100000)`, `def f: . + .; def g: f|f|f|f|f; "x" | g|g|g|g|g|g|g`,
	`reduce range(60) as $i ("x"; gsub("x"; "xx"))`, `reduce range(60) as $i ("x"; [., .] | add)`, `reduce range(60) as $i ("x"; [., .] | join(""))`, `"x" | .[0:1] as $y | reduce range(60) as $i ($y; . += .)`, `reduce range(60) as $i ([65]; . + .) | implode`,
	// lists that grow
	`.[536870911] = 1`, `null | .[536870911] = 1`, `null | .[500000000] |= 1`, `null | setpath([500000000]; 1)`, `null | getpath([500000000]) = 1`, `null | .[400000000:] = [1] | .[400000000] = 1`, `[range(100000) | null | .[9999] = 1]`, `[range(100000) | null | getpath([9999]) |= 1]`,
	`null | .[1e8] += 1`, `null | .[100000000] //= 1`, `500000000 as $n | null | .[$n] = 1`, `null | (.[99999999], .[1]) = 1`, `null | pick(.[500000000])`, `null | [500000000] as $p | setpath($p; 1)`, `null | path(.[500000000]) as $p | setpath($p; 1)`, `null | reduce path(.[500000000]) as $p (.; setpath($p; 1))`,
	`reduce range(60) as $i ([0]; . + .)`, `reduce range(60) as $i ([0]; [.[], .[]])`, `reduce range(60) as $i ([0]; .[0:0] = .)`, `reduce range(60) as $i ([[0]]; [., .] | flatten(1))`, `[[range(20000)], (range(20000) | [])] | transpose`, `reduce range(1e6) as $i ({}; .["\($i)"] = 1)`, `reduce range(1e6) as $i ({}; . + {"\($i)": 1})`, `reduce range(1e6) as $i ([]; . + [$i])`, `reduce range(1e6) as $i ([]; .[$i] = $i)`,
	// values that share their parts
	`reduce range(60) as $i (1; [., .])`, `reduce range(60) as $i (1; [., .]) | tojson`, `reduce range(60) as $i (1; [., .]) | tostring | length`, `reduce range(60) as $i (1; [., .]) | . == .`, `reduce range(60) as $i (1; {a: ., b: .}) | . * .`, `reduce range(60) as $i (1; [., .]) | flatten`, `reduce range(60) as $i (1; [., .]) | sort`, `reduce range(60) as $i (1; [., .]) | unique`,
	`reduce range(60) as $i (1; [., .]) | [..] | length`, `reduce range(60) as $i (1; [., .]) | [paths] | length`, `reduce range(60) as $i (1; [., .]) | walk(.)`, `reduce range(60) as $i (1; [., .]) | contains([1])`, `reduce range(60) as $i (1; [., .]) | index([1])`, `reduce range(60) as $i (1; [., .]) | error`, `reduce range(60) as $i (1; [., .]) | error(.)`, `reduce range(60) as $i (1; [., .]) | .a`, `reduce range(60) as $i (1; [., .]) | . - .`, `reduce range(60) as $i (1; [., .]) | min`,
	`reduce range(60) as $i (1; [., .]) | group_by(.)`, `reduce range(60) as $i (1; [., .]) | del(..)`, `reduce range(60) as $i (1; [., .]) | .[0][0] = 1`, `reduce range(60) as $i (1; [., .]) | @text`, `reduce range(60) as $i (1; [., .]) | @csv`, `reduce range(60) as $i (1; [., .]) | tostream`, `reduce range(60) as $i ("x"; [., .]) | add`, `reduce range(60) as $i (1; [., .]) | {("x"): .} | to_entries`, `(reduce range(60) as $i (1; [., .])) as $x | $x < $x`, `reduce range(60) as $i (1; {a: ., b: .}) | with_entries(.) | tojson`, `reduce range(60) as $i (1; [., .]) | INDEX(.[]; .)`, `reduce range(60) as $i (1; [., .]) | bsearch(.)`,
	// deep ones
	`reduce range(100000) as $i (1; [.])`, `reduce range(100000) as $i (1; [.]) | tojson`, `reduce range(100000) as $i (1; {a: .}) | . == .`, `reduce range(100000) as $i (1; [.]) | flatten`, `"[" * 100000 | fromjson`, `("[" * 9000) + ("]" * 9000) | fromjson | tojson | fromjson`, `null | recurse(.a) = 1`, `null | recurse(.a) |= 1`, `null | del(recurse(.a))`, `null | [paths(true)], (def r: ., (.a | r); r |= 2)`, `[limit(100000; null | path(recurse(.a)))] | last as $p | null | setpath($p; 1)`,
	// numbers
	`reduce range(60) as $i (3; . * .) | . * 1000000007 * 1000000009`, `reduce range(60) as $i (12345678901234567890; . * .)`, `"9" * 1000000 | tonumber`, `"9" * 1000000 | fromjson`, `"9" * 100000 | tonumber | . * .`,
	// patterns
	`$IN | test("(a*)*b")`, `$IN | [match("a"; "g")] | length`, `$IN | gsub("a"; "b")`, `$IN | [match("(a)(a)?(a)?"; "g")]`, `"a" | test("(" * 1000 + "a" + ")" * 1000 + "{1000}")`, `"a" | test("((a{100}){10}){1000}")`, `"a" | test(("abcdefgh" * 500 | "(" + . + "){1000}"))`, `range(1e6) | tostring | test("x{900}\(.)")`, `$IN | split("")`, `$IN | explode`, `$IN | indices("a")`, `$IN | index("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab")`, `$IN | [range(100000) as $i | .[$i:$i+1]]`, `$IN / "a"`, `$IN | ascii_downcase | [., .] | [combinations]`,
	// memory of the interpreter itself
	`def f: f, f; f`, `def f: (f, f), (f, f); f`, `def f: f as $x | $x; f`, `def f(g): f(g | g), f(g); f(.)`, `def f($a; $b; $c): f($a; $b; $c) | .; f(1; 2; 3)`, `def f: try f catch .; f`, `def f: label $l | f, 1; f`, `def f: first(f, 1); f`, `def f: [f]; f`, `def f: {a: f}; f`, `def f: reduce f as $x (0; 1); f`, `def f: foreach (1, f) as $x (0; 1); f`, `def f: if f then 1 else 2 end; f`, `def f: f // f; f`, `def f: .[f]; f`, `def f: "\(f)"; f`, `def f: range(0; 1e9) | f; f`, `path(def f: .a | f; f)`, `path(def f: (.a, .b) | f; f)`, `path(def f: f, f; f)`, `[def f: path(.a | f), path(f); f]`, `def f: . as [$a, $b, $c] | f, f; f`, `def f: . as {a: $a} ?// [$a] | f, f; f`, `def f: (1, 2) as $x | f; f`, `def f: limit(2; f, f); f`, `def f: isempty(f); f`, `def f: . |= f; f`, `def f: .a |= (f, f); f`, `def f: @json "\(f)\(f)"; f`, `def f: walk(f); f`, `def f(a; b; c; d; e; g): f(a | b; b | c; c | d; d | e; e | g; g | a); f(.; .; .; .; .; .)`,
	// many small values
	`[range(1e9) | {a: .}]`, `[range(1e9) | {}]`, `[range(1e9) | [.]]`, `[range(1e9) | gmtime]`, `[range(1e9) | localtime]`, `[range(1e9) | frexp]`, `[range(1e9) | modf]`, `[range(1e9) | builtins]`, `[range(1e9) | tostring]`, `[range(1e9) | {a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7, h: 8, i: 9}]`, `[range(1e9) | "x\(.)"]`, `[range(1e9) | {a: {b: {c: {d: .}}}}]`, `[range(1e9) | . * 1.5]`, `[range(1e9) | [.] | path(.[0])]`, `[range(1e9) | tostring | explode]`, `[range(1e9) | tostring | [match(".")]]`, `[range(1e9) | [[.]] | flatten]`, `[range(1e9) | {a: .} | to_entries]`, `[range(1e9) | [., .] | group_by(.)]`, `(("{}," * 200000 | "[" + . + "1]") | fromjson) as $x | [range(1e9)]`, `("{\"a\":1}," * 100000 | "[" + . + "1]") | fromjson`, `(("[]," * 200000 | "[" + . + "1]") | fromjson) as $x | [range(1e9)]`, `("a," * 200000 | split(",")) as $x | [range(1e9)]`, `("a," * 200000 / ",") as $x | [range(1e9)]`, `[range(1e9) | null | .a.b.c.d = 1]`, `[range(1e9) | {a: 1} * {a: {b: 1}}]`, `[range(1e9) | {a: {b: {}}} * {a: {b: {c: 1}}}]`, `[range(1e9) | {a: 1, b: 2} | del(.a)]`, `[range(1e9) | {a: 1} | map_values(2)]`, `[range(1e9) | strptime("%Y")?]`, `[range(1e9) | tojson | fromjson | [.]]`, `{} | [range(1e9) as $i | .["\($i)"] = 1]`, `[fromstream(range(1e9) | [[.], .], [[.]])]`, `jn(1e9; 1), 1`, `jn(100000000; 1), jn(100000000; 2), 1`,
	`def f: if true then f | . else (` + strings.Repeat("1 as $a | ", 300) + `1) end; f`, `def f(g): g | f(g); f(` + strings.Repeat("1+", 1500) + `1)`, `$IN as $b | def f: $b[] | f; f`, `$IN as $b | def f: $b | map(f); f`, `$IN as $b | def f: $b | first(.[]) as $x | (f, 1); f`, `$IN as $b | [range(1e5) | $b[0:100000] + [.]]`, `$IN as $b | [range(1e5) | $b | sort]`, `$IN as $b | [range(1e5) | $b | reverse]`, `$IN as $b | [range(1e5) | $b | keys]`, `$IN as $b | [range(1e5) | $b | .[0] = 1]`, `[range(1000) | null] | ((.[] | ., .x) |= ([range(10000)] | with_entries(.key |= tostring)))`, `$IN as $b | [range(1000)] | .[] |= $b | .[][0] |= 1`, `$IN as $b | [range(1e5) | $b | del(.[0])]`, `$IN as $b | [range(1e5) | $b | to_entries]`,
	`$IN as $b | [range(1e5) | $b | @json]`, `$IN as $b | [range(1e5) | $b | length] | add`, `$IN as $b | $b - $b`, `$IN as $b | $b | contains($b)`, `$IN as $b | $b | group_by(.) | map(length) | add, ([range(1e6)] | length)`, `$IN as $b | [range(1e5) | $b | tojson | fromjson]`, `0 | strftime("%1000000000Y")`, `0 | strftime("%Y" * 100000)`, `"1" | strptime("%Y" * 100000)`,
	// results
	`$IN[]`, `range(1e9)`, `[range(20)] | .[] as $a | .[] as $b | .[] as $c | .[] as $d | [$a, $b, $c, $d]`, `"x" * 100000 | ., ., . | range(1000) as $i | .`,
}

// mildly end well with one of the inputs.
var mildly = []string{`$IN | indices("a")`, `$IN | index("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab")`}

// TestHostile runs them in a process of its own that may not take much memory, so that
// what goes wrong is seen instead of felt.
func TestHostile(t *testing.T) {
	if os.Getenv("JQ_HOSTILE") != "" {
		hostileChild(t)
		return
	}
	limit, every := "ulimit -v 3000000; ", "1"
	if info, _ := debug.ReadBuildInfo(); info != nil && slices.ContainsFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == "-race" && s.Value == "true" }) {
		limit, every = "", "20" // the race detector maps more than that, takes its time, and has nothing to find
	}
	for _, input := range []string{"list", "text", "list as an expression", "text as an expression"} {
		cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", limit+`exec "$0" -test.run='^TestHostile$' -test.v`, os.Args[0])
		cmd.Env = append(os.Environ(), "JQ_HOSTILE="+input, "JQ_EVERY="+every)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("with the %s: %v\n%s", input, err, tail(out))
		}
		if n := strings.Count(string(out), "ended "); err == nil && every == "1" && n != len(hostile) {
			t.Errorf("with the %s, %d of %d ran", input, n, len(hostile))
		}
		t.Logf("with the %s, %d expressions ended", input, strings.Count(string(out), "ended "))
	}
}

func tail(out []byte) []byte { return out[max(0, len(out)-3000):] }

const (
	// mostMemory is what one run may allocate in total, counting what is collected again.
	mostMemory = 256 << 20
	// mostLive is what may be in use at the moment that a run is ended, with the input in the
	// interpreter's form, which is not counted. What is counted is an estimate, and lists that
	// are being made are counted when they are whole.
	mostLive = 2 * (16 << 20)
)

// live is how much memory is in use.
func live() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// runFilter runs a filter, and calls ended when a limit ends it.
func runFilter(src string, in expr.Value, ended func()) (*machine, error) {
	f, err := Compile(src, Budget{})
	if err != nil {
		return nil, err
	}
	m, err := newMachine(f.src, f.code, nil)
	if err != nil {
		return nil, err
	}
	m.meter = f.meter(theTime, nil)
	m.ended = ended
	return m, f.run(m, in, func([]byte) error { return nil })
}

// runExpression runs the same as an expression that gives a value.
func runExpression(src string, in expr.Value, ended func()) (*machine, error) {
	e, err := Compiler{lang: Lang}.expression(src)
	if err != nil {
		return nil, err
	}
	m, _ := e.machine()
	b := expr.NewBudget()
	m.meter = e.meter(expr.Scope{Vars: &vars{values: map[string]expr.Value{"now": expr.Int(1)}}}, &b)
	m.ended = ended
	_, err = e.run(m, in, nil)
	return m, err
}

func hostileChild(t *testing.T) {
	items := make([]expr.Value, 200_000)
	for i := range items {
		items[i] = expr.Int(int64(i))
	}
	in := expr.Array(items...)
	asExpression := strings.HasSuffix(os.Getenv("JQ_HOSTILE"), "as an expression")
	if strings.HasPrefix(os.Getenv("JQ_HOSTILE"), "text") {
		in = expr.String(strings.Repeat("a", 4<<20))
	}
	every, err := strconv.Atoi(os.Getenv("JQ_EVERY"))
	if err != nil {
		t.Fatal(err)
	}
	idle := live()
	for i, src := range hostile {
		if i%every != 0 {
			continue
		}
		t.Logf("runs %.100s", src)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		held := 0
		run := runFilter
		if asExpression {
			run = runExpression
		}
		m, err := run(strings.ReplaceAll(src, "$IN", "."), in, func() { held = live() - idle })
		if m != nil {
			t.Logf("counted %d KiB made, %d KiB of stacks", m.made>>10, m.stacks>>10)
		}
		runtime.ReadMemStats(&after)
		if held > mostLive {
			t.Errorf("%.100s holds %d MiB", src, held>>20)
		}
		var syntax *expr.SyntaxError
		if errors.As(err, &syntax) {
			t.Errorf("%.100s cannot be tried: %v", src, err)
		}
		if err == nil && !slices.Contains(mildly, src) {
			t.Errorf("%.100s ends well", src)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > mostMemory {
			t.Errorf("%.100s took %d MiB", src, took>>20)
		}
		t.Logf("ended %v, %d MiB, %d MiB of them at once", err, (after.TotalAlloc-before.TotalAlloc)>>20, held>>20)
	}
}
