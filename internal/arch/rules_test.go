package arch

import (
	"fmt"
	"strings"
)

// Rule is one thing that must hold everywhere.
type Rule struct {
	Name  string
	check func(*Module) []Violation
}

// Violation is one place where a rule does not hold.
type Violation struct {
	Rule string
	At   string // file:line, or a file or directory
	Func string // the function around the place, "" if none
	Text string // what is wrong, then what to do
}

func (v Violation) String() string { return fmt.Sprintf("%s: %s (rule %s)", v.At, v.Text, v.Rule) }

// Exception lets one place break one rule.
type Exception struct {
	Rule string
	File string
	Func string // "" means the whole file
	Why  string
}

// Rules lists every rule.
var Rules = []Rule{
	{"package-table", packageTable},
	{"imports", imports},
	{"test-imports", testImports},
	{"test-modules", testModules},
	{"pure-imports", pureImports},
	{"pure-files", pureFiles},
	{"pure-calls", pureCalls},
	{"map-order", mapOrder},
	{"package-comment", packageComment},
	{"package-name", packageName},
	{"file-size", fileSize},
	{"unfinished", unfinished},
	{"insert-columns", insertColumns},
	{"limits-page", limitsPage},
	{"test-sleep", testSleep},
	{"test-skip", testSkip},
}

// Exceptions lists every place that may break a rule, and why. An exception
// that nothing needs any more is itself reported.
var Exceptions = []Exception{
	{"map-order", "expr/goconv.go", "FromGo", "it reads the maps of other libraries; expr.Object sorts the members afterwards"},
	{"pure-imports", "internal/expr/regex/set.go", "", "tables of characters that are computed once, when a pattern first needs them"},
	{"pure-imports", "internal/expr/cache/cache.go", "", "many goroutines evaluate; what an evaluation gives does not depend on what is in the cache"},
	{"pure-imports", "internal/expr/jq/jq.go", "", "who waits for a filter may go away; what a filter gives does not depend on it"},
	{"map-order", "internal/expr/jq/meter.go", "meter.walk", "it reads the maps of the interpreter, for a sum that is the same in any order"},
	{"map-order", "internal/expr/jq/memory.go", "meter.allocValue", "it reads the maps of the interpreter, for a sum that is the same in any order"},
	{"map-order", "internal/expr/jq/memory.go", "meter.allocMerged", "it reads the maps of the interpreter, for a sum that is the same in any order"},
	{"test-skip", "internal/expr/regex/regex_test.go", "", "a property test passes over generated patterns that one of the two matchers refuses"},
}

// Check runs every rule over the module.
func (m *Module) Check(exceptions []Exception) []Violation {
	var found []Violation
	needed := make([]bool, len(exceptions))
	for _, r := range Rules {
	next:
		for _, v := range r.check(m) {
			v.Rule = r.Name
			file, _, _ := strings.Cut(v.At, ":")
			for i, e := range exceptions {
				if e.Rule == v.Rule && e.File == file && (e.Func == "" || e.Func == v.Func) {
					needed[i] = true
					continue next
				}
			}
			found = append(found, v)
		}
	}
	for i, e := range exceptions {
		if !needed[i] {
			found = append(found, Violation{
				Rule: e.Rule, At: e.File, Func: e.Func,
				Text: "nothing here breaks the rule any more; remove the exception from rules_test.go",
			})
		}
	}
	return found
}
