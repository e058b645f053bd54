package dialect_test

import (
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw05"
	"github.com/lockstep-workflows/lockstep/internal/dialect/wfx"
)

const (
	jobDefinition = "name: fleet.update\nstates: [{name: A}, {name: B}]\ntransitions: [{from: A, to: B, eligible: CLIENT}]\n"
	campaign      = "id: campaign\nname: Campaign\nfunctions: [{name: update, operation: 'job:WORKFLOW'}]\n" +
		"states:\n- {name: One, type: operation, start: {kind: default}, actions: [{functionRef: {refName: update, parameters: {client: a}}}], end: {kind: default}}\n"
)

// TestCheckJobs: what is not among the files is told, if they can be expected to be all.
func TestCheckJobs(t *testing.T) {
	for _, c := range []struct{ workflow, others, want string }{
		{"fleet.update", jobDefinition, ""},
		{"fleet.update", "", ""},
		{"fleet.updates", "", ""},
		{"fleet.updates", jobDefinition, `0.yaml:3:39 warning JOB001 function "update" creates jobs of "fleet.updates", which is not among the files; did you mean "fleet.update"?`},
		{"campaign", "", `0.yaml:3:39 warning JOB001 function "update" creates jobs of "campaign", which is not a job workflow`},
	} {
		var all []dialect.Compiled
		for i, text := range []string{strings.ReplaceAll(campaign, "WORKFLOW", c.workflow), c.others} {
			if text == "" {
				continue
			}
			compiled, found := dialect.NewRegistry(wfx.FrontEnd{}, sw05.FrontEnd{}).Compile(string(rune('0'+i))+".yaml", []byte(text), nil, dialect.Options{})
			if found.HasErrors() {
				t.Fatal(found)
			}
			all = append(all, compiled)
		}
		if got := dialect.CheckJobs(all).Error(); got != c.want {
			t.Errorf("%s with %q:\n%s, want\n%s", c.workflow, c.others, got, c.want)
		}
	}
}
