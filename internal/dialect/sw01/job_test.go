package sw01

import (
	"strings"
	"testing"
)

// A function of the type job:WORKFLOW creates jobs; any other type is the author's own.
func TestJobFunctions(t *testing.T) {
	for _, c := range []struct{ function, operation, want string }{
		{"{name: f, type: 'job:fleet.update', parameters: {client: $.device, tags: $.tags}}", "job:fleet.update", ""},
		{"{name: f, type: 'job:fleet.update'}", "job:fleet.update", ""}, // the data is what it is called with
		{"{name: f, type: jobs, parameters: {release: a}}", "", ""},
		{"{name: f, type: 'job:', parameters: {client: a}}", "", "SV212 job: names no workflow"},
		{"{name: f, type: 'job:a b', parameters: {client: a}}", "", `SV212 "a b" is not a valid name of a job workflow`},
		{"{name: f, type: 'job:a', parameters: {}}", "", `SV213 function "f" creates a job and needs "client"`},
		{"{name: f, type: 'job:a', parameters: {client: a, tags: b}}", "", "SV213 the tags of a job must be an array"},
		{"{name: f, type: 'job:a', parameters: {client: a, tag: [b]}}", "job:a", `SV214 function "f" creates a job, which has no argument "tag"; did you mean "tags"?`},
	} {
		got, found := compileText(t, "f.yaml", "name: jobs\nstates:\n- {name: A, type: OPERATION, start: true, action-mode: SEQUENTIAL, actions: [{function: "+c.function+"}], next-state: E}\n- {name: E, type: END}\n")
		text := ""
		for _, d := range found {
			if strings.HasPrefix(d.Code, "SV21") {
				text += d.String()
			}
		}
		if !strings.Contains(text, c.want) || c.want == "" && text != "" {
			t.Errorf("%s: %v", c.function, found)
		}
		if got.Program != nil && got.Program.Functions[0].Operation != c.operation {
			t.Errorf("%s: operation %q", c.function, got.Program.Functions[0].Operation)
		}
		if (got.Program == nil) != (c.operation == "" && c.want != "") {
			t.Errorf("%s: %v", c.function, found)
		}
	}
}
