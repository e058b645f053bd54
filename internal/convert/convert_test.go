package convert

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw01"
)

// definition is one of 0.1, checked and compiled.
func definition(t testing.TB, file, src string) (*sw01.Outline, dialect.Compiled) {
	t.Helper()
	c, found := dialect.NewRegistry(sw01.FrontEnds()...).Compile(file, []byte(src), nil, dialect.Options{Dialect: sw01.Family})
	if found.HasErrors() {
		t.Fatalf("the source is not valid: %v\n%s", found, src)
	}
	o, _ := c.FrontEnd.(sw01.FrontEnd).Outline(c.Document, dialect.Options{})
	return o, c
}

// converted converts a definition and compares both.
func converted(t testing.TB, src string, opts Options, cases int) (Result, Comparison) {
	t.Helper()
	o, c := definition(t, "flow.yaml", src)
	r := Convert(o, opts)
	k, err := Compare(context.Background(), Early(o, c.Program), r, CompareOptions{Cases: cases, Seed: 1})
	if err != nil {
		t.Fatalf("%v\n%s", err, documents(t, r))
	}
	return r, k
}

func documents(t testing.TB, r Result) string {
	t.Helper()
	var b strings.Builder
	for _, d := range r.Definitions {
		text, err := r.Text(d, dialect.YAML)
		if err != nil {
			t.Fatalf("%s: %v", d.ID, err)
		}
		b.WriteString("--- " + d.ID + "\n" + string(text))
	}
	return b.String()
}

// options say what the functions f, g and h take.
var options = Options{Parameters: map[string][]string{"f": {"a", "b"}, "g": {"a"}, "h": {"b"}}, Errors: []string{"Overloaded", "Gone"}}

// Each construct by itself. lost is what the list of losses must say, "" where all is
// kept: then no case may differ.
func TestConstructs(t *testing.T) {
	for _, c := range constructs {
		t.Run(c.name, func(t *testing.T) {
			r, k := converted(t, c.src, options, 120)
			var lost []string
			for _, l := range r.Lost {
				lost = append(lost, fmt.Sprintf("%s: %s: %s; %s", l.Pos, l.What, l.Why, l.Do))
			}
			all := strings.Join(lost, "\n")
			switch {
			case c.lost == "" && len(lost) > 0:
				t.Errorf("lost:\n%s", all)
			case !strings.Contains(all, c.lost):
				t.Errorf("lost:\n%s\nwant %q", all, c.lost)
			}
			if c.lost == "" && k.First != nil {
				t.Errorf("%d of %d agree; %s\n%s", k.Agreed, k.Cases, k.First, documents(t, r))
			}
			if len(k.Missed) > 0 && !c.missed {
				t.Errorf("states never entered: %v", k.Missed)
			}
			documents(t, r)
		})
	}
}

// A function that creates jobs there creates them here.
func TestJobsStayJobs(t *testing.T) {
	r, k := converted(t, `
name: jobs
states:
- {name: A, type: OPERATION, start: true, actions: [{function: {name: f, type: "job:fleet.update", parameters: {client: $.a}}}], next-state: E}
- {name: E, type: END}
`, options, 20)
	if text := documents(t, r); !strings.Contains(text, `operation: "job:fleet.update"`) || len(r.Lost) > 0 || k.First != nil {
		t.Errorf("%v %v\n%s", r.Lost, k.First, text)
	}
}

type construct struct {
	name, lost, src string
	missed          bool // some states cannot be entered
}

// What must not come is no event that the conversion waits for: "A and not B" was once
// "A or B".
func TestNegatedEventsAreLeftOut(t *testing.T) {
	for _, name := range []string{"not", "only not"} {
		i := slices.IndexFunc(constructs, func(c construct) bool { return c.name == name })
		r, _ := converted(t, constructs[i].src, options, 0)
		text := documents(t, r)
		want := map[string][]string{"not": {"eventRef: in", "name: in"}, "only not": {"timeDelay: PT1M", "eventRef: out", "name: out"}}[name]
		never := map[string]string{"not": "out", "only not": "in"}[name]
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%s: %q is missing:\n%s", name, w, text)
			}
		}
		for _, bad := range []string{"eventRef: " + never + "\n", "- name: " + never + "\n"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s: it waits for %q:\n%s", name, never, text)
			}
		}
	}
}
