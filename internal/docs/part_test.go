//go:build unix

package docs

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialects"
	"github.com/lockstep-workflows/lockstep/internal/effect/catalogue"
	"github.com/lockstep-workflows/lockstep/internal/scenario"
)

// languages are those that the parts of definitions on a page are written in. A part that begins with a comment
// "# 0.6" is of that version.
var languages = map[string]string{
	"docs/calls.md":           "sw09",
	"docs/cli.md":             "sw05",
	"docs/convert.md":         "sw10",
	"docs/definitions-0.1.md": "sw01-kebab",
	"docs/definitions-0.2.md": "sw01-final",
	"docs/definitions-0.5.md": "sw05",
	"docs/definitions-0.8.md": "sw08",
	"docs/definitions-wfx.md": "wfx",
	"docs/functions.md":       "sw05",
	"docs/jobs.md":            "wfx",
}

// frame is what a part of a definition needs around it to be one.
type frame struct{ head, state string }

const identity = "id: part\nname: part\nversion: 1.0.0\n"

var frames = map[string]frame{
	"sw01-kebab": {"name: part\n", "- name: part\n  type: OPERATION\n  action-mode: SEQUENTIAL\n"},
	"sw01-final": {identity, "- name: part\n  type: OPERATION\n"},
	"sw05":       {identity, "- name: part\n  type: operation\n"},
	"sw06":       {identity + "specVersion: '0.6'\n", "- name: part\n  type: operation\n"},
	"sw08":       {identity + "specVersion: '0.8'\n", "- name: part\n  type: operation\n"},
	"sw09":       {"name: part\nversion: 1.0.0\nspecVersion: '0.9'\n", "- name: part\n  type: operation\n"},
	"sw10":       {"document: {dsl: 1.0.3, namespace: default, name: part, version: 1.0.0}\n", ""},
	"wfx":        {"name: part\n", "- name: part\n"},
}

// ofDefinition are keys at the top of a definition; other keys of a part are those of a state.
var ofDefinition = []string{
	"states", "functions", "events", "retries", "errors", "timeouts", "groups", "transitions", "start", "secrets",
	"constants", "auth", "trigger-defs", "execTimeout",
}

var versionComment = regexp.MustCompile(`^# 0\.([69])\n`)

// complete makes a part of a definition a definition.
func complete(language, text string, root *dialect.Node) (whole, dialect string) {
	if m := versionComment.FindStringSubmatch(text); m != nil {
		language = "sw0" + m[1]
	}
	f := frames[language]
	switch {
	case root.Kind == expr.KindArray && language == "sw10":
		return f.head + "do:\n" + text, language
	case root.Kind == expr.KindArray:
		return f.head + "states:\n" + text, language
	case root.Get("catch") != nil:
		return frames["sw10"].head + "do:\n- part:\n    try: [{call: {call: part}}]\n" + indented(text, 4), "sw10"
	}
	for _, key := range ofDefinition {
		if root.Get(key) == nil {
			continue
		}
		if root.Get("states") == nil {
			text += "states:\n" + f.state
		}
		return f.head + text, language
	}
	return f.head + "states:\n" + f.state + indented(text, 2), language
}

func indented(text string, by int) string {
	return regexp.MustCompile(`(?m)^`).ReplaceAllString(text, strings.Repeat(" ", by))
}

// absent are the codes for what a part leaves out: the states, events, functions, retries and errors that it names, what
// uses the ones that it defines, the start, and files.
var absent = map[string]bool{
	"SV201": true, "SV203": true, "SV301": true, "SV312": true, "SV323": true,
	"SW201": true, "SW202": true, "SW203": true, "SW204": true, "SW209": true, "SW301": true, "SW311": true, "SW312": true, "SW313": true,
	"SW840": true, "SW841": true, "SW842": true, "SW843": true, "SW844": true, "SW852": true, "SW861": true, "SW864": true, "SW869": true, "SW870": true,
	"OW203": true, "OA001": true, "WFX202": true, "WFX205": true,
}

// unfinished matches complaints about the state around a part, which has only what the part has.
var unfinished = regexp.MustCompile(`^(state "part" (needs|has neither)|the workflow needs "transitions")`)

// TestParts: what pages show of definitions, scenario files and catalogues is right, as far as it goes.
func TestParts(t *testing.T) {
	for _, file := range pages(t) {
		p := readPage(t, file)
		for _, s := range p.steps {
			if s.file != "" || s.command != "" {
				continue
			}
			for _, problem := range checkPart(p.path, s) {
				t.Errorf("%s:%d: %s", p.path, s.line, problem)
			}
		}
	}
}

// checkPart is what is wrong with a block that is not a file.
func checkPart(path string, s step) (problems []string) {
	if s.kind != "yaml" && s.kind != "json" {
		return []string{"blocks of " + s.kind + " are not known here"}
	}
	text := strings.ReplaceAll(s.text, "…", "x")
	doc, found := dialect.Read("part."+s.kind, []byte(text))
	root := doc.Root
	switch {
	case found.HasErrors() || s.kind == "json":
	case root.Get("document") != nil || root.Get("id") != nil || root.Get("name") != nil:
		_, found = dialects.All().Compile("part.yaml", []byte(text), dialect.NoBundle, dialect.Options{})
	case root.Get("scenarios") != nil:
		found = scenarios(text)
	case root.Get("mocks") != nil:
		found = scenarios("workflow: part.yaml\nscenarios:\n- name: part\n  expect: {status: completed}\n" + indented(text, 2))
	case root.Get("functions").Is(expr.KindObject):
		o := catalogue.Options{AllowExec: true, Env: func(string) (string, bool) { return "x", true }}
		_, _, found = catalogue.Read(context.Background(), "part.yaml", []byte(text), o)
	case root.Get("asyncapi") != nil, root.Kind == expr.KindArray && root.Items[0].Get("authentication") != nil:
		// no definition; it is readable
	case languages[path] == "":
		return []string{"the language of the page is not known here"}
	default:
		whole, language := complete(languages[path], text, root)
		doc, _ := dialect.Read("part.yaml", []byte(whole))
		if _, _, unknown := dialects.All().Detect(doc, ""); language == "sw01-kebab" && unknown == nil {
			language = "" // it may be another of the three forms of 0.1
		}
		_, found = dialects.All().Compile("part.yaml", []byte(whole), dialect.NoBundle, dialect.Options{Dialect: language})
	}
	for _, d := range found {
		if !absent[d.Code] && !unfinished.MatchString(d.Message) {
			problems = append(problems, d.String())
		}
	}
	return problems
}

func scenarios(text string) dialect.Diagnostics {
	_, err := scenario.Parse("part_test.yaml", []byte(text))
	var found dialect.Diagnostics
	errors.As(err, &found)
	return found
}

// TestPartsAreChecked: mistakes in the parts of pages are found.
func TestPartsAreChecked(t *testing.T) {
	for _, c := range []struct{ path, text string }{
		{"docs/calls.md", "document: {dsl: 1.0.3, namespace: default, name: x, version: 1.0.0}\ndo:\n- a: {cal: http}\n"},
		{"docs/calls.md", "catch:\n  erors: {}\n"},
		{"docs/definitions-0.5.md", "- {name: A, type: inject, dta: {}, end: {kind: default}}\n"},
		{"docs/definitions-0.5.md", "onErrors:\n- {eror: X, end: {kind: default}}\n"},
		{"docs/definitions-0.8.md", "# 0.9\nactions:\n- {functionRef: charge, retryReff: x}\n"},
		{"docs/definitions-0.8.md", "retries:\n- {name: x, delay: 5 seconds}\n"},
		{"docs/definitions-0.1.md", "- {name: Pause, type: DELAY, time-dely: 30, next-state: Go}\n"},
		{"docs/functions.md", "functions:\n  charge: {htp: {}}\n"},
		{"docs/testing.md", "workflow: a.yaml\nscenarios:\n- {name: a, inputs: {}}\n"},
		{"docs/jobs.md", "states:\n- {name: A, timeout: {after: 1h, to: B}}\n"},
		{"README.md", "states: []\n"},
	} {
		if checkPart(c.path, step{kind: "yaml", text: c.text}) == nil {
			t.Errorf("nothing is wrong in\n%s", c.text)
		}
	}
}
