package dialects

import (
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// TestCronThatNeverFires: it is a warning at the expression, in every version that has schedules.
func TestCronThatNeverFires(t *testing.T) {
	for version, text := range map[string]string{
		"0.5":        `{id: w, name: w, version: "1", states: [{name: S, type: inject, data: {}, start: {kind: scheduled, schedule: {cron: "CRON", directInvoke: allow}}, end: {kind: default}}]}`,
		"0.8":        `{id: w, name: w, version: "1", specVersion: "0.8", start: {stateName: S, schedule: {cron: "CRON"}}, states: [{name: S, type: inject, data: {}, end: true}]}`,
		"0.8 object": `{id: w, name: w, version: "1", specVersion: "0.8", start: {stateName: S, schedule: {cron: {expression: "CRON"}}}, states: [{name: S, type: inject, data: {}, end: true}]}`,
		"1.0":        `{document: {dsl: 1.0.3, namespace: default, name: w, version: 1.0.0}, schedule: {cron: "CRON"}, do: [{a: {set: {b: 1}}}]}`,
	} {
		for cron, fires := range map[string]bool{
			"0 0 31 2 *": false, "0 0 31 4,6,9,11 *": false, "0 0 0 31 2 ?": false, "0 0 0 29 2 ? 2023": false,
			"0 0 29 2 *": true, "0 0 31 2 1": true, "0 0 0 L 2 ?": true, "0 0 0 1 1 ? 1970": true,
		} {
			doc := "---\n" + strings.ReplaceAll(text, "CRON", cron)
			d, found := All().Compile("w.yaml", []byte(doc), nil, dialect.Options{})
			if d.Program == nil {
				t.Fatalf("%s, %s: %v", version, cron, found)
			}
			if fires {
				if len(found) > 0 {
					t.Errorf("%s, %s: %v", version, cron, found)
				}
				continue
			}
			at := strings.Index(strings.TrimPrefix(doc, "---\n"), cron) // the column of the quote before it
			if len(found) != 1 || found[0].Code != dialect.CodeNoFire || found[0].Severity != dialect.Warning || found[0].Pos().Line != 2 || found[0].Pos().Column != at || found[0].Hint == "" {
				t.Errorf("%s, %s: %v, want a warning at column %d", version, cron, found, at)
			}
		}
	}
}
