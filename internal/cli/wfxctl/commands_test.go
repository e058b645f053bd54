package wfxctl

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/cli"
)

// TestTables: a row names flags of the table only, and has those that its path needs.
func TestTables(t *testing.T) {
	for _, row := range slices.Concat(jobCommands, workflowCommands) {
		cmd := row.command(&ctl{&cli.App{}})
		for _, key := range strings.Fields(row.flags) {
			if cmd.Flags().Lookup(strings.TrimPrefix(key, "+")) == nil {
				t.Errorf("%s: there is no flag %q in the table", row.request, key)
			}
		}
		for _, flag := range []string{"id", "name"} {
			if strings.Contains(row.request, "{"+flag+"}") && cmd.Flags().Lookup(flag) == nil {
				t.Errorf("%s lacks --%s", row.request, flag)
			}
		}
	}
}
