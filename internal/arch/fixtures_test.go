package arch_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/lockstep-workflows/lockstep/internal/arch"
)

// sound is a module that breaks no rule. Each case below changes one file.
var sound = map[string]string{
	"go.mod": "module example.com/m\n\ngo 1.26.0\n",
	"ARCHITECTURE.md": strings.Join([]string{
		"# Shape",
		"| other | table |",
		"|---|---|",
		"",
		"| package | holds | may import |",
		"|---|---|---|",
		"| `ir` | programs | nothing |",
		"| `core` | steps | `ir` |",
		"| `store`, `engine` | the shell | `core`, `ir` |",
		"| `cmd/tool` | the tool | all |",
		"",
		"Text after the table.",
	}, "\n"),
	"ir/ir.go":     "// Package ir holds programs.\npackage ir\n\ntype Program struct{}\n",
	"core/core.go": "// Package core steps.\npackage core\n\nimport \"example.com/m/ir\"\n\nvar P ir.Program\n",
	"core/core_test.go": "package core_test\n\nimport (\n\t\"os\"\n\t\"testing\"\n\n\t\"example.com/m/ir\"\n)\n\n" +
		"func Test(t *testing.T) { _ = ir.Program{}; _ = os.Args }\n",
	"store/store.go":         "// Package store stores.\npackage store\n",
	"engine/engine.go":       "// Package engine runs.\npackage engine\n\nimport _ \"example.com/m/core\"\n",
	"cmd/tool/main.go":       "// Tool is a tool.\npackage main\n\nimport _ \"example.com/m/engine\"\n\nfunc main() {}\n",
	"core/testdata/bad.go":   "this is not Go",
	"bench/peers/go.mod":     "module example.com/peers\n",
	"bench/peers/another.go": "package peers\n",
	"_drafts/draft.go":       "package drafts\n",
}

// TestEachRuleCanFail breaks one rule at a time: a rule that cannot fail is worth nothing.
func TestEachRuleCanFail(t *testing.T) {
	pure := func(body string) string { return "// Package core steps.\npackage core\n\n" + body }
	test := func(body string) string { return "package engine\n\n" + body }
	cases := []struct {
		name  string
		files map[string]string // "" removes a file
		want  []string          // "rule at", sorted; one entry for each violation
	}{
		{name: "sound"},

		{"a package outside the table", map[string]string{
			"graph/graph.go": "// Package graph draws.\npackage graph\n",
		}, []string{"package-table graph"}},
		{
			"a package only in the table",
			map[string]string{"store/store.go": ""},
			[]string{"package-table ARCHITECTURE.md:9"},
		},
		{"a permission for a package that is not there", map[string]string{
			"ARCHITECTURE.md": strings.Replace(sound["ARCHITECTURE.md"], "| programs | nothing |", "| programs | `cor` |", 1),
		}, []string{"package-table ARCHITECTURE.md:7"}},

		{"an import that the table forbids", map[string]string{
			"ir/ir.go": "// Package ir holds programs.\npackage ir\n\nimport _ \"example.com/m/store\"\n\ntype Program struct{}\n",
		}, []string{"imports ir/ir.go:4"}},
		{"a test of the core that imports the shell", map[string]string{
			"core/core_test.go": "package core_test\n\nimport _ \"example.com/m/engine\"\n",
		}, []string{"test-imports core/core_test.go:3"}},
		{"a test of the shell may", map[string]string{
			"store/store_test.go": "package store_test\n\nimport _ \"example.com/m/engine\"\n",
		}, nil},

		{"a server for tests in the binary", map[string]string{
			"store/store.go": "// Package store stores.\npackage store\n\nimport _ \"github.com/nats-io/nats-server/v2/server\"\n",
		}, []string{"test-modules store/store.go:4"}},
		{"a server for tests in a test", map[string]string{
			"store/store_test.go": "package store_test\n\nimport _ \"github.com/nats-io/nats-server/v2/server\"\n",
		}, nil},

		{"the world in the core", map[string]string{
			"core/core.go": pure("import (\n\t_ \"context\"\n\t_ \"log/slog\"\n\t_ \"math/rand/v2\"\n\t_ \"os\"\n\t_ \"sync/atomic\"\n\t_ \"runtime\"\n\t_ \"time\"\n)\n"),
		}, []string{
			"pure-imports core/core.go:10", "pure-imports core/core.go:5", "pure-imports core/core.go:6",
			"pure-imports core/core.go:7", "pure-imports core/core.go:8", "pure-imports core/core.go:9",
		}},
		{"the network below a pure package", map[string]string{
			"core/deep/deep.go": "// Package deep is deep.\npackage deep\n\nimport _ \"net/url\"\n",
			"ARCHITECTURE.md":   strings.Replace(sound["ARCHITECTURE.md"], "| `core` |", "| `core`, `core/deep` |", 1),
		}, []string{"pure-imports core/deep/deep.go:4"}},
		{"a file for one machine", map[string]string{
			"core/core_plan9.go": "package core\n",
		}, []string{"pure-files core/core_plan9.go"}},
		{"code that does not compile", map[string]string{
			"core/core.go": pure("var x int = \"\"\n"),
		}, []string{"pure-files core/core.go:4"}},

		{"the clock in the core", map[string]string{
			"core/core.go": pure("import clock \"time\"\n\nvar now = clock.Now\n\nfunc f(t clock.Time) any {\n\tif t.After(t) {\n\t\treturn clock.After(1)\n\t}\n\t_ = clock.UTC\n\t_ = clock.Local\n\treturn t.Local()\n}\n"),
		}, []string{
			"pure-calls core/core.go:10", "pure-calls core/core.go:13",
			"pure-calls core/core.go:14", "pure-calls core/core.go:6",
		}},
		{"the order of a map", map[string]string{
			"ir/ir.go":     "// Package ir holds programs.\npackage ir\n\ntype Table map[string]int\n\ntype Program struct{ T Table }\n",
			"core/core.go": pure("import \"example.com/m/ir\"\n\nfunc f(p ir.Program) {\n\tfor range p.T {\n\t}\n\tfor range []int{1} {\n\t}\n}\n"),
		}, []string{"map-order core/core.go:7"}},
		{"the keys of a map", map[string]string{
			"core/core.go": pure("import (\n\t\"maps\"\n\t\"slices\"\n)\n\nfunc f(m map[string]int) []string {\n\tfor range maps.Values(m) {\n\t}\n\treturn slices.Sorted(maps.Keys(m))\n}\n"),
		}, []string{"map-order core/core.go:10"}},
		{"the order of a map in the shell", map[string]string{
			"engine/engine.go": "// Package engine runs.\npackage engine\n\nimport \"time\"\n\nfunc f(m map[string]int) {\n\tfor range m {\n\t}\n\t_ = time.Now()\n}\n",
		}, nil},

		{"no package comment", map[string]string{
			"store/store.go": "package store\n",
		}, []string{"package-comment store"}},
		{"a package comment about something else", map[string]string{
			"store/store.go": "// Stores things.\npackage store\n",
		}, []string{"package-comment store"}},
		{"a vague name", map[string]string{
			"core/util/x.go":  "// Package util is vague.\npackage util\n",
			"ARCHITECTURE.md": strings.Replace(sound["ARCHITECTURE.md"], "| `core` |", "| `core`, `core/util` |", 1),
		}, []string{"package-name core/util"}},
		{"a long file", map[string]string{
			"store/store.go": sound["store/store.go"] + strings.Repeat("\n", 499),
		}, []string{"file-size store/store.go"}},
		{"a file just short enough, and a long test", map[string]string{
			"store/store.go":      sound["store/store.go"] + strings.Repeat("\n", 498),
			"store/store_test.go": "package store\n" + strings.Repeat("\n", 600),
		}, nil},
		{"work left undone", map[string]string{
			"store/store.go": sound["store/store.go"] + "\n// TO" + "DO: later\n// TO" + "DO(waits for the second store): later\n// FIX" + "ME()\n",
		}, []string{"unfinished store/store.go:4", "unfinished store/store.go:6"}},
		{"a row without names", map[string]string{
			"store/store.go": "// Package store stores.\npackage store\n\nconst a = \"INSERT INTO t (x) VALUES (1)\"\n\nconst b = \"INSERT OR IGNORE INTO t VALUES (1)\"\n",
		}, []string{"insert-columns store/store.go:6"}},

		{"a limit with another value on the page", map[string]string{
			"docs/limits.md": "| `row-bytes` | 4 MiB | x |\n| `row-count` | 1,000 | x |\n| `row-wait` | 30 s | x |\n| `row-words` | the year 3 | x |\n" +
				"| `row-depth` | 7 | x |\n",
			"store/store.go": sound["store/store.go"] + "\nimport \"time\"\n\nconst (\n\tb = 4 << 20 // row-bytes\n\t// w is row-wait.\n\tw = 10 * time.Second\n\tx = 1 // row-words\n)\n" +
				"\ntype L struct {\n\tCount int // (\"row-count\")\n\tDepth int // (\"row-depth\")\n}\n\nvar Default = L{Count: 2_000, Depth: 7}\n",
		}, []string{"limits-page docs/limits.md:2", "limits-page docs/limits.md:3"}},
		{"a limit without documentation, and documentation without a limit", map[string]string{
			"docs/limits.md": "# Limits\n\n| name | default |\n|---|---|\n| `row-bytes` | 1 |\n| `row-width` | 2 |\n\nSee `not-a-limit`.\n",
			"store/store.go": sound["store/store.go"] + "\nvar errs = []string{\"too big (limit row-bytes)\", \"too many (limit row-count, 7)\"}\n\nvar _ = limitFault(\"rows\", 3)\n",
		}, []string{"limits-page docs/limits.md:6", "limits-page store/store.go:4", "limits-page store/store.go:6"}},

		{"a sleeping test", map[string]string{
			"engine/e_test.go": test("import (\n\t\"testing\"\n\t\"testing/synctest\"\n\t\"time\"\n)\n\nfunc Test(t *testing.T) {\n\ttime.Sleep(1)\n\tsynctest.Test(t, func(t *testing.T) { time.Sleep(1) })\n}\n"),
		}, []string{"test-sleep engine/e_test.go:10"}},
		{"a skipped test", map[string]string{
			"engine/e_test.go": test("import \"testing\"\n\ntype reader struct{}\n\nfunc (reader) Skip() {}\n\nfunc Test(t *testing.T) {\n\treader{}.Skip()\n\tr := reader{}\n\tr.Skip()\n\tt.Skipf(\"no\")\n}\n\nfunc help(tb testing.TB) { tb.SkipNow() }\n"),
		}, []string{"test-skip engine/e_test.go:13", "test-skip engine/e_test.go:16"}},
	}
	proved := map[string]bool{}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := violations(t, c.files, nil)
			for _, g := range got {
				rule, _, _ := strings.Cut(g, " ")
				proved[rule] = true
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
	for _, r := range arch.Rules {
		if !proved[r.Name] {
			t.Errorf("no case breaks the rule %s", r.Name)
		}
	}
}

func TestExceptions(t *testing.T) {
	files := map[string]string{
		"core/core.go": "// Package core steps.\npackage core\n\nfunc F(m map[int]int) {\n\tfor range m {\n\t}\n}\n\ntype T struct{}\n\nfunc (t *T) F(m map[int]int) {\n\tfor range m {\n\t}\n}\n",
	}
	for _, c := range []struct {
		name       string
		exceptions []arch.Exception
		want       []string
	}{
		{"none", nil, []string{"map-order core/core.go:12", "map-order core/core.go:5"}},
		{"a function", []arch.Exception{{Rule: "map-order", File: "core/core.go", Func: "F"}}, []string{"map-order core/core.go:12"}},
		{"a method", []arch.Exception{{Rule: "map-order", File: "core/core.go", Func: "T.F"}}, []string{"map-order core/core.go:5"}},
		{"a file", []arch.Exception{{Rule: "map-order", File: "core/core.go"}}, nil},
		{"another rule", []arch.Exception{{Rule: "file-size", File: "core/core.go"}}, []string{
			"file-size core/core.go", "map-order core/core.go:12", "map-order core/core.go:5",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := violations(t, files, c.exceptions); !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestBrokenTables(t *testing.T) {
	for name, c := range map[string]struct{ table, want string }{
		"no table":        {"# Shape\n", "no table"},
		"columns missing": {"| package | holds | may import |\n|---|---|---|\n| `ir` | nothing |\n", "line 3: 2 columns"},
		"no package":      {"| package | holds | may import |\n|---|---|---|\n| ir | x | nothing |\n", "line 3: no package"},
		"no permission":   {"| package | holds | may import |\n|---|---|---|\n| `ir` | x | core |\n", "line 3: the last column"},
		"twice":           {"| package | holds | may import |\n|---|---|---|\n| `ir` | x | all |\n| `ir` | x | all |\n", "line 4: ir is in the table twice"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := arch.Load(module(map[string]string{"ARCHITECTURE.md": c.table}))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// violations loads the sound module with some files changed and returns
// "rule place" for whatever is wrong with it, sorted.
func violations(t *testing.T, files map[string]string, exceptions []arch.Exception) []string {
	t.Helper()
	m, err := arch.Load(module(files))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range m.Check(exceptions) {
		got = append(got, fmt.Sprintf("%s %s", v.Rule, v.At))
	}
	slices.Sort(got)
	return got
}

func module(files map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, text := range sound {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
		if text == "" {
			delete(fsys, name)
		}
	}
	return fsys
}
