package sw01

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// corpus is where the definitions published with the specification are kept; they are
// no part of the project.
const corpus = "../../../../shared/corpus"

// What is wrong in the published definitions. Most of them are patterns with words in the
// place of values; the worked example has a transition to a state that is misspelt.
var published = map[string][]string{
	"v0.1-camel/hello-world-example.json": {`warning SV318 the workflow has no "id"`},
	"v0.1-kebab/hello-world-example.json": {`error SV201 transition to "STATE_END": no such state; did you mean "STATE-END"?`},

	"v0.1-kebab-early/spec-filter-mechanism.json": {`error SV201 transition to "STATE_END": no such state; did you mean "STATE-END"?`},
	"v0.1-kebab-early/spec-delay-state.json":      {"error SV122 malformed time-delay"},
	"v0.1-kebab-early/spec-end-state.json":        {`error SV105 status cannot be "STATUS"; one of SUCCESS, FAILURE`, "warning SV301"},
	"v0.1-kebab-early/spec-event-state.json": {
		`error SV203 no event is named "EVENTS-EXPRESSION"`, "error SV122 malformed timeout", `error SV105 action-mode cannot be "ACTION-MODE"`,
	},
	"v0.1-kebab-early/spec-operation-state.json": {`error SV105 action-mode cannot be "ACTION-MODE"; one of SEQUENTIAL, PARALLEL`},
	"v0.1-kebab-early/spec-parallel-state.json":  {"error SV110 states must not be empty", "error SV110 states must not be empty"},
	"v0.1-kebab-early/spec-switch-state.json": {
		"error SV121 path must be a JSONPath, as in $.name; write $.PAYLOAD-PATH", `error SV105 operator cannot be "COMPARISON-OPERATOR"`,
	},
	"v0.1-kebab-early/spec-workflow-specification-2.json": {
		`error SV105 action-mode cannot be "Sequential or Parallel"`, `error SV201 transition to "STATE-END": no such state`,
	},
	"v0.1-kebab-early/spec-workflow-specification.json": {
		"error SV127 malformed event expression", `error SV105 action-mode cannot be "Sequential or Parallel"`,
		`error SV201 transition to "STATE-END": no such state; did you mean "SATATE-END"?`,
	},
}

func TestCorpus(t *testing.T) {
	files, _ := filepath.Glob(corpus + "/v0.1-*/*.json")
	if len(files) == 0 {
		t.Logf("no definitions in %s: this checkout has none", corpus)
		return
	}
	for _, file := range files {
		name, _ := filepath.Rel(corpus, file)
		t.Run(name, func(t *testing.T) {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			c, found := dialect.NewRegistry(FrontEnds()...).Compile(filepath.Base(file), source, nil, dialect.Options{Dialect: Family})
			want, ok := published[filepath.ToSlash(name)]
			if !ok {
				t.Fatalf("nobody looked at this one:\n%v", found)
			}
			text := found.Error()
			for _, w := range want {
				if !strings.Contains(text, w) {
					t.Errorf("missing: %s", w)
				}
			}
			if len(want) < 2 && len(found) != len(want) || t.Failed() {
				t.Errorf("found:\n%v", found)
			}
			if !found.HasErrors() {
				roundTrip(t, c.Program)
			}
		})
	}
}

// Once the misspelt words are put right in a copy, the published definitions compile.
func TestCorpusCorrected(t *testing.T) {
	fix := strings.NewReplacer(
		"STATE_END", "STATE-END", "SATATE-END", "STATE-END", "TIME-VALUE", "5", "TIMEOUT-VALUE", "5", "ACTION-MODE", "PARALLEL",
		"Sequential or Parallel", "Sequential", "boolean expression 1 of triggering events", "OBS-EVENT",
		"boolean expression 2 of triggering events", "TIMER-EVENT", "PAYLOAD-PATH", "$.x", "COMPARISON-OPERATOR", "EQ", `"STATUS"`, `"SUCCESS"`,
		"A path string to an identification label field in the event message", "$.data.label",
	)
	files, _ := filepath.Glob(corpus + "/v0.1-*/*.json")
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text := fix.Replace(string(source))
		switch filepath.Base(file) {
		case "spec-event-state.json": // it names no events
			text = strings.Replace(text, "{", `{"trigger-defs": [{"name": "EVENTS-EXPRESSION", "source": "s", "type": "t"}],`, 1)
		case "spec-parallel-state.json":
			text = strings.ReplaceAll(text, "[  \n\n               ]", `[{"name": "S", "type": "DELAY", "start": true, "time-delay": 1}]`)
		case "spec-workflow-specification-2.json":
			text = strings.Replace(text, `"STATE-END"`, `"STATE-ALARM-NOTIFY"`, 1)
		}
		c, found := dialect.NewRegistry(FrontEnds()...).Compile(filepath.Base(file), []byte(text), nil, dialect.Options{Dialect: Family})
		if found.HasErrors() {
			t.Errorf("%s:\n%v", file, found)
			continue
		}
		roundTrip(t, c.Program)
	}
}
